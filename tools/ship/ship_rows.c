/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events and losses as rows, and batches of all rows. Times are UTC. Names stand in the rows: in columns of words
 * they cost next to nothing, and no question needs a join.
 */
#include "tools/ship/ship_rows.h"

#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"
#include "analyze/stats/ends.h"
#include "tools/fleet/frame.h"
#include "tools/ship/ship_columns.h"
#include "tools/ship/ship_counters.h"
#include "tools/ship/ship_spans.h"
#include "tools/ship/ship_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHIP_PART_BYTES ((size_t)256 << 10) /* [bytes] room for what of a block is packed at its end */

static const char *const ship_kinds[] = {
	[KTR_KIND_EVENT] = "event", [KTR_KIND_STATE] = "state", [KTR_KIND_COUNTER] = "counter",
	[KTR_KIND_POINT] = "point", [KTR_KIND_START] = "start", [KTR_KIND_STOP] = "stop",
};

void ship_rows_open(struct ship *ship)
{
	schema_block(&ship->events, SCHEMA_EVENTS_TABLE);
	schema_block(&ship->losses, SCHEMA_LOSSES_TABLE);
	schema_block(&ship->counters, SCHEMA_COUNTERS_TABLE);
	schema_block(&ship->gone, SCHEMA_LOSSES_TABLE);
	ship->fill = 1;
}

void ship_rows_trace(struct ship *ship)
{
	native_same(&ship->events, EVENTS_TRACE, ship->uuid, sizeof(ship->uuid));
	native_same(&ship->counters, COUNTERS_TRACE, ship->uuid, sizeof(ship->uuid));
}

void ship_rows_close(struct ship *ship)
{
	native_close(&ship->events);
	native_close(&ship->losses);
	native_close(&ship->counters);
	native_close(&ship->gone);
	native_buffer_free(&ship->where);
	native_buffer_free(&ship->counters_where);
	ship_counters_close(ship);
	native_buffer_free(&ship->gone_where);
	ship_spans_close(ship);
	native_buffer_free(&ship->known.frame);
}

const char *ship_rows_kind(const struct ktr_reader_site *site)
{
	return ship_kinds[site->kind];
}

int64_t ship_rows_day(int64_t ts)
{
	return (ts >= 0 ? ts : ts - SHIP_DAY_NS + 1) / SHIP_DAY_NS;
}

uint64_t ship_rows_day_left(const struct ship *ship, uint64_t ns)
{
	int64_t ts = ship_rows_ts(ship, ns);

	return (uint64_t)((ship_rows_day(ts) + 1) * SHIP_DAY_NS - 1 - ts);
}

static void ship_rows_args(struct native_block *b, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	unsigned n = site->id ? site->n_args : KTR_ARGS_MAX, cut = 0, nulls = 0;

	for (unsigned i = 0; i < n; i++) {
		if (site->in_str >> i & 1) {
			native_bytes(b, EVENTS_S0 + i, event->str[i].bytes, event->str[i].n_bytes);
			cut |= (unsigned)(event->str[i].cut != 0) << i;
			nulls |= (unsigned)(event->str[i].is_null != 0) << i;
		} else if (site->id && site->arg[i].type == KTR_ARG_F64) {
			native_number(b, EVENTS_F0 + i, event->arg[i]);
		} else {
			native_number(b, EVENTS_I0 + i, event->arg[i]);
		}
	}
	native_number(b, EVENTS_CUT, cut);
	native_number(b, EVENTS_NULLS, nulls);
}

/* How the first row of the block is found. */
static void ship_rows_where(struct ship *ship, const struct ship_stream *stream, int64_t ts, uint64_t idx)
{
	char text[200];

	ship->where.n = 0;
	native_buffer_text(&ship->where, "host = ");
	store_quote(&ship->where, ship->host, strlen(ship->host));
	snprintf(text, sizeof(text), " AND trace = toUUID('%s') AND intDiv(ts, 1000000000) = %"
		PRId64 " AND ts = %" PRId64
		 " AND idx = %" PRIu64 " AND stream = ", ship->trace, ts / 1000000000, ts, idx);
	native_buffer_text(&ship->where, text);
	store_quote(&ship->where, stream->name, strlen(stream->name));
	native_buffer_add(&ship->where, "", 1);
}

/* Are there rows of the batch's day? */
static int ship_rows_are_there(const struct ship *ship)
{
	return ship->events.n_rows || ship->counters.n_rows || ship->n_counter_pending;
}

void ship_rows_is_of(struct ship *ship, int64_t ts)
{
	if (!ship_rows_are_there(ship))
		ship->day = ship_rows_day(ts);
}

