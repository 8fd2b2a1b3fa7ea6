/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel ring as its feeder writes it: it has one writer, like the ring of a thread (ktr/record/record.c): entry
 * first, then head with release.
 */
#ifndef KTR_KERNEL_WRITE_H
#define KTR_KERNEL_WRITE_H

#include <ktr/session.h>

#include <stddef.h>
#include <stdint.h>

struct ktr__session_rw;

#define KTR__KERNEL_WORDS (KTR_ENTRY_BYTES / 8)

struct ktr__kernel_ring {
	struct ktr_ring *ring; /* NULL: this CPU has none */
	char *base;
	uint64_t mask; /* [bytes] */
	unsigned room; /* [records] taken in a round */
	uint64_t last; /* [ticks] */
};

/* That of a CPU, populated for this process. */
void ktr__kernel_ring_open(struct ktr__session_rw *session, struct ktr__kernel_ring *ring, uint32_t cpu);

/*
 * An event of n slots, published as one: the first is an entry, which gets its time here, so that times do not go
 * back; of those behind it the first word is written here.
 */
void ktr__kernel_ring_write(struct ktr__kernel_ring *ring, uint64_t ticks,
			    const uint64_t (*slot)[KTR__KERNEL_WORDS], unsigned n);

#endif
