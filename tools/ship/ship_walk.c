/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One walk over a trace, in the order of time: what has gone already only feeds the spans, so that what it began
 * may end; all else becomes rows.
 */
#include "tools/ship/ship_walk.h"

#include "analyze/filter/filter.h"
#include "analyze/filter/filter_spans.h"
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "tools/fleet/folder.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/ship/ship_columns.h"
#include "tools/ship/ship_counters.h"
#include "tools/ship/ship_marks.h"
#include "tools/ship/ship_rows.h"
#include "tools/ship/ship_send.h"
#include "tools/ship/ship_spans.h"
#include "tools/ship/ship_spool.h"
#include "tools/ship/ship_state.h"
#include "tools/ship/ship_sweep.h"
#include "tools/ship/ship_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHIP_WALK_LOSSES  100000u /* [rows] of losses sent at once */
#define SHIP_WALK_WAIT_MS 200
#define SHIP_WALK_STEP	  65536u /* events at most before another trace has its turn */
#define SHIP_WALK_WAITS	  5   /* without an event: a trace that is being written has no more just now,
	or has ended */
#define SHIP_WALK_GONE	  25u  /* likewise, where the trace has no name any more: it was removed */
#define SHIP_WALK_DYING	  20u  /* times SHIP_WALK_DYING_NS: so long may a program take that was killed */
#define SHIP_WALK_DYING_NS 50000000
#define SHIP_WALK_LOOKS	  256u /* [events] between two looks whether a batch is full, or it is time */

static uint64_t ship_walk_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the trace ---- */

