/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session has recorded and what it has not, summed over its rings. */
#include "ktr/control/stats.h"

#include "ktr/session/session_rw.h"

/* A ring's events are its slots less its continuations, both of one moment: head is read around cont. */
#define STATS_TRIES 1000

uint64_t ktr__ring_moment(const struct ktr_ring *ring, uint64_t *conts)
{
	uint64_t head;
	int tries = 0;

	do {
		head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		*conts = __atomic_load_n(&ring->cont[head & 1], __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) != head && ++tries < STATS_TRIES);
	return head >> 1;
}

uint64_t ktr__session_recorded(const struct ktr__session_rw *session)
{
	uint64_t sum = 0, conts;

	for (uint32_t i = 0; i < KTR_RING_KINDS * session->header.n_rings; i++) {
		sum += ktr__ring_moment(&session->rings[i], &conts);
		sum -= conts;
	}
	return sum;
}

uint64_t ktr__session_dropped(const struct ktr__session_rw *session)
{
	const struct ktr_control *control = session->control;
	uint64_t sum = ktr__load_word(&control->drop_vfork) + ktr__load_word(&control->drop_no_ring) +
		       ktr__load_word(&control->drop_nested) + ktr__load_word(&control->drop_no_site) +
		       ktr__load_word(&control->drop_closed);

	for (uint32_t i = 0; i < KTR_RING_KINDS * session->header.n_rings; i++)
		sum += ktr__load_word(&session->rings[i].dropped);
	return sum;
}
