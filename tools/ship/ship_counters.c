/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters as rows, which are gathered and go to their columns many at a time. */
#include "tools/ship/ship_counters.h"

#include "analyze/read/ktrgraph.h"
#include "conf/kit/array.h"
#include "tools/ship/ship_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_ROWS 1024u /* gathered */

struct ship_counter_row {
	int64_t ts;
	uint64_t idx, value;
	uint32_t cpu, pid, tid;
	uint32_t process, thread, grp, id, site, stream; /* keys */
};

void ship_counters_close(struct ship *ship)
{
	free(ship->counter_row);
	ship->counter_row = NULL;
	ship->counter_room = ship->n_counter_pending = 0;
}

int ship_counters_put(struct ship *ship)
{
	static const struct {
		unsigned column;
		size_t off;
	} columns[] = {
#define COUNTERS_OF(column, member) { COUNTERS_##column, offsetof(struct ship_counter_row, member) }
		COUNTERS_OF(TS, ts), COUNTERS_OF(IDX, idx), COUNTERS_OF(VALUE, value), COUNTERS_OF(CPU, cpu),
		COUNTERS_OF(PID, pid), COUNTERS_OF(TID, tid), COUNTERS_OF(PROCESS, process),
		COUNTERS_OF(THREAD, thread), COUNTERS_OF(GRP, grp), COUNTERS_OF(ID, id), COUNTERS_OF(SITE, site),
		COUNTERS_OF(STREAM, stream),
#undef COUNTERS_OF
	};
	struct native_block *b = &ship->counters;
	uint32_t n = ship->n_counter_pending;

	if (!n)
		return 0;
	for (unsigned i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		native_gather(b, columns[i].column, (const char *)ship->counter_row + columns[i].off,
			      sizeof(*ship->counter_row), n);
	native_numbers(b, COUNTERS_HOST, b->n_rows, native_word_key(b, COUNTERS_HOST, ship->host), n);
	native_numbers(b, COUNTERS_BUILD, b->n_rows, native_word_key(b, COUNTERS_BUILD, ship->build), n);
	native_rows(b, n);
	ship->n_counter_pending = 0;
	return 0;
}

/* Where a row is gathered; NULL without memory. */
static struct ship_counter_row *counters_next(struct ship *ship)
{
	if (ship->n_counter_pending == COUNTERS_ROWS && ship_counters_put(ship))
		return NULL;
	if (ktr__array_grow(&ship->counter_row, &ship->counter_room, ship->n_counter_pending,
			    sizeof(*ship->counter_row)))
		return NULL;
	return &ship->counter_row[ship->n_counter_pending];
}

static void counters_where(struct ship *ship, const struct ship_stream *stream, const char *group,
			   const struct ktr_event_bytes *ident, int64_t ts, uint64_t idx)
{
	struct native_buffer *where = &ship->counters_where;
	char text[200];

	where->n = 0;
	native_buffer_text(where, "host = ");
	store_quote(where, ship->host, strlen(ship->host));
	native_buffer_text(where, " AND grp = ");
	store_quote(where, group, strlen(group));
	native_buffer_text(where, " AND id = ");
	store_quote(where, ident->bytes, ident->n_bytes);
	snprintf(text, sizeof(text), " AND intDiv(ts, 60000000000) = %" PRId64 " AND ts = %" PRId64
		 " AND trace = toUUID('%s') AND idx = %" PRIu64 " AND stream = ",
		 ts / 60000000000, ts, ship->trace, idx);
	native_buffer_text(where, text);
	store_quote(where, stream->name, strlen(stream->name));
	native_buffer_add(where, "", 1);
}

int ship_counters_event(struct ship *ship, const struct ktr_event *event, const struct ship_stream *stream)
{
	const struct ktr_reader_site *site = event->site;
	const struct ktr_reader_thread *thread = event->thread;
	struct ktr_event_bytes ident = event->str[0];
	struct native_block *b = &ship->counters;
	int64_t ts = ship_rows_ts(ship, event->time_ns);
	struct ship_counter_row *row;
	double value = ktr__event_number(event, (unsigned)site->value_arg);
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (site->ident)
		ident = (struct ktr_event_bytes){ site->ident, (uint32_t)strlen(site->ident), 0, 0 };
	ship_rows_is_of(ship, ts);
	if (!b->n_rows && !ship->n_counter_pending)
		counters_where(ship, stream, site->group, &ident, ts, event->index);
	row = counters_next(ship);
	if (!row)
		return -ENOMEM;
	*row = (struct ship_counter_row){ .ts = ts,
					  .idx = event->index,
					  .value = bits,
					  .cpu = event->cpu,
					  .pid = thread->pid,
					  .tid = thread->tid,
					  .process = native_word_key(b, COUNTERS_PROCESS, thread->process),
					  .thread = native_word_key(b, COUNTERS_THREAD, thread->name),
					  .grp = native_word_key(b, COUNTERS_GRP, site->group),
					  .id = native_key_of(b, COUNTERS_ID, ident.bytes, ident.n_bytes),
					  .site = native_word_key(b, COUNTERS_SITE, site->name),
					  .stream = native_key_of(b, COUNTERS_STREAM, stream->name,
								  strlen(stream->name)) };
	ship->n_counter_pending++;
	return ship->counters_where.failed ? -ENOMEM : 0;
}