/* An id of 16 bytes as SQL has it. */
static void ship_walk_id(char text[40], const uint8_t *u)
{
	snprintf(text, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
		 u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static void ship_walk_uuid(struct ship *ship)
{
	for (unsigned i = 0; i < 16; i++)
		ship->uuid[i] = ship->info->uuid[i / 8 * 8 + 7 - i % 8];
	ship_walk_id(ship->trace, ship->info->uuid);
	ship_walk_id(ship->boot, ship->info->boot_id);
}

/*
 * What a trace that is being written has in its files is shipped, not what the rings of its session hold besides:
 * that may be overwritten there before it is written. It comes in the order of time, however late the writer is: by
 * that order another walk makes the same spans of what has gone already.
 */
static int ship_walk_open_written(struct ship *ship, struct ktr_error *err)
{
	const struct ktr_reader_options follow = { .size = sizeof(follow), .follow = 1 };
	int rc;

	ktr_reader_close(ship->reader);
	rc = ktr__reader_open_kept(ship->path, &follow, ship->key, &ship->reader, err);
	if (!rc)
		ktr__reader_be_patient(ship->reader);
	return rc;
}

/*
 * A program that was killed is gone piece by piece, its writer among the first: it is waited for, because what it
 * was doing ends when it does. One that lives on without a writer is not waited for any longer.
 */
static int ship_walk_open_reader(struct ship *ship, struct ktr_error *err)
{
	int rc = ktr__reader_open_kept(ship->path, NULL, ship->key, &ship->reader, err);

	for (unsigned tries = 0; !rc; tries++) {
		const struct ktr__trace_head *head = ktr__reader_head(ship->reader);

		ship->is_followed = head && head->is_written;
		if (ship->is_followed || !head || head->has_ended || tries == SHIP_WALK_DYING ||
		    !ktr__reader_lives(ship->reader))
			break;
		ktr_reader_close(ship->reader);
		nanosleep(&(struct timespec){ 0, SHIP_WALK_DYING_NS }, NULL);
		rc = ktr__reader_open_kept(ship->path, NULL, ship->key, &ship->reader, err);
	}
	if (!rc && ship->is_followed)
		rc = ship_walk_open_written(ship, err);
	if (rc)
		return rc;
	ship->info = ktr_reader_info(ship->reader);
	ship->head = ktr__reader_head(ship->reader);
	ship->until_ns = ship->is_followed ? ship->info->last_ns : 0;
	return 0;
}

static int ship_walk_open(struct ship *ship, struct ktr_error *err)
{
	int rc = ship_walk_open_reader(ship, err);

	if (rc)
		return rc;
	if (!ship->head)
		return ktr_error_at(err, ship->path, 0, 0, EINVAL, "is a session: its trace can be shipped");
	if (ship->head->is_rewritten && !ship->again)
		return ktr_error_at(err, ship->path, 0, 0, EINVAL,
				    "was made of other traces by ktr cut or merge, whose events may be there already; --again ships it");
	ship->utc_offset_ns = ship->info->utc_offset_ns;
	ship_walk_uuid(ship);
	ship_rows_trace(ship);
	folder_build(ship->reader, ship->build_id);
	if (!ship->build)
		ship->build = ship->build_id;
	return 0;
}

/* Rows that replace others have a higher version than those, also where the clock was set back. */
static void ship_walk_version(struct ship *ship)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	ship->version = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	if (ship->version <= ship->state.version)
		ship->version = ship->state.version + 1;
	ship->state.version = ship->version;
}

/* ---- events ---- */

/* What rotation removed of a stream before it was shipped is said when its first event comes. 0 or -ENOMEM. */
static int ship_walk_gone(struct ship *ship, const struct ktr_event *event, struct ship_stream *stream)
{
	uint64_t first = ktr__reader_first(ship->reader);
	int rc;

	if (first <= stream->next)
		return 0;
	rc = ship_rows_gone(ship, event, first - stream->next);
	stream->next = first;
	return rc;
}

int ship_walk_removed(struct ship *ship, const struct ktr_event *event, uint64_t index, struct ship_stream *stream)
{
	uint64_t until, n = ktr__reader_gone(ship->reader, index, &until);

	return n ? ship_rows_removed(ship, event, n, until, stream) : 0;
}

struct ship_stream *ship_walk_stream(struct ship *ship, const struct ktr_event *event, unsigned cursor)
{
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
	return ship_walk_gone(ship, event, &ship->state.stream[i]) ? NULL : &ship->state.stream[i];
}

int ship_walk_flush(struct ship *ship, struct ktr_error *err)
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
	if (!rc)
		rc = ship_state_done(&ship->state, err);
	/* All that was read has been shipped. */
	if (!rc && ship->spool)
		ship_spool_drop(ship, ktr__reader_piece(ship->reader));
	return rc;
}

int ship_walk_spans(struct ship *ship, uint64_t from_ns)
{
	/* One of which the beginning is not known has been there since the first event. */
	return ktr__spans_new(&ship->spans, ship->info->first_ns ? ship->info->first_ns : from_ns, ship_spans_span,
			      ship);
}

static int ship_walk_spans_event(struct ship *ship, const struct ktr_event *event)
{
	int rc = 0;

	if (ship->marks)
		return ship_marks_event(ship, event, ship->is_fresh);
	if (!ship->spans)
		rc = ship_walk_spans(ship, event->time_ns);
	return rc ? rc : ktr__spans_event(ship->spans, event);
}

int ship_walk_take(struct ship *ship, const struct ktr_event *event, struct ship_stream *stream,
		   struct ktr_error *err)
{
	size_t at = (size_t)(stream - ship->state.stream);
	int rc = 0;

	ship->is_fresh = event->index >= stream->next;
	if (!ship->is_fresh && event->index < stream->first)
		return ktr_error_at(err, ship->path, 0, 0, EINVAL,
				    "it begins before what has gone of this trace: parts go together, by the name of the whole; --state DIR begins anew");
	if (ship->is_fresh && ship_rows_is_next_day(ship, event)) {
		rc = ship_walk_flush(ship, err);
		if (rc)
			return rc;
		stream = &ship->state.stream[at]; /* there may be more of them */
	}
	if (ship->is_fresh && ship->with_events && (!ship->filter || ktr__filter_pass(ship->filter, event)))
		rc = ship_rows_event(ship, event, stream);
	if (!rc && ship->is_fresh && event->site->kind == KTR_KIND_COUNTER)
		rc = ship_counters_event(ship, event, stream);
	if (!rc && ship->with_spans)
		rc = ship_walk_spans_event(ship, event);
	if (rc)
		return ktr_error_set(err, -rc, "no memory");
	if (ship->is_fresh) {
		stream->next = event->index + 1;
		if (stream->first == UINT64_MAX)
			stream->first = event->index;
	}
	return 0;
}

