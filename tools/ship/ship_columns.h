/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of events that lie in a packet, many at once. */
#ifndef SHIP_COLUMNS_H
#define SHIP_COLUMNS_H

#include "tools/ship/ship.h"

#include "analyze/read/reader.h"

/*
 * Makes rows of the lot's events up to a moment, as far as they are as most are, and moves its walk on. How many,
 * which may be none: the next one is later, or one that ship_rows_event() is for; -ENOMEM.
 */
int64_t ship_columns(struct ship *ship, const struct ktr__reader_lot *lot, const struct ship_stream *stream,
		     uint64_t until_ns);

void ship_columns_close(struct ship *ship);

#endif
