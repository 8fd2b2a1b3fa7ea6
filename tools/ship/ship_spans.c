/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans as rows, in a block for each day. Rows are gathered and go to their columns many at a time; the keys of
 * what a site tells are looked up once for each batch.
 */
#include "tools/ship/ship_spans.h"

#include "conf/kit/array.h"
#include "tools/ship/ship_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_ROWS 1024u /* gathered */

/* Numbers and keys of a row. */
enum {
	SPANS_N_PID,
	SPANS_N_TID,
	SPANS_N_CPU,
	SPANS_N_DEPTH,
	SPANS_N_UNSURE,
	SPANS_N_OPEN,
	SPANS_N_PROCESS,
	SPANS_N_THREAD,
	SPANS_N_KIND,
	SPANS_N_GRP,
	SPANS_N_ID,
	SPANS_N_STATE,
	SPANS_N_SITE,
	SPANS_N_UNUSED,
	SPANS_NUMBERS = 16 /* so many are compared at once */
};

struct ship_span_row {
	int64_t ts;
	uint64_t dur, key;
	uint32_t n[SPANS_NUMBERS];
};

/* The words of a site's spans in a block. */
struct ship_span_keys {
	uint32_t grp, id, site;
	uint32_t fill;		   /* the batch */
	const struct ship_day *day; /* and the block of it */
};

/* And those of a thread's. */
struct ship_span_thread {
	const char *process, *name; /* of which the keys are */
	uint32_t process_key, name_key;
	uint32_t fill;
	const struct ship_day *day;
};

void ship_spans_close(struct ship *ship)
{
	for (unsigned i = 0; i < ship->n_days; i++) {
		native_close(&ship->days[i].spans);
		native_buffer_free(&ship->days[i].where);
	}
	free(ship->span_row);
	free(ship->span_keys);
	free(ship->span_thread);
	ship->span_row = NULL;
	ship->span_keys = NULL;
	ship->span_thread = NULL;
	ship->span_day = NULL;
	ship->n_days = ship->n_span_pending = ship->span_room = ship->n_span_keys = ship->n_span_threads = 0;
}

/* ---- columns ---- */

/* In which numbers rows are not all the same: bits that differ in any. */
static void spans_differ(const struct ship_span_row *row, uint32_t n, uint32_t differ[SPANS_NUMBERS])
{
	uint32_t first[SPANS_NUMBERS], any[SPANS_NUMBERS] = { 0 };

	memcpy(first, row->n, sizeof(first));
	for (uint32_t i = 1; i < n; i++)
		for (unsigned k = 0; k < SPANS_NUMBERS; k++)
			any[k] |= row[i].n[k] ^ first[k];
	memcpy(differ, any, sizeof(any));
}

int ship_spans_put(struct ship *ship)
{
	static const struct {
		uint8_t column, number;
	} columns[] = {
#define SPANS_OF(name) { SPANS_##name, SPANS_N_##name }
		SPANS_OF(PID),	SPANS_OF(TID),	  SPANS_OF(CPU),     SPANS_OF(DEPTH),  SPANS_OF(UNSURE),
		SPANS_OF(OPEN), SPANS_OF(PROCESS), SPANS_OF(THREAD), SPANS_OF(KIND),   SPANS_OF(GRP),
		SPANS_OF(ID),	SPANS_OF(STATE),  SPANS_OF(SITE),
#undef SPANS_OF
	};
	struct native_block *b = ship->span_day ? &ship->span_day->spans : NULL;
	const struct ship_span_row *row = ship->span_row;
	uint32_t n = ship->n_span_pending, differ[SPANS_NUMBERS];

	if (!b || !n)
		return 0;
	native_gather(b, SPANS_TS, &row->ts, sizeof(*row), n);
	native_gather(b, SPANS_DUR, &row->dur, sizeof(*row), n);
	native_gather(b, SPANS_KEY, &row->key, sizeof(*row), n);
	spans_differ(row, n, differ);
	for (unsigned i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		unsigned k = columns[i].number;

		if (differ[k])
			native_gather(b, columns[i].column, &row->n[k], sizeof(*row), n);
		else
			native_numbers(b, columns[i].column, b->n_rows, row->n[k], n);
	}
	native_numbers(b, SPANS_HOST, b->n_rows, native_word_key(b, SPANS_HOST, ship->host), n);
	native_numbers(b, SPANS_BUILD, b->n_rows, native_word_key(b, SPANS_BUILD, ship->build), n);
	native_rows(b, n);
	if (native_settles(b))
		native_settle(b, frame_write);
	ship->n_span_pending = 0;
	return ship->span_day->where.failed ? -ENOMEM : 0;
}

