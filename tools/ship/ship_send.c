/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch on its way. A block of one partition is there as a whole or not at all, and what was sent and not
 * answered may be there: before it is sent again the server is asked whether it is at it still, then whether the
 * block's first row is there, and, if it is, whether the views have it, too. That holds for every engine; what
 * keeps a block from being there twice by itself is a second net, and the only one where the user may not ask.
 */
#include "tools/ship/ship_send.h"

#include "tools/interrupt.h"
#include "tools/ship/ship_mend.h"
#include "tools/ship/ship_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The pause, as of store_pause(), before a question whether something is there: what a connection that broke has
 * left on the way, in a proxy, say, has come by then. 0.8 to 1.6 s.
 */
#define SHIP_SEND_SETTLES 3

#define SHIP_SEND_CLOCK_OFF 60 /* [s] that clocks of machines differ by before it is said */

/* A number that a query answers: 1, 0 when the server refuses to answer that, or -errno with err filled. */
static int ship_send_number(struct ship *ship, const char *query, uint64_t *number, struct ktr_error *err)
{
	struct store_answer answer;
	int rc = 1;

	if (store_ask_patiently(ship->store, query, &answer) != STORE_DONE) {
		int may_not = answer.code == 164 || answer.code == 291 || answer.code == 497;

		rc = may_not ? 0 : store_explain(ship->store, &answer, err);
	} else if (store_number(&answer, number)) {
		rc = ktr_error_set(err, EPROTO, "%s does not answer with a number", ship->store->shown);
	}
	store_answer_free(&answer);
	return rc;
}

/* Is the part there? 1, 0, or -errno with err filled. */
static int ship_send_is_there(struct ship *ship, const struct ship_part *part, const char *token, uint64_t until,
			      struct ktr_error *err)
{
	struct native_buffer query = { 0 };
	uint64_t n = 0;
	int rc = 1;

	if (ship->no_questions)
		return 0;
	store_pause(SHIP_SEND_SETTLES, UINT64_MAX);
	/* It may still be at it, and the row be there in a moment. */
	for (unsigned tries = 0; rc == 1; tries++) {
		if (tries && (!store_left(until) || (ship->follow && interrupt_came()))) {
			native_buffer_free(&query);
			return ktr_error_set(err, EHOSTUNREACH, "%s is still at a batch that went unanswered",
					     ship->store->shown);
		}
		query.n = 0;
		native_buffer_text(&query, "SELECT count() FROM system.processes WHERE query_id = ");
		store_quote(&query, token, strlen(token));
		native_buffer_text(&query, " FORMAT TabSeparated");
		native_buffer_add(&query, "", 1);
		rc = query.failed ? ktr_error_set(err, ENOMEM, "no memory")
				  : ship_send_number(ship, (char *)query.at, &n, err);
		if (rc < 1 || !n)
			break;
		store_pause(tries, store_left(until));
	}
	/* Rows of somebody else's shipping of this trace tell nothing of this one's. */
	if (rc >= 0 && ship->state.is_again) {
		native_buffer_free(&query);
		return 0;
	}
	query.n = 0;
	native_buffer_text(&query, "SELECT count() FROM ");
	native_buffer_text(&query, ship->store->options.database);
	native_buffer_text(&query, ".");
	native_buffer_text(&query, schema_name(part->table));
	native_buffer_text(&query, " WHERE ");
	native_buffer_text(&query, (const char *)part->where.at);
	native_buffer_text(&query, " FORMAT TabSeparated");
	native_buffer_add(&query, "", 1);
	if (rc >= 0)
		rc = query.failed ? ktr_error_set(err, ENOMEM, "no memory")
				  : ship_send_number(ship, (char *)query.at, &n, err);
	native_buffer_free(&query);
	if (rc == 0) {
		fprintf(stderr,
			"%s: the user may not ask whether a batch that went unanswered is there: it is sent again\n",
			ship->command);
		ship->no_questions = 1;
	}
	return rc == 1 ? n > 0 : rc;
}

/* What is written down goes with the next start. */
static int ship_send_gives_up(const struct ship *ship, const struct store_answer *answer, uint64_t until)
{
	return answer->outcome == STORE_REFUSED || !store_left(until) || (ship->follow && interrupt_came());
}

static int ship_send_part(struct ship *ship, const struct ship_part *part, const char *token, int may_be_there,
			  struct ktr_error *err)
{
	uint64_t until = store_until(ship->store);
	struct store_answer answer;
	int rc;

	for (unsigned tries = 0;; tries++) {
		if (may_be_there) {
			rc = ship_send_is_there(ship, part, token, until, err);
			if (rc)
				return rc < 0 ? rc : ship_mend(ship, part, until, err);
		}
		if (store_insert(ship->store, (const char *)part->query.at, token,
				 ship->state.pending.bytes.at + part->at, part->n, &answer) == STORE_DONE) {
			store_answer_free(&answer);
			ship->counts.n_bytes += part->n;
			return 0;
		}
		if (ship_send_gives_up(ship, &answer, until))
			return store_explain(ship->store, &answer, err);
		may_be_there |= answer.begun;
		store_pause(tries, store_left(until));
	}
}