int ship_walk_is_due(const struct ship *ship)
{
	return ship_rows_is_full(ship) || (ship->follow && ship_walk_now() - ship->flushed_ns >= ship->every_ns);
}

static int ship_walk_event(struct ship *ship, const struct ktr_event *event, struct ktr_error *err)
{
	struct ship_stream *stream = ship_walk_stream(ship, event, ktr__reader_cursor(ship->reader));
	int rc = stream ? ship_walk_removed(ship, event, event->index, stream) : -ENOMEM;

	rc = !rc ? ship_walk_take(ship, event, stream, err) : ktr_error_set(err, ENOMEM, "no memory");
	if (rc)
		return rc;
	ship->n_waits = 0;
	ship->is_cut = ship->follow && interrupt_came();
	if (ship->is_cut)
		return 1;
	/* A few rows more than it holds do not matter. */
	if (++ship->n_looked % SHIP_WALK_LOOKS != 0)
		return 0;
	return ship_walk_is_due(ship) ? ship_walk_flush(ship, err) : 0;
}

/* Rotation leaves a trace without its name for a moment alone. -errno with err filled. */
static int ship_walk_vanished(struct ship *ship, struct ktr_error *err)
{
	int rc = ship_walk_flush(ship, err);

	return rc ? rc : ktr_error_at(err, ship->path, 0, 0, ENOENT, "was removed while it was followed");
}

/* There is nothing more just now: 0, or 1 when nothing more is waited for, or -errno with err filled. */
static int ship_walk_wait(struct ship *ship, int wait_ms, struct ktr_error *err)
{
	int rc = 0;

	ship->is_cut = ship->follow && interrupt_came();
	if (ship->is_cut)
		return 1;
	if (ship->n_waits++ >= SHIP_WALK_WAITS && (!ship->follow || ktr_reader_ended(ship->reader)))
		return 1;
	if (ship->n_waits >= SHIP_WALK_GONE && access(ship->path, F_OK) && errno == ENOENT)
		return ship_walk_vanished(ship, err);
	if (ship_walk_now() - ship->flushed_ns >= ship->every_ns)
		rc = ship_walk_flush(ship, err);
	if (!rc && ship->losses.n_rows)
		rc = ship_send_block(ship, SCHEMA_LOSSES_TABLE, &ship->losses, err);
	if (rc)
		return rc;
	rc = ktr_reader_wait(ship->reader, wait_ms);
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
	/* Where it ends is not known yet: a row with an end would be another one. What was left is read anew. */
	if (!loss->to_ns && !ship->head->has_ended && (ship->is_followed || ship->head->is_written))
		return 0;
	/* What rotation removed is said with the event that follows. */
	if (loss->removed)
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
	if (rc)
		return rc;
	ship->state.over_bytes = is_over && ship->head->has_ended ? ktr__reader_bytes(ship->reader) : 0;
	rc = ship_state_finish(&ship->state, err);
	if (!rc && is_over)
		ship_spool_drop(ship, UINT32_MAX);
	return rc;
}

