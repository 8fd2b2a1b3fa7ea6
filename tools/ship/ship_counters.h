/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of counters. */
#ifndef SHIP_COUNTERS_H
#define SHIP_COUNTERS_H

#include "tools/ship/ship.h"

/* What a counter tells. 0 or -ENOMEM. */
int ship_counters_event(struct ship *ship, const struct ktr_event *event, const struct ship_stream *stream);

/* Has all rows in their block. 0 or -ENOMEM. */
int ship_counters_put(struct ship *ship);

void ship_counters_close(struct ship *ship);

#endif