/* ---- rows ---- */

static struct ship_day *spans_of_day(struct ship *ship, int64_t day)
{
	struct ship_day *last;

	for (unsigned i = 0; i < ship->n_days; i++)
		if (ship->days[i].day == day && ship->days[i].spans.n_rows)
			return &ship->days[i];
	for (unsigned i = 0; i < ship->n_days; i++)
		if (!ship->days[i].spans.n_rows) {
			ship->days[i].day = day;
			return &ship->days[i];
		}
	/*
	 * Spans of more days than that end within one batch: the last block takes them, and may be there in part.
	 */
	if (ship->n_days == SHIP_DAYS_MAX)
		return &ship->days[SHIP_DAYS_MAX - 1];
	last = &ship->days[ship->n_days++];
	last->day = day;
	schema_block(&last->spans, SCHEMA_SPANS_TABLE);
	native_same(&last->spans, SPANS_TRACE, ship->uuid, sizeof(ship->uuid));
	return last;
}

static void spans_where(struct ship *ship, struct ship_day *day, const struct ktr__span *span, int64_t ts)
{
	char text[300];

	day->where.n = 0;
	native_buffer_text(&day->where, "host = ");
	store_quote(&day->where, ship->host, strlen(ship->host));
	native_buffer_text(&day->where, " AND grp = ");
	store_quote(&day->where, span->group, strlen(span->group));
	native_buffer_text(&day->where, " AND id = ");
	store_quote(&day->where, span->ident.bytes, span->ident.n_bytes);
	snprintf(text, sizeof(text), " AND intDiv(ts, 60000000000) = %" PRId64 " AND ts = %" PRId64
		 " AND trace = toUUID('%s') AND pid = %u AND tid = %u AND key = %" PRIu64
		 " AND depth = %u AND dur = %" PRIu64,
		 ts / 60000000000, ts, ship->trace, span->pid, span->thread->tid, span->key, span->depth,
		 span->to_ns - span->from_ns);
	native_buffer_text(&day->where, text);
	native_buffer_add(&day->where, "", 1);
}

/* Where a row of that moment is gathered; NULL without memory. */
static struct ship_span_row *spans_next(struct ship *ship, int64_t ts)
{
	int is_of_day = ship->span_day && (uint64_t)(ts - ship->span_day_ts) < SHIP_DAY_NS;

	if (ship->span_day && (!is_of_day || ship->n_span_pending == SPANS_ROWS) && ship_spans_put(ship))
		return NULL;
	if (!ship->n_span_pending) {
		ship->span_day = spans_of_day(ship, ship_rows_day(ts));
		ship->span_day_ts = ship->span_day->day * SHIP_DAY_NS;
	}
	if (ktr__array_grow(&ship->span_row, &ship->span_room, ship->n_span_pending, sizeof(*ship->span_row)))
		return NULL;
	return &ship->span_row[ship->n_span_pending];
}

static const struct ship_span_keys *spans_keys(struct ship *ship, const struct ktr__span *span)
{
	struct native_block *b = &ship->span_day->spans;
	const struct ktr_reader_site *site = span->site;
	struct ship_span_keys *keys;

	if (ktr__array_grow(&ship->span_keys, &ship->n_span_keys, site->id, sizeof(*keys)))
		return NULL;
	keys = &ship->span_keys[site->id];
	if (keys->fill == ship->fill && keys->day == ship->span_day)
		return keys;
	keys->fill = ship->fill;
	keys->day = ship->span_day;
	keys->grp = native_word_key(b, SPANS_GRP, span->group);
	keys->id = site->ident ? native_word_key(b, SPANS_ID, site->ident) : 0;
	keys->site = native_word_key(b, SPANS_SITE, site->name);
	return keys;
}