int ship_walk_found(struct ship *ship, int what, const struct ktr_event *event, int wait_ms,
		    struct ktr_error *err)
{
	switch (what) {
	case KTR_READ_EVENT:
		ship->is_cut = !ship->follow && event->time_ns > ship->until_ns && ship->until_ns;
		return ship->is_cut ? 1 : ship_walk_event(ship, event, err);
	case KTR_READ_WAIT:
		return ship_walk_wait(ship, wait_ms, err);
	case KTR_READ_LOSS:
		return ship_walk_loss(ship, err);
	case KTR_READ_NOTE:
		if (ktr_reader_note(ship->reader)->damaged)
			fprintf(stderr, "%s: %s\n", ship->command, ktr_reader_note(ship->reader)->text);
		return 0;
	default:
		return 1;
	}
}

/* In the order of time, for a while. 0, 1: the walk is over, or -errno with err filled. */
static int ship_walk_on(struct ship *ship, int wait_ms, struct ktr_error *err)
{
	const struct ktr_event *event;
	int rc = 0, what = KTR_READ_NOTE;

	for (unsigned n = 0; !rc && what != KTR_READ_WAIT && n < SHIP_WALK_STEP; n++) {
		what = ktr__reader_advance(ship->reader, &event);
		if (what < 0) {
			*err = *ktr_reader_error(ship->reader);
			return what;
		}
		rc = ship_walk_found(ship, what, event, wait_ms, err);
	}
	return rc;
}

int ship_walk_step(struct ship *ship, int wait_ms, struct ktr_error *err)
{
	int rc = 0;

	if (ship->is_told)
		return 1;
	rc = ship->is_swept ? ship_sweep_step(ship, err) : ship_walk_on(ship, wait_ms, err);
	if (rc <= 0)
		return rc;
	rc = ship_walk_end(ship, err);
	return rc ? rc : 1;
}

/*
 * Rows of a trace of which nothing is written down here were sent by somebody else, or what was written down is
 * gone.
 */
static int ship_walk_is_first(struct ship *ship, struct ktr_error *err)
{
	struct native_buffer query = { 0 };
	struct store_answer answer;
	uint64_t n = 0;
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
	else if (store_number(&answer, &n))
		rc = ktr_error_set(err, EPROTO, "%s does not answer with a number", ship->store->shown);
	else if (n)
		rc = ktr_error_at(err, ship->path, 0, 0, EEXIST,
				  "the server has rows of it, and how far they go is not written down in %s; --again ships all of it",
				  ship->state_folder);
	store_answer_free(&answer);
	native_buffer_free(&query);
	return rc;
}

/* What --filter asks of spans is known of a trace that is complete alone. 0 or -errno with err filled. */
static int ship_walk_filter_spans(struct ship *ship, struct ktr__filter_spans *spans, struct ktr_error *err)
{
	struct ktr_reader *again;
	int rc;

	if (ship->is_followed)
		return ktr_error_set(err, EINVAL,
				     "--filter: how long a span takes is known at its end: not of a trace that is written");
	rc = ktr__reader_open_kept(ship->path, NULL, ship->key, &again, err);
	if (rc)
		return rc;
	rc = ktr__filter_spans_walk(spans, again, err);
	ktr_reader_close(again);
	return rc;
}

static int ship_walk_filter(struct ship *ship, struct ktr_error *err)
{
	struct ktr_error why = KTR_ERROR_NONE;
	struct ktr__filter_spans *spans;
	int rc;

	if (!ship->filter_text)
		return 0;
	/* Names that it has not got yet may come, or be those of another trace's. */
	rc = ktr__filter_new(ship->filter_text, ktr__reader_tables(ship->reader), ship->info, 1, &ship->filter,
			     &why);
	if (rc)
		return ktr_error_set(err, -rc, "--filter: column %u: %s", why.column, why.text);
	if (why.code)
		fprintf(stderr, "%s: %s: --filter, column %u: %s, so far\n", ship->command, ship->path, why.column,
			why.text);
	spans = ktr__filter_spans(ship->filter);
	return spans ? ship_walk_filter_spans(ship, spans, err) : 0;
}

