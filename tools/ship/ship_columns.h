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

/*
 * A site's words have their keys in the batch; and all rows of it so far have the words that their sites tell, and
 * the host: all that is left of the block. 0 or -ENOMEM.
 */
int ship_columns_site(struct ship *ship, const struct ktr_reader_site *site);
int ship_columns_words(struct ship *ship);

/* The rows of events so far, which are complete, are packed if there are many. 0 or -ENOMEM. */
int ship_columns_settle(struct ship *ship);

void ship_columns_close(struct ship *ship);

#endif
