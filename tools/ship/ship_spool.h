/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rotation removes before it was shipped is kept: a thread of the shipper's links the files of each piece that
 * rotation has moved aside to where analyze/follow/kept.h says. As long as the piece is there too, that takes no
 * room. What has been shipped is dropped; and the oldest where what is kept alone takes more than may be.
 */
#ifndef SHIP_SPOOL_H
#define SHIP_SPOOL_H

#include <stdint.h>

struct ship_spool;

/* Of the trace at path, or of all in a folder; borrowed. bytes: the most that is kept. NULL: not, and it is said why. */
struct ship_spool *ship_spool_begin(const char *command, const char *path, int is_folder, uint64_t bytes);

/* What is kept stays. Accepts NULL. */
void ship_spool_end(struct ship_spool *spool);

/*
 * Pieces of that trace with numbers below that one have been shipped; UINT32_MAX: all there are, and no others come.
 * spool: NULL: nobody keeps any now, but somebody may have.
 */
void ship_spool_drop(struct ship_spool *spool, const char *trace, const uint8_t uuid[16], uint32_t below);

#endif