int ship_send(struct ship *ship, int resumed, struct ktr_error *err)
{
	struct ship_batch *batch = &ship->state.pending;
	char token[120];

	for (unsigned i = 0; i < batch->n_parts; i++) {
		int rc;

		snprintf(token, sizeof(token), "ktr-%s-%s-%" PRIu64 "-%u", ship->trace, ship->state.id,
			 batch->number, i);
		rc = ship_send_part(ship, &batch->part[i], token, resumed, err);
		if (rc)
			return rc;
	}
	ship->counts.n_batches++;
	return 0;
}

int ship_send_block(struct ship *ship, enum schema_table table, struct native_block *block, struct ktr_error *err)
{
	struct ship_part part = { 0 };
	struct native_buffer bytes = { 0 };
	uint64_t until = store_until(ship->store);
	struct store_answer answer = { .outcome = STORE_DONE };
	int rc = 0;

	if (!block->n_rows)
		return 0;
	if (ship_rows_part(ship, &part, table, block, &bytes))
		rc = ktr_error_set(err, ENOMEM, "no memory");
	for (unsigned tries = 0; !rc; tries++) {
		if (store_insert(ship->store, (const char *)part.query.at, NULL, bytes.at, bytes.n, &answer) ==
		    STORE_DONE)
			break;
		if (ship_send_gives_up(ship, &answer, until))
			rc = store_explain(ship->store, &answer, err);
		else
			store_pause(tries, store_left(until));
	}
	ship->counts.n_bytes += bytes.n;
	store_answer_free(&answer);
	native_clear(block);
	native_buffer_free(&part.query);
	native_buffer_free(&bytes);
	return rc;
}

/* ---- what the server is set to ---- */

static void ship_send_engine(const struct store *store, const char *answer)
{
	const char *name = strstr(answer, "events\t"), *engine = name ? name + 7 : "";

	if (strncmp(engine, "Replicated", 10) == 0 || (!store->is_old && strncmp(engine, "Shared", 6) == 0))
		return;
	if (strncmp(engine, "Distributed", 11) == 0)
		fprintf(stderr,
			"%s: %s.events is Distributed, which cuts blocks anew: ship to a shard's own table instead\n",
			store->command, store->options.database);
	else if (store->is_old)
		fprintf(stderr,
			"%s: %s.events keeps no copies, and this server does not know blocks that come again: one that goes "
			"unanswered is asked for before it is sent again\n", store->command,
				store->options.database);
}

/* The schema's version. 0 or -errno with err filled. */
static int ship_send_version(struct store *store, struct ktr_error *err)
{
	struct store_answer answer;
	uint64_t version = 0;
	char query[160];
	int rc = 0;

	snprintf(query, sizeof(query), "SELECT max(version) FROM %s.schema FORMAT TabSeparated",
		 store->options.database);
	if (store_ask_patiently(store, query, &answer) != STORE_DONE)
		rc = answer.code == 164 || answer.code == 497 || answer.code == 291 ? 0 : store_explain(store,
			&answer, err);
	else if (store_number(&answer, &version))
		rc = ktr_error_set(err, EPROTO, "%s does not answer with a number", store->shown);
	else if (version > SCHEMA_VERSION)
		rc = ktr_error_set(err, ENOTSUP,
				   "%s: the tables in %s are of version %" PRIu64 ", this ktr knows %d",
				   store->shown, store->options.database, version, SCHEMA_VERSION);
	store_answer_free(&answer);
	return rc;
}

/* Whose clock is off has its events elsewhere in time than they were beside others'. */
static void ship_send_clock(struct store *store)
{
	struct store_answer answer;
	long long there = 0, off;

	if (store_ask_patiently(store, "SELECT toUnixTimestamp(now()) FORMAT TabSeparated", &answer) == STORE_DONE &&
	    sscanf(answer.bytes, "%lld", &there) == 1) {
		off = (long long)time(NULL) - there;
		if (off > SHIP_SEND_CLOCK_OFF || off < -SHIP_SEND_CLOCK_OFF)
			fprintf(stderr, "%s: this machine's clock is %lld s %s that of %s: so are the times of its events\n",
				store->command, off < 0 ? -off : off, off < 0 ? "behind" : "ahead of",
				store->shown);
	}
	store_answer_free(&answer);
}

int ship_send_check(struct store *store, struct ktr_error *err)
{
	struct store_answer answer;
	char query[160];
	int rc = ship_send_version(store, err);

	if (rc)
		return rc;
	snprintf(query, sizeof(query),
		 "SELECT name, engine FROM system.tables WHERE database = '%s' FORMAT TabSeparated",
		 store->options.database);
	if (store_ask_patiently(store, query, &answer) == STORE_DONE)
		ship_send_engine(store, answer.bytes);
	store_answer_free(&answer);
	ship_send_clock(store);
	return 0;
}
