/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server puts a block into its table first and into the views of it then, and may die between the two. What is
 * counted of a host and a day in the table and in the view tells; and a table that keeps nothing, SCHEMA_AGAIN, has
 * the same view: what is inserted there is counted, and no more. That it is this block which is missing is told by
 * its number of rows.
 */
#include "tools/ship/ship_mend.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIP_MEND_TRIES 20u

static const struct ship_mend_view {
	enum schema_table table;
	const char *rows;  /* of the table that are counted */
	const char *count; /* of the view */
	const char *view;
} ship_mend_views[] = {
	{ SCHEMA_EVENTS_TABLE, "", "sum(n)", "site_minute" },
	{ SCHEMA_SPANS_TABLE, " AND unsure = 0 AND open = 0", "countMerge(n)", "span_minute" },
};

/*
 * Which day the part's first row is of, by what finds that. -1: it does not say. The last one that looks so: names
 * that a program has given may look so, too, and come before it.
 */
static int64_t ship_mend_day(const struct ship_part *part)
{
	static const char mark[] = " AND ts = ";
	const char *ts = NULL, *at = (const char *)part->where.at;

	while ((at = strstr(at, mark)) != NULL)
		ts = at += sizeof(mark) - 1;
	return ts ? strtoll(ts, NULL, 10) / SHIP_DAY_NS : -1;
}

/* " FROM database.name WHERE host = 'web01'" */
static void ship_mend_of(const struct ship *ship, const char *name, struct native_buffer *query)
{
	native_buffer_text(query, " FROM ");
	native_buffer_text(query, ship->store->options.database);
	native_buffer_text(query, ".");
	native_buffer_text(query, name);
	native_buffer_text(query, " WHERE host = ");
	store_quote(query, ship->host, strlen(ship->host));
}

/* "how many more the table has than the view, how many inserts are under way" */
static void ship_mend_query(const struct ship *ship, const struct ship_mend_view *view, int64_t day,
			    struct native_buffer *query)
{
	char text[200];

	native_buffer_text(query, "SELECT toInt64((SELECT count()");
	ship_mend_of(ship, schema_name(view->table), query);
	native_buffer_text(query, view->rows);
	snprintf(text, sizeof(text), " AND ts >= %" PRId64 " AND ts < %" PRId64 ")) - toInt64((SELECT ",
		 (int64_t)(day * SHIP_DAY_NS), (int64_t)((day + 1) * SHIP_DAY_NS));
	native_buffer_text(query, text);
	native_buffer_text(query, view->count);
	ship_mend_of(ship, view->view, query);
	snprintf(text, sizeof(text), " AND toUInt32(minute) >= %" PRId64 " AND toUInt32(minute) < %" PRId64
		 ")), (SELECT count() FROM system.processes WHERE query LIKE 'INSERT INTO ", day * 86400,
		 (day + 1) * 86400);
	native_buffer_text(query, text);
	native_buffer_text(query, ship->store->options.database);
	native_buffer_text(query, ".");
	native_buffer_text(query, schema_name(view->table));
	native_buffer_text(query, " %') FORMAT TabSeparated");
	native_buffer_add(query, "", 1);
}

/* Asks until no insert is under way. 1, 0: it may not be asked, or -errno with err filled. */
static int ship_mend_missing(struct ship *ship, const struct ship_mend_view *view, int64_t day, uint64_t until,
			     int64_t *missing, struct ktr_error *err)
{
	struct native_buffer query = { 0 };
	uint64_t n_inserts = 1;
	int rc = 1;

	ship_mend_query(ship, view, day, &query);
	if (query.failed)
		rc = ktr_error_set(err, ENOMEM, "no memory");
	for (unsigned tries = 0; rc == 1 && n_inserts && tries < SHIP_MEND_TRIES; tries++) {
		struct store_answer answer;

		if (tries)
			store_pause(tries < 3 ? tries : 3, store_left(until));
		if (store_ask_patiently(ship->store, (char *)query.at, &answer) != STORE_DONE)
			rc = answer.code == 164 || answer.code == 291 || answer.code == 497 || answer.code == 60
				     ? 0
				     : store_explain(ship->store, &answer, err);
		else if (sscanf(answer.bytes, "%" SCNd64 "\t%" SCNu64, missing, &n_inserts) != 2)
			rc = ktr_error_set(err, EPROTO, "%s does not answer with a number", ship->store->shown);
		store_answer_free(&answer);
	}
	native_buffer_free(&query);
	if (rc != 1 || !n_inserts)
		return rc;
	fprintf(stderr, "%s: whether %s.%s has all of a batch that went unanswered is not known: there is always an insert under way\n",
		ship->command, ship->store->options.database, view->view);
	return 0;
}

/* The part's insert, into the table that keeps nothing. */
static void ship_mend_insert(const struct ship *ship, const struct ship_part *part, struct native_buffer *query)
{
	const char *columns = strchr((const char *)part->query.at, '(');

	native_buffer_text(query, "INSERT INTO ");
	native_buffer_text(query, ship->store->options.database);
	native_buffer_text(query, ".");
	native_buffer_text(query, schema_name(part->table));
	native_buffer_text(query, SCHEMA_AGAIN " ");
	native_buffer_text(query, columns ? columns : "");
	native_buffer_add(query, "", 1);
}

static int ship_mend_send(struct ship *ship, const struct ship_part *part, struct ktr_error *err, int *is_away)
{
	struct native_buffer query = { 0 };
	struct store_answer answer = { .outcome = STORE_DONE };
	int rc = 0;

	*is_away = 0;
	ship_mend_insert(ship, part, &query);
	if (query.failed)
		rc = ktr_error_set(err, ENOMEM, "no memory");
	else if (store_insert(ship->store, (char *)query.at, NULL, ship->state.pending.bytes.at + part->at, part->n,
			      &answer) == STORE_AWAY)
		*is_away = 1;
	else if (answer.outcome != STORE_DONE && answer.code != 60)
		rc = store_explain(ship->store, &answer, err);
	store_answer_free(&answer);
	native_buffer_free(&query);
	return rc;
}

int ship_mend(struct ship *ship, const struct ship_part *part, uint64_t until, struct ktr_error *err)
{
	const struct ship_mend_view *view = NULL;
	int64_t missing = 0, day = ship_mend_day(part);
	int rc, is_away = 1;

	for (unsigned i = 0; i < sizeof(ship_mend_views) / sizeof(*ship_mend_views); i++)
		if (ship_mend_views[i].table == part->table)
			view = &ship_mend_views[i];
	if (!view || !part->n_counted || day < 0)
		return 0;
	for (unsigned tries = 0; is_away; tries++) {
		rc = ship_mend_missing(ship, view, day, until, &missing, err);
		if (rc <= 0)
			return rc;
		if (missing <= 0)
			return 0;
		if ((uint64_t)missing != part->n_counted) {
			fprintf(stderr, "%s: %s.%s lacks %" PRId64 " of that day's %s, which are not of one batch\n",
				ship->command, ship->store->options.database, view->view, missing,
				schema_name(part->table));
			return 0;
		}
		rc = ship_mend_send(ship, part, err, &is_away);
		if (rc)
			return rc;
		if (is_away && !store_left(until))
			return ktr_error_set(err, EHOSTUNREACH, "%s went away while a view was mended",
					     ship->store->shown);
		if (is_away)
			store_pause(tries, store_left(until));
	}
	return 0;
}
