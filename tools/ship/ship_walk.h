/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace, from its beginning to its end. */
#ifndef SHIP_WALK_H
#define SHIP_WALK_H

#include "tools/ship/ship.h"

/* Ships the trace at ship->path. 0 or -errno with err filled. */
int ship_walk(struct ship *ship, struct ktr_error *err);

/*
 * The same in steps, for several at a time: begin, step until it is 1, or -errno with err filled, close. A step
 * ends after some events, or when there is nothing more just now, for which it waits so long at most.
 */
int ship_walk_begin(struct ship *ship, struct ktr_error *err);
int ship_walk_step(struct ship *ship, int wait_ms, struct ktr_error *err);
void ship_walk_close(struct ship *ship);

/*
 * For what reads the trace in its own way. The stream of a cursor's event, whose time, CPU and ring tell of what is
 * gone before it; NULL without memory.
 */
struct ship_stream *ship_walk_stream(struct ship *ship, const struct ktr_event *event, unsigned cursor);

/* Before an event of that index: what rotation removed before it, in one batch with it. 0 or -ENOMEM. */
int ship_walk_removed(struct ship *ship, const struct ktr_event *event, uint64_t index, struct ship_stream *stream);

/* An event of a stream, the one after the last: its rows. 0 or -errno with err filled. */
int ship_walk_take(struct ship *ship, const struct ktr_event *event, struct ship_stream *stream,
		   struct ktr_error *err);

/* What is found, an event or anything else. 0, 1: the walk is over, or -errno with err filled. */
int ship_walk_found(struct ship *ship, int what, const struct ktr_event *event, int wait_ms,
		    struct ktr_error *err);

/* From here on there are spans; the first event of all is at that time. 0 or -ENOMEM. */
int ship_walk_spans(struct ship *ship, uint64_t from_ns);

/* Is it time for a batch, and a batch of what there is. 0 or -errno with err filled. */
int ship_walk_is_due(const struct ship *ship);
int ship_walk_flush(struct ship *ship, struct ktr_error *err);

#endif
