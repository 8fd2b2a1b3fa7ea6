/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rotation removes before it was shipped is kept: a thread of the shipper's links the files of each piece that
 * rotation has moved aside to where analyze/follow/kept.h says. As long as the piece is there too, that takes no
 * room. What has been shipped is dropped; and the oldest where what is kept alone takes more than may be.
 */
#ifndef SHIP_SPOOL_H
#define SHIP_SPOOL_H

#include "tools/ship/ship.h"

/* Of the trace at path, or of all in a folder. bytes: the most that is kept. NULL: none is, and it is said why. */
struct ship_spool *ship_spool_begin(const struct ship *like, const char *path, int is_folder, uint64_t bytes);

/* What is kept stays. Accepts NULL. */
void ship_spool_end(struct ship_spool *spool);

/*
 * Pieces of the trace with numbers below that one have been shipped; UINT32_MAX: all there are, and no others come.
 * Also where nobody keeps any now: somebody may have.
 */
void ship_spool_drop(const struct ship *ship, uint32_t below);

#endif
