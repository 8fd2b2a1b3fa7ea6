/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of spans. */
#ifndef SHIP_SPANS_H
#define SHIP_SPANS_H

#include "tools/ship/ship.h"

/* A span has ended: a ktr__span_fn; context: the ship. 0 or -ENOMEM. */
int ship_spans_span(void *context, const struct ktr__span *span);

/* Has all rows in their blocks. 0 or -ENOMEM. */
int ship_spans_put(struct ship *ship);

void ship_spans_close(struct ship *ship);

#endif
