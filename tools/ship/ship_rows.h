/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of events and losses, and batches of all rows. */
#ifndef SHIP_ROWS_H
#define SHIP_ROWS_H

#include "tools/ship/ship.h"

void ship_rows_open(struct ship *ship);
void ship_rows_close(struct ship *ship);

/* The trace is known, which all rows of events and counters tell. */
void ship_rows_trace(struct ship *ship);

/* Rows of an event, a loss. 0 or -ENOMEM. */
int ship_rows_event(struct ship *ship, const struct ktr_event *event, const struct ship_stream *stream);
int ship_rows_loss(struct ship *ship, const struct ktr_loss *loss);

/* n events of the stream before this one were gone before they were shipped. */
int ship_rows_gone(struct ship *ship, const struct ktr_event *event, uint64_t n);

/* Likewise, of its stream up to the number `until`, unless it has been said. The stream goes on there. */
int ship_rows_removed(struct ship *ship, const struct ktr_event *event, uint64_t n, uint64_t until,
		      struct ship_stream *stream);

/* The next row of events is this one's: if it is the batch's first, the batch is of its day and found by it. */
void ship_rows_begin(struct ship *ship, const struct ship_stream *stream, int64_t ts, uint64_t idx);

/* A row of events or counters comes: the first one of a batch tells which day it is of. */
void ship_rows_is_of(struct ship *ship, int64_t ts);

const char *ship_rows_kind(const struct ktr_reader_site *site);

static inline int64_t ship_rows_ts(const struct ship *ship, uint64_t ns)
{
	return (int64_t)ns + ship->utc_offset_ns;
}

/* Days since 1970, of times before that, too; and how many ns of its day come after a moment of the trace. */
int64_t ship_rows_day(int64_t ts);
uint64_t ship_rows_day_left(const struct ship *ship, uint64_t ns);

static inline int ship_rows_are_many(const struct ship *ship)
{
	return ship->events.n_rows >= SHIP_BATCH_ROWS || ship->counters.n_rows >= SHIP_BATCH_ROWS ||
	       ship->n_span_rows >= SHIP_BATCH_ROWS;
}

/* Is it time to send what there is; would the event be in another day than those there are? */
int ship_rows_is_full(const struct ship *ship);
int ship_rows_is_next_day(const struct ship *ship, const struct ktr_event *event);

/* Makes the batch of what there is, and empties the blocks. 0 or -ENOMEM. */
int ship_rows_batch(struct ship *ship, struct ship_batch *batch);

/* A block and what inserts it, compressed and appended to `bytes`. 0 or -ENOMEM. */
int ship_rows_part(struct ship *ship, struct ship_part *part, enum schema_table table,
		   struct native_block *block, struct native_buffer *bytes);

#endif
