/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks: what the gates see. Everything is one word each in the control page, so that a change is one
 * store and takes effect at the next event, with no thread and no signal in the traced program. The
 * gate is stored last when classes are added and first when they are taken away: an event that passes
 * it meets words that already speak of it, or is dropped as off.
 */
#include "ktr/session_rw.h"

void ktr__mask_publish(struct ktr__session *session, uint64_t record)
{
	struct ktr_control *control = session->control;
	uint64_t count = __atomic_load_n(&control->count, __ATOMIC_RELAXED);
	uint64_t sites = __atomic_load_n(&control->site_masks, __ATOMIC_RELAXED);
	uint64_t keep = __atomic_load_n(&control->keep, __ATOMIC_RELAXED);
	uint64_t gate = record | count | sites;
	/* The hot path knows one clock, the counter, read for every event. */
	bool plain = !__atomic_load_n(&control->clock_log2, __ATOMIC_RELAXED) &&
		     session->header.clock != KTR_CLOCK_MONOTONIC;

	if (__atomic_load_n(&control->frozen, __ATOMIC_RELAXED))
		gate = 0;
	__atomic_store_n(&control->asked, record, __ATOMIC_RELAXED);
	__atomic_fetch_and(&control->gate, gate, __ATOMIC_RELAXED);
	__atomic_store_n(&control->special, plain ? keep | count : ~0ull, __ATOMIC_RELAXED);
	__atomic_store_n(&control->record, record & ~count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&control->generation, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&control->gate, gate, __ATOMIC_RELEASE);
}

int ktr__mask_set(struct ktr__session *session, uint64_t mask, struct ktr_error *err)
{
	if (mask) {
		int code = ktr__rings_open(session, 0, err);

		if (code)
			return code;
	}
	ktr__mask_publish(session, mask);
	return 0;
}