static const struct ship_span_thread *spans_thread(struct ship *ship, const struct ktr_reader_thread *thread)
{
	struct native_block *b = &ship->span_day->spans;
	struct ship_span_thread *keys;

	if (ktr__array_grow(&ship->span_thread, &ship->n_span_threads, thread->id, sizeof(*keys)))
		return NULL;
	keys = &ship->span_thread[thread->id];
	if (keys->fill == ship->fill && keys->day == ship->span_day && keys->name == thread->name &&
	    keys->process == thread->process)
		return keys;
	*keys = (struct ship_span_thread){ .process = thread->process,
					   .name = thread->name,
					   .process_key = native_word_key(b, SPANS_PROCESS, thread->process),
					   .name_key = native_word_key(b, SPANS_THREAD, thread->name),
					   .fill = ship->fill,
					   .day = ship->span_day };
	return keys;
}

/* Which of its ends nobody told of. */
static inline uint32_t spans_is_open(const struct ktr__span *span)
{
	uint32_t open = span->flags & KTR__SPAN_NO_START ? SCHEMA_OPEN_START : 0;

	if ((span->flags & (KTR__SPAN_NO_END | KTR__SPAN_LEFT)) == KTR__SPAN_NO_END)
		open |= SCHEMA_OPEN_END;
	return open;
}

static void spans_row(struct ship_span_row *row, struct native_block *b, const struct ktr__span *span,
		      const struct ship_span_keys *keys, const struct ship_span_thread *thread, int64_t ts)
{
	uint32_t *n = row->n;

	row->ts = ts;
	row->dur = span->to_ns - span->from_ns;
	row->key = span->key;
	n[SPANS_N_PID] = span->pid;
	n[SPANS_N_TID] = span->thread->tid;
	n[SPANS_N_CPU] = span->cpu;
	n[SPANS_N_DEPTH] = span->depth;
	n[SPANS_N_UNSURE] = (span->flags & KTR__SPAN_UNSURE) != 0;
	n[SPANS_N_OPEN] = spans_is_open(span);
	n[SPANS_N_PROCESS] = thread->process_key;
	n[SPANS_N_THREAD] = thread->name_key;
	n[SPANS_N_KIND] = native_word_key(b, SPANS_KIND, span->kind == KTR_KIND_STATE ? "state" : "span");
	n[SPANS_N_GRP] = keys->grp;
	n[SPANS_N_ID] = keys->id;
	if (!span->site->ident)
		n[SPANS_N_ID] = native_key_of(b, SPANS_ID, span->ident.bytes, span->ident.n_bytes);
	n[SPANS_N_STATE] = span->state.n_bytes ? native_key_of(b, SPANS_STATE, span->state.bytes,
							       span->state.n_bytes) : 0;
	n[SPANS_N_SITE] = keys->site;
	for (unsigned i = SPANS_N_UNUSED; i < SPANS_NUMBERS; i++)
		n[i] = 0;
}

int ship_spans_span(void *context, const struct ktr__span *span)
{
	struct ship *ship = context;
	int64_t ts = ship_rows_ts(ship, span->from_ns);
	const struct ship_span_thread *thread;
	const struct ship_span_keys *keys;
	struct ship_span_row *row;
	struct ship_day *day;

	if (!ship->is_fresh)
		return 0;
	row = spans_next(ship, ts);
	keys = row ? spans_keys(ship, span) : NULL;
	thread = keys ? spans_thread(ship, span->thread) : NULL;
	if (!thread)
		return -ENOMEM;
	day = ship->span_day;
	if (!day->spans.n_rows && !ship->n_span_pending) {
		spans_where(ship, day, span, ts);
		day->n_counted = 0;
	}
	spans_row(row, &day->spans, span, keys, thread, ts);
	ship->n_span_pending++;
	day->n_counted += !spans_is_open(span) && !(span->flags & KTR__SPAN_UNSURE);
	ship->n_span_rows++;
	ship->counts.n_spans++;
	return day->where.failed ? -ENOMEM : 0;
}
