/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/kernel/kernel_write.h"

#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <string.h>

void ktr__kernel_ring_open(struct ktr__session_rw *session, struct ktr__kernel_ring *ring, uint32_t cpu)
{
	const struct ktr_header *header = &session->header;
	struct ktr_ring *head;
	uint64_t offset;
	unsigned log2;
	int code;

	memset(ring, 0, sizeof(*ring));
	if (cpu >= header->n_rings || ktr__header_n_ring_rows(header) < KTR_RING_KINDS * header->n_rings)
		return;
	head = &session->rings[KTR_RING_KERNEL * header->n_rings + cpu];
	if (ktr__geom_check(header, __atomic_load_n(&head->geom, __ATOMIC_ACQUIRE), &offset, &log2))
		return;
	code = ktr__populate(session->map + offset, (uint64_t)KTR_ENTRY_BYTES << log2);
	if (code && code != -ENOSYS)
		return;
	ring->base = session->map + offset;
	ring->mask = ((uint64_t)KTR_ENTRY_BYTES << log2) - KTR_ENTRY_BYTES;
	ring->room = 1u << log2 >> 3; /* of two entries each */
	ring->ring = head;
}

/* The first word is another one than there. */
static void write_slot(const struct ktr__kernel_ring *ring, uint64_t at, uint64_t first, const uint64_t *words)
{
	uint64_t *to = (uint64_t *)(void *)(ring->base + (at & ring->mask));

	__atomic_store_n(to, first, __ATOMIC_RELAXED);
	for (unsigned i = 1; i < KTR__KERNEL_WORDS; i++)
		__atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
}

void ktr__kernel_ring_write(struct ktr__kernel_ring *ring, uint64_t ticks,
			    const uint64_t (*slot)[KTR__KERNEL_WORDS], unsigned n)
{
	uint64_t head = __atomic_load_n(&ring->ring->head, __ATOMIC_SEQ_CST), next = head + 2ull * n;
	uint64_t ordinal = ring->ring->cont[head & 1];

	ring->last = ticks > ring->last ? ticks : ring->last;
	write_slot(ring, head * 32, ring->last, slot[0]);
	for (unsigned i = 1; i < n; i++)
		write_slot(ring, head * 32 + i * (uint64_t)KTR_ENTRY_BYTES, KTR_CONT_MARK | ordinal++, slot[i]);
	if (n > 1) {
		__atomic_store_n(&ring->ring->cont[~head & 1], ordinal, __ATOMIC_RELAXED);
		next ^= 1;
	}
	__atomic_store_n(&ring->ring->head, next, __ATOMIC_RELEASE);
}