void ship_rows_begin(struct ship *ship, const struct ship_stream *stream, int64_t ts, uint64_t idx)
{
	ship_rows_is_of(ship, ts);
	if (!ship->events.n_rows)
		ship_rows_where(ship, stream, ts, idx);
}

int ship_rows_event(struct ship *ship, const struct ktr_event *event, const struct ship_stream *stream)
{
	const struct ktr_reader_site *site = event->site;
	const struct ktr_reader_thread *thread = event->thread;
	struct native_block *b = &ship->events;
	int64_t ts = ship_rows_ts(ship, event->time_ns);

	ship_rows_begin(ship, stream, ts, event->index);
	native_word(b, EVENTS_PROCESS, thread->process);
	native_word(b, EVENTS_THREAD, thread->name);
	native_word(b, EVENTS_STREAM, stream->name);
	native_number(b, EVENTS_TS, (uint64_t)ts);
	native_number(b, EVENTS_CPU, event->cpu);
	native_number(b, EVENTS_PID, thread->pid);
	native_number(b, EVENTS_TID, thread->tid);
	native_number(b, EVENTS_WORD, ktr__ends_row(thread)->word);
	native_number(b, EVENTS_SITE_ID, site->id);
	native_number(b, EVENTS_IDX, event->index);
	native_number(b, EVENTS_FLAGS, (event->approx ? SCHEMA_FLAG_APPROX : 0) | (event->keep ?
		SCHEMA_FLAG_KEEP : 0));
	ship_rows_args(b, event);
	native_row(b);
	ship->counts.n_events++;
	if (ship->where.failed || ship_columns_site(ship, site))
		return -ENOMEM;
	return ship_columns_settle(ship);
}

int ship_rows_loss(struct ship *ship, const struct ktr_loss *loss)
{
	struct native_block *b = &ship->losses;

	native_word(b, LOSSES_HOST, ship->host);
	native_bytes(b, LOSSES_TRACE, ship->uuid, sizeof(ship->uuid));
	native_word(b, LOSSES_WHY, loss->removed ? SHIP_GONE : "overwritten");
	native_number(b, LOSSES_CPU, loss->cpu);
	native_number(b, LOSSES_KEEP, loss->keep);
	native_number(b, LOSSES_FROM_TS, loss->from_ns ? (uint64_t)ship_rows_ts(ship, loss->from_ns) : 0);
	native_number(b, LOSSES_TO_TS, loss->to_ns ? (uint64_t)ship_rows_ts(ship, loss->to_ns) : 0);
	native_number(b, LOSSES_EVENTS, loss->n_events);
	native_row(b);
	ship->counts.n_lost += loss->n_events;
	return 0;
}

int ship_rows_gone(struct ship *ship, const struct ktr_event *event, uint64_t n)
{
	struct native_block *b = &ship->gone;
	int64_t ts = ship_rows_ts(ship, event->time_ns);
	char text[300];

	if (!b->n_rows) {
		ship->gone_where.n = 0;
		native_buffer_text(&ship->gone_where, "host = ");
		store_quote(&ship->gone_where, ship->host, strlen(ship->host));
		snprintf(text, sizeof(text), " AND trace = toUUID('%s') AND why = '" SHIP_GONE "' AND cpu = %u AND "
			 "keep = %d AND from_ts = %" PRId64 " AND to_ts = %" PRId64 " AND events = %" PRIu64,
			 ship->trace, event->cpu, event->keep != 0, ts, ts, n);
		native_buffer_text(&ship->gone_where, text);
		native_buffer_add(&ship->gone_where, "", 1);
	}
	native_word(b, LOSSES_HOST, ship->host);
	native_bytes(b, LOSSES_TRACE, ship->uuid, sizeof(ship->uuid));
	native_word(b, LOSSES_WHY, SHIP_GONE);
	native_number(b, LOSSES_CPU, event->cpu);
	native_number(b, LOSSES_KEEP, event->keep != 0);
	native_number(b, LOSSES_FROM_TS, (uint64_t)ts);
	native_number(b, LOSSES_TO_TS, (uint64_t)ts);
	native_number(b, LOSSES_EVENTS, n);
	native_row(b);
	ship->counts.n_gone += n;
	return ship->gone_where.failed ? -ENOMEM : 0;
}

int ship_rows_removed(struct ship *ship, const struct ktr_event *event, uint64_t n, uint64_t until,
		      struct ship_stream *stream)
{
	/* Some of it may have been shipped when it was there. */
	uint64_t left = until > stream->next ? until - stream->next : 0;

