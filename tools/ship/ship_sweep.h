/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that lies there as a whole, stream by stream. */
#ifndef SHIP_SWEEP_H
#define SHIP_SWEEP_H

#include "tools/ship/ship.h"

/* Can it be shipped so? Then it is from here on. 1, 0, or -errno with err filled. */
int ship_sweep_begin(struct ship *ship, struct ktr_error *err);

/* Goes on with it for a while. 0, 1: nothing is left of it, or -errno with err filled. */
int ship_sweep_step(struct ship *ship, struct ktr_error *err);

#endif
