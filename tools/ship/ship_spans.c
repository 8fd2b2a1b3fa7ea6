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

enum {
	SPANS_KEY_PROCESS,
	SPANS_KEY_THREAD,
	SPANS_KEY_KIND,
	SPANS_KEY_GRP,
	SPANS_KEY_ID,
	SPANS_KEY_STATE,
	SPANS_KEY_SITE,
	SPANS_KEYS
};

struct ship_span_row {
	int64_t ts;
	uint64_t dur, key;
	uint32_t pid, tid, cpu, depth, unsure, open;
	uint32_t word[SPANS_KEYS];
};

/* The words of a site's spans in a block. */
struct ship_span_keys {
	uint32_t grp, id, site;
	uint32_t fill;		   /* the batch */
	const struct ship_day *day; /* and the block of it */
};

void ship_spans_close(struct ship *ship)
{
	for (unsigned i = 0; i < ship->n_days; i++) {
		native_close(&ship->days[i].spans);
		native_buffer_free(&ship->days[i].where);
	}
	free(ship->span_row);
	free(ship->span_keys);
	ship->span_row = NULL;
	ship->span_keys = NULL;
	ship->span_day = NULL;
	ship->n_days = ship->n_span_pending = ship->span_room = ship->n_span_keys = 0;
}

/* ---- columns ---- */

int ship_spans_put(struct ship *ship)
{
	static const struct {
		unsigned column;
		size_t off;
	} columns[] = {
#define SPANS_OF(column, member) { SPANS_##column, offsetof(struct ship_span_row, member) }
		SPANS_OF(TS, ts), SPANS_OF(DUR, dur), SPANS_OF(KEY, key), SPANS_OF(PID, pid), SPANS_OF(TID, tid),
		SPANS_OF(CPU, cpu), SPANS_OF(DEPTH, depth), SPANS_OF(UNSURE, unsure), SPANS_OF(OPEN, open),
		SPANS_OF(PROCESS, word[SPANS_KEY_PROCESS]), SPANS_OF(THREAD, word[SPANS_KEY_THREAD]),
		SPANS_OF(KIND, word[SPANS_KEY_KIND]), SPANS_OF(GRP, word[SPANS_KEY_GRP]),
		SPANS_OF(ID, word[SPANS_KEY_ID]), SPANS_OF(STATE, word[SPANS_KEY_STATE]),
		SPANS_OF(SITE, word[SPANS_KEY_SITE]),
#undef SPANS_OF
	};
	struct native_block *b = ship->span_day ? &ship->span_day->spans : NULL;
	uint32_t n = ship->n_span_pending;

	if (!b || !n)
		return 0;
	for (unsigned i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		native_gather(b, columns[i].column, (const char *)ship->span_row + columns[i].off,
			      sizeof(*ship->span_row), n);
	native_numbers(b, SPANS_HOST, b->n_rows, native_word_key(b, SPANS_HOST, ship->host), n);
	native_numbers(b, SPANS_BUILD, b->n_rows, native_word_key(b, SPANS_BUILD, ship->build), n);
	native_rows(b, n);
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

/* Where a row of the day is gathered; NULL without memory. */
static struct ship_span_row *spans_next(struct ship *ship, int64_t day)
{
	int is_full = ship->span_day && (ship->span_day->day != day || ship->n_span_pending == SPANS_ROWS);

	if (is_full && ship_spans_put(ship))
		return NULL;
	if (!ship->n_span_pending)
		ship->span_day = spans_of_day(ship, day);
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

static void spans_row(struct ship_span_row *row, struct native_block *b, const struct ktr__span *span,
		      const struct ship_span_keys *keys, int64_t ts)
{
	row->ts = ts;
	row->dur = span->to_ns - span->from_ns;
	row->key = span->key;
	row->pid = span->pid;
	row->tid = span->thread->tid;
	row->cpu = span->cpu;
	row->depth = span->depth;
	row->unsure = (span->flags & KTR__SPAN_UNSURE) != 0;
	row->open = span->flags & KTR__SPAN_NO_START ? SCHEMA_OPEN_START : 0;
	if ((span->flags & (KTR__SPAN_NO_END | KTR__SPAN_LEFT)) == KTR__SPAN_NO_END)
		row->open |= SCHEMA_OPEN_END;
	row->word[SPANS_KEY_PROCESS] = native_word_key(b, SPANS_PROCESS, span->thread->process);
	row->word[SPANS_KEY_THREAD] = native_word_key(b, SPANS_THREAD, span->thread->name);
	row->word[SPANS_KEY_KIND] = native_word_key(b, SPANS_KIND, span->kind == KTR_KIND_STATE ? "state" : "span");
	row->word[SPANS_KEY_GRP] = keys->grp;
	row->word[SPANS_KEY_ID] = keys->id;
	if (!span->site->ident)
		row->word[SPANS_KEY_ID] = native_key_of(b, SPANS_ID, span->ident.bytes, span->ident.n_bytes);
	row->word[SPANS_KEY_STATE] = native_key_of(b, SPANS_STATE, span->state.bytes, span->state.n_bytes);
	row->word[SPANS_KEY_SITE] = keys->site;
}

int ship_spans_span(void *context, const struct ktr__span *span)
{
	struct ship *ship = context;
	int64_t ts = ship_rows_ts(ship, span->from_ns);
	const struct ship_span_keys *keys;
	struct ship_span_row *row;
	struct ship_day *day;

	if (!ship->is_fresh)
		return 0;
	row = spans_next(ship, ship_rows_day(ts));
	keys = row ? spans_keys(ship, span) : NULL;
	if (!keys)
		return -ENOMEM;
	day = ship->span_day;
	if (!day->spans.n_rows && !ship->n_span_pending) {
		spans_where(ship, day, span, ts);
		day->n_counted = 0;
	}
	spans_row(row, &day->spans, span, keys, ts);
	ship->n_span_pending++;
	day->n_counted += !row->open && !row->unsure;
	ship->n_span_rows++;
	ship->counts.n_spans++;
	return day->where.failed ? -ENOMEM : 0;
}