	if (!left)
		return 0;
	stream->next = until;
	return ship_rows_gone(ship, event, n < left ? n : left);
}

/* What is gone of streams that have no event after that, or none yet. 0 or -ENOMEM. */
static int ship_rows_silent(struct ship *ship)
{
	struct ktr__reader_begun begun;
	int rc = 0;

	for (unsigned i = 0; !rc && ktr__reader_begun(ship->reader, &i, &begun);) {
		const struct ktr_event event = { .time_ns = begun.time_ns, .cpu = begun.cpu,
						 .keep = begun.keep != 0 };
		int stream = ship_state_stream(&ship->state, begun.stream);

		rc = stream < 0 ? stream : ship_rows_removed(ship, &event, begun.n_gone, begun.until,
							     &ship->state.stream[stream]);
	}
	return rc;
}

int ship_rows_is_full(const struct ship *ship)
{
	size_t n = native_bytes_so_far(&ship->events) + native_bytes_so_far(&ship->counters);

	if (ship_rows_are_many(ship))
		return 1;
	for (unsigned i = 0; i < ship->n_days; i++)
		n += native_bytes_so_far(&ship->days[i].spans);
	return n >= SHIP_BATCH_BYTES;
}

int ship_rows_is_next_day(const struct ship *ship, const struct ktr_event *event)
{
	return ship_rows_are_there(ship) &&
	       ship_rows_day(ship_rows_ts(ship, event->time_ns)) != ship->day;
}

int ship_rows_part(struct ship *ship, struct ship_part *part, enum schema_table table,
		   struct native_block *block, struct native_buffer *bytes)
{
	struct frame_writer writer = { .out = bytes, .known = &ship->known };
	int rc;

	part->table = table;
	native_buffer_text(&part->query, "INSERT INTO ");
	native_buffer_text(&part->query, ship->store->options.database);
	native_buffer_text(&part->query, ".");
	native_buffer_text(&part->query, schema_name(table));
	native_buffer_text(&part->query, " (");
	native_buffer_room(bytes, block->packed.n + SHIP_PART_BYTES);
	part->at = bytes->n;
	rc = native_names(block, &part->query);
	if (!rc)
		part->query.n--; /* its NUL */
	native_buffer_text(&part->query, ") FORMAT Native");
	native_buffer_add(&part->query, "", 1);
	if (!rc)
		rc = native_pour(block, frame_put, &writer);
	if (frame_end(&writer))
		rc = -ENOMEM;
	part->n = bytes->n - part->at;
	return rc ? rc : part->query.failed ? -ENOMEM : 0;
}

/* The block's part, and where its first row is; the block is empty then. */
static int ship_rows_take(struct ship *ship, struct ship_batch *batch, enum schema_table table,
			  struct native_block *block, struct native_buffer *where, uint64_t n_counted)
{
	struct ship_part *part = &batch->part[batch->n_parts];
	int rc;

	if (!block->n_rows)
		return 0;
	rc = ship_rows_part(ship, part, table, block, &batch->bytes);
	part->n_counted = n_counted;
	native_buffer_add(&part->where, where->at, where->n);
	batch->n_parts++;
	native_clear(block);
	return rc ? rc : part->where.failed ? -ENOMEM : 0;
}

int ship_rows_batch(struct ship *ship, struct ship_batch *batch)
{
	int rc = ship_batch_begin(batch);

	if (!rc)
		rc = ship_rows_silent(ship);
	if (!rc)
		rc = ship_spans_put(ship);
	if (!rc)
		rc = ship_counters_put(ship);
	if (!rc)
		rc = ship_columns_words(ship);
	if (!rc)
		rc = ship_rows_take(ship, batch, SCHEMA_EVENTS_TABLE, &ship->events, &ship->where,
				    ship->events.n_rows);
	if (!rc)
		rc = ship_rows_take(ship, batch, SCHEMA_COUNTERS_TABLE, &ship->counters, &ship->counters_where, 0);
	if (!rc)
		rc = ship_rows_take(ship, batch, SCHEMA_LOSSES_TABLE, &ship->gone, &ship->gone_where, 0);
	for (unsigned i = 0; i < ship->n_days && !rc; i++)
		rc = ship_rows_take(ship, batch, SCHEMA_SPANS_TABLE, &ship->days[i].spans, &ship->days[i].where,
				    ship->days[i].n_counted);
	ship->n_span_rows = 0;
	ship->n_worded = 0;
	ship->fill++;
	ship->events_numbers = 0;
	return rc;
}