/* Another machine that is called so would have its traces among ours. It is said, and no more. */
static void ship_walk_namesake(struct ship *ship)
{
	struct native_buffer query = { 0 };
	struct store_answer answer;
	uint64_t n = 0;
	char text[200];

	if (!ship->state.is_new || !ship->info->last_ns)
		return;
	native_buffer_text(&query, "SELECT count() FROM ");
	native_buffer_text(&query, ship->store->options.database);
	native_buffer_text(&query, ".traces WHERE host = ");
	store_quote(&query, ship->host, strlen(ship->host));
	native_buffer_text(&query, " AND (machine != ");
	store_quote(&query, ship->info->host, strlen(ship->info->host));
	snprintf(text, sizeof(text), " OR boot != toUUID('%s')) AND first_ts < %" PRId64 " AND last_ts > %" PRId64
		 " FORMAT TabSeparated", ship->boot, (int64_t)ship->info->last_ns + ship->utc_offset_ns,
		 (int64_t)ship->info->first_ns + ship->utc_offset_ns);
	native_buffer_text(&query, text);
	native_buffer_add(&query, "", 1);
	if (query.failed) {
		native_buffer_free(&query);
		return;
	}
	if (store_ask_patiently(ship->store, (char *)query.at, &answer) == STORE_DONE &&
	    store_number(&answer, &n) == 0 && n)
		fprintf(stderr, "%s: %s: %s is another machine's name, too, which traced at the same time: --host tells them apart\n",
			ship->command, ship->path, ship->host);
	store_answer_free(&answer);
	native_buffer_free(&query);
}

static int ship_walk_start(struct ship *ship, struct ktr_error *err)
{
	int rc = ship_walk_open(ship, err);

	if (!rc)
		rc = ship_walk_filter(ship, err);
	if (!rc)
		rc = ship_state_open(ship, err);
	if (!rc && ship->state.pending.n_parts) {
		rc = ship_send(ship, 1, err);
		if (!rc)
			rc = ship_state_done(&ship->state, err);
	}
	/* Nothing has come since all of it was told. */
	ship->is_told = !rc && ship->state.over_bytes && ship->head->has_ended &&
			ship->state.over_bytes == ktr__reader_bytes(ship->reader);
	if (rc || ship->is_told)
		return rc;
	ship_walk_version(ship);
	rc = ship_walk_is_first(ship, err);
	if (!rc)
		ship_walk_namesake(ship);
	/* Written down before anything goes: what is there is ours. */
	if (!rc && ship->state.is_new)
		rc = ship_state_finish(&ship->state, err);
	if (!rc)
		rc = ship_tables(ship, err);
	return rc;
}

int ship_walk_begin(struct ship *ship, struct ktr_error *err)
{
	int rc;

	ship_rows_open(ship);
	ship->flushed_ns = ship_walk_now();
	rc = ship_walk_start(ship, err);
	if (!rc && ship->is_told)
		ship_spool_drop(ship, UINT32_MAX);
	else if (!rc)
		rc = ship_sweep_begin(ship, err);
	return rc < 0 ? rc : 0;
}

void ship_walk_close(struct ship *ship)
{
	ktr__spans_free(ship->spans);
	ship->spans = NULL;
	ktr__filter_free(ship->filter);
	ship->filter = NULL;
	ship_marks_free(ship->marks);
	ship->marks = NULL;
	ship_columns_close(ship);
	ship_rows_close(ship);
	ship_state_close(&ship->state);
	for (unsigned i = 0; i < KTR_SIDECARS; i++)
		free(ship->line_hash[i]);
	free(ship->place);
	ktr_reader_close(ship->reader);
}

int ship_walk(struct ship *ship, struct ktr_error *err)
{
	int rc = ship_walk_begin(ship, err);

	if (!rc) {
		progress_watch(ship->command, ship->reader, 0, UINT64_MAX);
		while (!rc)
			rc = ship_walk_step(ship, SHIP_WALK_WAIT_MS, err);
		progress_end();
	}
	ship_walk_close(ship);
	return rc < 0 ? rc : 0;
}
