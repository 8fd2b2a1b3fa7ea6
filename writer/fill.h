/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots of one ring into packets of its stream. */
#ifndef WRITER_FILL_H
#define WRITER_FILL_H

#include <stdint.h>

struct ktr__drain;

/* [slots] of a batch at most: 64 KiB, which with the buffer's part in use fits any L2 cache. */
#define KTR_FILL_ENTRIES 1024u

/*
 * [slots] of one through a mapping: 16 KiB, which with the next, that is fetched meanwhile, and the packet's page
 * fit an L1 cache. By pread(2) each batch takes several calls.
 */
#define KTR_FILL_NEAR 256u

/* [bytes] Packets written at once; a batch never fills more than what is left at its beginning. */
#define KTR_FILL_BYTES (512u << 10)

/*
 * Takes slots of one ring up to `stop` into packets and appends them to its stream: one buffer full
 * at most. 1 when there is more, 0 when there is not, -errno with everything as before when they
 * could not be written. final: tells of losses even if no event follows them.
 */
int ktr__fill_ring(struct ktr__drain *drain, uint32_t row, uint64_t stop, int final);

#endif
