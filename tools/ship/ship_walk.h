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

#endif
