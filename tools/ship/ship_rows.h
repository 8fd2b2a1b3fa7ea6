/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of events, spans and losses. */
#ifndef SHIP_ROWS_H
#define SHIP_ROWS_H

#include "tools/ship/ship.h"

void ship_rows_open(struct ship *ship);
void ship_rows_close(struct ship *ship);

/* Rows of an event, a span, a counter, a loss. 0 or -ENOMEM. */
int ship_rows_event(struct ship *ship, const struct ktr_event *event, const struct ship_stream *stream);
int ship_rows_span(void *context, const struct ktr__span *span); /* a ktr__span_fn; context: the ship */
int ship_rows_counter(struct ship *ship, const struct ktr_event *event, const struct ship_stream *stream);
int ship_rows_loss(struct ship *ship, const struct ktr_loss *loss);

/* n events of the stream before this one were gone before they were shipped. */
int ship_rows_gone(struct ship *ship, const struct ktr_event *event, uint64_t n);

/* Is it time to send what there is; would the event be in another day than those there are? */
int ship_rows_is_full(const struct ship *ship);
int ship_rows_is_next_day(const struct ship *ship, const struct ktr_event *event);

/* Makes the batch of what there is, and empties the blocks. 0 or -ENOMEM. */
int ship_rows_batch(struct ship *ship, struct ship_batch *batch);

/* A block and what inserts it, compressed. 0 or -ENOMEM. */
int ship_rows_part(const struct ship *ship, struct ship_part *part, enum schema_table table,
		   struct native_block *block);

#endif
