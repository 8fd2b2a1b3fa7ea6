/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a trace has been shipped, and the batch under way, on the disk. */
#ifndef SHIP_STATE_H
#define SHIP_STATE_H

#include "tools/ship/ship.h"

/* Opens the state of the trace and locks it; -EBUSY: another one ships it. 0 or -errno with err filled. */
int ship_state_open(struct ship *ship, struct ktr_error *err);
void ship_state_close(struct ship_state *state);

/* The stream of that name, made if it is not there yet; -ENOMEM. Streams may move. */
int ship_state_stream(struct ship_state *state, const char *name);

/*
 * Writes the batch down, with how far streams are after it: when it returns it is on the disk. 0 or -errno with
 * err filled.
 */
int ship_state_begin(struct ship_state *state, struct ktr_error *err);

/* It is there. 0 or -errno with err filled. */
int ship_state_done(struct ship_state *state, struct ktr_error *err);

/* Writes down that nothing is left. 0 or -errno with err filled. */
int ship_state_finish(struct ship_state *state, struct ktr_error *err);

/*
 * Room for the bytes of a batch, which is that of the one before, of whatever trace, for one is under way at a
 * time; and their end. 0 or -ENOMEM.
 */
int ship_batch_begin(struct ship_batch *batch);
void ship_batch_clear(struct ship_batch *batch);

#endif
