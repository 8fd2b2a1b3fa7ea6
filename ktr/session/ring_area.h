/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the entries of rings lie, and who may rely on their memory.
 *
 * Each ring has room for two areas of its largest size; a change of size alternates between them, and the memory of
 * the one that is left is given back. Who reads entries through a mapping holds their area with a lock that others
 * may share; only who has it alone gives the memory back, after ring.geom has gone elsewhere. Who holds an area
 * looks at geom again: where that has moved meanwhile, there may be nothing to hold.
 */
#ifndef KTR_RING_AREA_H
#define KTR_RING_AREA_H

#include <ktr/session.h>

#include <stdbool.h>
#include <stdint.h>

/* [bytes] of 2^log2 entries, as they are aligned. */
uint64_t ktr__ring_bytes(unsigned log2);

/* Where the two areas of ring `index` begin, and how long each is [bytes]. */
uint64_t ktr__ring_area(const struct ktr_header *header, uint32_t index, uint64_t *bytes);

/* Does a size fit an area of so many bytes? Sizes asked for lie in the session: any number may come. */
bool ktr__ring_size_valid(uint32_t log2, uint64_t bytes);

/* Does the geom word point into the ring's own areas? */
bool ktr__ring_geom_valid(const struct ktr_header *header, uint32_t index, uint64_t geom);

/*
 * Locks of single bytes of a session's file: of who changes rings, who feeds the kernel's events, and, at the
 * offset of an area, of who holds that.
 */
#define KTR__LOCK_RESIZE 0
#define KTR__LOCK_FEEDER 1

/*
 * type: F_RDLCK, F_WRLCK or F_UNLCK of fcntl(2). The lock is the open file's ("Open file description locks"), and
 * ends with it. 0, -EBUSY: somebody else has it, or -errno.
 */
int ktr__byte_lock(int fd, uint64_t at, int type);

#endif
