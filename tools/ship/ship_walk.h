/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace, from its beginning to its end. */
#ifndef SHIP_WALK_H
#define SHIP_WALK_H

#include "tools/ship/ship.h"

/* Ships the trace at ship->path. 0 or -errno with err filled. */
int ship_walk(struct ship *ship, struct ktr_error *err);

#endif
