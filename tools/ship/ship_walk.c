/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One walk over a trace, in the order of time: what has gone already only feeds the spans, so that what it began
 * may end; all else becomes rows.
 */
#include "tools/ship/ship_walk.h"

#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "tools/fleet/folder.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/ship/ship_rows.h"
#include "tools/ship/ship_send.h"
#include "tools/ship/ship_state.h"
#include "tools/ship/ship_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHIP_WALK_LOSSES  100000u /* [rows] of losses sent at once */
#define SHIP_WALK_WAIT_MS 200
#define SHIP_WALK_WAITS	  5   /* without an event: a trace that is being written has no more just now,
	or has ended */
#define SHIP_WALK_LOOKS	  256u /* [events] between two looks whether a batch is full, or it is time */

static uint64_t ship_walk_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the trace ---- */

static void ship_walk_uuid(struct ship *ship)
{
	const uint8_t *u = ship->info->uuid;

	for (unsigned i = 0; i < 16; i++)
		ship->uuid[i] = u[i / 8 * 8 + 7 - i % 8];
	snprintf(ship->trace, sizeof(ship->trace),
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3],
		 u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

/*
 * What a trace that is being written has in its files is shipped, not what the rings of its session hold besides:
 * that may be overwritten there before it is written.
 */
static int ship_walk_open_reader(struct ship *ship, struct ktr_error *err)
{
	const struct ktr_reader_options follow = { .size = sizeof(follow), .follow = 1 };
	int rc = ktr_reader_open(ship->path, NULL, &ship->reader, err);

	ship->is_followed = !rc && ktr__reader_head(ship->reader) && ktr__reader_head(ship->reader)->is_written;
	if (ship->is_followed) {
		ktr_reader_close(ship->reader);
		rc = ktr_reader_open(ship->path, &follow, &ship->reader, err);
	}
	if (rc)
		return rc;
	ship->info = ktr_reader_info(ship->reader);
	ship->head = ktr__reader_head(ship->reader);
	ship->until_ns = ship->is_followed ? ship->info->last_ns : 0;
	return 0;
}

static int ship_walk_open(struct ship *ship, struct ktr_error *err)
{
	struct timespec now;
	int rc = ship_walk_open_reader(ship, err);

	if (rc)
		return rc;
	if (!ship->head)
		return ktr_error_at(err, ship->path, 0, 0, EINVAL, "is a session: its trace can be shipped");
	if (ship->head->is_rewritten && !ship->again)
		return ktr_error_at(err, ship->path, 0, 0, EINVAL,
				    "was made of other traces by ktr cut or merge, whose events may be there already; --again ships it");
	clock_gettime(CLOCK_REALTIME, &now);
	ship->version = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	ship->utc_offset_ns = ship->info->utc_offset_ns;
	ship_walk_uuid(ship);
	folder_build(ship->reader, ship->build_id);
	if (!ship->build)
		ship->build = ship->build_id;
	return 0;
}

/* ---- events ---- */

/* The stream of the event that was read last; NULL without memory. */
static struct ship_stream *ship_walk_stream(struct ship *ship)
{
	unsigned cursor = ktr__reader_cursor(ship->reader);
	char name[40];
	int i;

	if (cursor < ship->place_room && ship->place[cursor])
		return &ship->state.stream[ship->place[cursor] - 1];
	if (ktr__array_grow(&ship->place, &ship->place_room, cursor, sizeof(*ship->place)))
		return NULL;
	ktr__reader_stream(ship->reader, name, sizeof(name));
	i = ship_state_stream(&ship->state, name);
	if (i < 0)
		return NULL;
	ship->place[cursor] = (uint32_t)i + 1;
	return &ship->state.stream[i];
}

static int ship_walk_flush(struct ship *ship, struct ktr_error *err)
{
	int rc = ship_rows_batch(ship, &ship->state.pending);

	ship->flushed_ns = ship_walk_now();
	if (rc)
		return ktr_error_set(err, ENOMEM, "no memory");
	if (!ship->state.pending.n_parts)
		return 0;
	rc = ship_state_begin(&ship->state, err);
	/* Names of threads come late: what is new goes first. */
	if (!rc)
		rc = ship_tables(ship, err);
	if (!rc)
		rc = ship_send(ship, 0, err);
	return rc ? rc : ship_state_done(&ship->state, err);
}

static int ship_walk_event(struct ship *ship, const struct ktr_event *event, struct ktr_error *err)
{
	struct ship_stream *stream = ship_walk_stream(ship);
	int rc = 0;

	if (!stream)
		return ktr_error_set(err, ENOMEM, "no memory");
	ship->is_fresh = event->index >= stream->next;
	if (!ship->is_fresh && event->index < stream->first)
		return ktr_error_at(err, ship->path, 0, 0, EINVAL,
				    "it begins before what has gone of this trace: parts go together, by the name of the whole; --state DIR begins anew");
	if (ship->is_fresh && ship->with_events && ship_rows_is_next_day(ship, event)) {
		rc = ship_walk_flush(ship, err);
		if (rc)
			return rc;
	}
	if (ship->is_fresh && ship->with_events)
		rc = ship_rows_event(ship, event, stream);
	if (!rc && ship->spans)
		rc = ktr__spans_event(ship->spans, event);
	if (rc)
		return ktr_error_set(err, -rc, "no memory");
	if (ship->is_fresh) {
		stream->next = event->index + 1;
		if (stream->first == UINT64_MAX)
			stream->first = event->index;
	}
	ship->n_waits = 0;
	ship->is_cut = ship->follow && interrupt_came();
	if (ship->is_cut)
		return 1;
	/* A few rows more than it holds do not matter. */
	if (++ship->n_looked % SHIP_WALK_LOOKS != 0)
		return 0;
	if (ship_rows_is_full(ship) || (ship->follow && ship_walk_now() - ship->flushed_ns >= ship->every_ns))
		return ship_walk_flush(ship, err);
	return 0;
}

/* There is nothing more just now: 0, or 1 when nothing more is waited for, or -errno with err filled. */
static int ship_walk_wait(struct ship *ship, struct ktr_error *err)
{
	int rc = 0;

	ship->is_cut = ship->follow && interrupt_came();
	if (ship->is_cut)
		return 1;
	if (ship->n_waits++ >= SHIP_WALK_WAITS && (!ship->follow || ktr_reader_ended(ship->reader)))
		return 1;
	if (ship_walk_now() - ship->flushed_ns >= ship->every_ns)
		rc = ship_walk_flush(ship, err);
	if (!rc && ship->losses.n_rows)
		rc = ship_send_block(ship, SCHEMA_LOSSES_TABLE, &ship->losses, err);
	if (rc)
		return rc;
	rc = ktr_reader_wait(ship->reader, SHIP_WALK_WAIT_MS);
	ship->head = ktr__reader_head(ship->reader);
	if (rc && rc != -EINTR) {
		*err = *ktr_reader_error(ship->reader);
		return rc;
	}
	return 0;
}

static int ship_walk_loss(struct ship *ship, struct ktr_error *err)
{
	const struct ktr_loss *loss = ktr_reader_loss(ship->reader);

	if (ship->spans)
		ktr__spans_loss(ship->spans, loss);
	/* Where it ends is not known yet. */
	if (!loss->to_ns && !ship->head->has_ended && ship->head->is_written)
		return 0;
	if (ship_rows_loss(ship, loss))
		return ktr_error_set(err, ENOMEM, "no memory");
	return ship->losses.n_rows < SHIP_WALK_LOSSES ? 0
						      : ship_send_block(ship, SCHEMA_LOSSES_TABLE, &ship->losses,
							err);
}

/* The end of what there is. 0 or -errno with err filled. */
static int ship_walk_end(struct ship *ship, struct ktr_error *err)
{
	int rc = 0, is_over;

	/* Whoever wrote it was killed meanwhile: when its processes ended is known when it is opened anew. */
	ship->is_left = ship->is_followed && !ship->is_cut && !ship->head->has_ended && !ship->head->is_written;
	is_over = !ship->is_cut && !ship->is_left && (ship->head->has_ended || !ship->head->is_written);

	ship->is_fresh = is_over && !ship->state.is_finished;
	if (ship->spans && ship->is_fresh && ktr__spans_finish(ship->spans, ship->info->last_ns))
		return ktr_error_set(err, ENOMEM, "no memory");
	ship->state.is_finished |= is_over;
	rc = ship_walk_flush(ship, err);
	if (!rc)
		rc = ship_send_block(ship, SCHEMA_LOSSES_TABLE, &ship->losses, err);
	if (!rc)
		rc = ship_tables(ship, err);
	return rc ? rc : ship_state_finish(&ship->state, err);
}

static int ship_walk_all(struct ship *ship, struct ktr_error *err)
{
	const struct ktr_event *event;
	int what, rc = 0;

	while (!rc && (what = ktr__reader_advance(ship->reader, &event)) != KTR_READ_END) {
		if (what < 0) {
			*err = *ktr_reader_error(ship->reader);
			return what;
		}
		ship->is_cut = what == KTR_READ_EVENT && !ship->follow && event->time_ns > ship->until_ns &&
			       ship->until_ns;
		if (ship->is_cut)
			break;
		if (what == KTR_READ_EVENT)
			rc = ship_walk_event(ship, event, err);
		else if (what == KTR_READ_WAIT)
			rc = ship_walk_wait(ship, err);
		else if (what == KTR_READ_LOSS)
			rc = ship_walk_loss(ship, err);
		else if (what == KTR_READ_NOTE && ktr_reader_note(ship->reader)->damaged)
			fprintf(stderr, "%s: %s\n", ship->command, ktr_reader_note(ship->reader)->text);
	}
	return rc < 0 ? rc : ship_walk_end(ship, err);
}

/*
 * Rows of a trace of which nothing is written down here were sent by somebody else, or what was written down is
 * gone.
 */
static int ship_walk_is_first(struct ship *ship, struct ktr_error *err)
{
	struct native_buffer query = { 0 };
	struct store_answer answer;
	unsigned long long n = 0;
	int rc = 0;

	if (!ship->state.is_new || ship->again)
		return 0;
	native_buffer_text(&query, "SELECT count() FROM ");
	native_buffer_text(&query, ship->store->options.database);
	native_buffer_text(&query, ".traces WHERE host = ");
	store_quote(&query, ship->host, strlen(ship->host));
	native_buffer_text(&query, " AND trace = toUUID('");
	native_buffer_text(&query, ship->trace);
	native_buffer_text(&query, "') FORMAT TabSeparated");
	native_buffer_add(&query, "", 1);
	if (query.failed)
		return ktr_error_set(err, ENOMEM, "no memory");
	if (store_ask_patiently(ship->store, (char *)query.at, &answer) != STORE_DONE)
		rc = answer.code == 164 || answer.code == 497 || answer.code == 291 ? 0
									    : store_explain(ship->store, &answer,
										err);
	else if (sscanf(answer.bytes, "%llu", &n) == 1 && n)
		rc = ktr_error_at(err, ship->path, 0, 0, EEXIST,
				  "the server has rows of it, and how far they go is not written down in %s; --again ships all of it",
				  ship->state_folder);
	store_answer_free(&answer);
	native_buffer_free(&query);
	return rc;
}

static int ship_walk_start(struct ship *ship, struct ktr_error *err)
{
	int rc = ship_walk_open(ship, err);

	if (!rc)
		rc = ship_state_open(ship, err);
	if (!rc && ship->state.pending.n_parts) {
		rc = ship_send(ship, 1, err);
		if (!rc)
			rc = ship_state_done(&ship->state, err);
	}
	if (!rc)
		rc = ship_walk_is_first(ship, err);
	/* Written down before anything goes: what is there is ours. */
	if (!rc && ship->state.is_new)
		rc = ship_state_finish(&ship->state, err);
	if (!rc)
		rc = ship_tables(ship, err);
	if (!rc && ship->with_spans && ktr__spans_new(&ship->spans, ship->info->first_ns, ship_rows_span, ship))
		rc = ktr_error_set(err, ENOMEM, "no memory");
	return rc;
}

int ship_walk(struct ship *ship, struct ktr_error *err)
{
	int rc;

	ship_rows_open(ship);
	ship->flushed_ns = ship_walk_now();
	rc = ship_walk_start(ship, err);
	if (!rc) {
		progress_watch(ship->command, ship->reader, 0, UINT64_MAX);
		rc = ship_walk_all(ship, err);
		progress_end();
	}
	ktr__spans_free(ship->spans);
	ship->spans = NULL;
	ship_rows_close(ship);
	ship_state_close(&ship->state);
	for (unsigned i = 0; i < KTR_SIDECARS; i++)
		free(ship->line_hash[i]);
	free(ship->place);
	ktr_reader_close(ship->reader);
	return rc;
}
