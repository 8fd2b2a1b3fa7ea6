/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks: what the gates see. Everything is one word each in the control page, so that a change is one
 * store and takes effect at the next event, with no thread and no signal in the traced program. The
 * gate is stored last when classes are added and first when they are taken away: an event that passes
 * it meets words that already speak of it, or is dropped as off. What was asked for is stored before that, in
 * words of its own, and anything else follows from them.
 */
#include "ktr/control/mask.h"

#include "ktr/control/rings.h"
#include "ktr/session/ring_area.h"
#include "ktr/session/session_again.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A place where a test lets somebody else change something. */
#ifndef KTR_INJECT
#define KTR_INJECT(place) ((void)0)
#endif

#define MASK_TRIES 1000 /* nobody keeps us here */

/* The words that events look at, from those that say what was asked for. */
static void mask_derive(struct ktr__session_rw *session)
{
	struct ktr_control *control = session->control;
	uint64_t record = __atomic_load_n(&control->asked, __ATOMIC_RELAXED);
	uint64_t count = __atomic_load_n(&control->count, __ATOMIC_RELAXED);
	uint64_t sites = __atomic_load_n(&control->site_masks, __ATOMIC_RELAXED);
	uint64_t keep = __atomic_load_n(&control->keep, __ATOMIC_RELAXED);
	uint64_t gate = record | count | sites;
	uint32_t frozen = __atomic_load_n(&control->frozen, __ATOMIC_RELAXED);
	/* Whoever has passed the gate and is not special is recorded. */
	uint64_t special = keep | count | (sites & ~record);

	/* A thread's ring has events of all CPUs: there each event asks. */
	if (session->header.path == KTR_PATH_THREAD && __atomic_load_n(&control->cpus_part, __ATOMIC_RELAXED))
		special = ~0ull;
	/* Rings that stop soon count what they take. */
	if (frozen)
		special = ~0ull;
	if (frozen == KTR_FROZEN_YES)
		gate = 0;
	KTR_INJECT(1);
	__atomic_fetch_and(&control->gate, gate, __ATOMIC_RELAXED);
	KTR_INJECT(2);
	__atomic_store_n(&control->special, special, __ATOMIC_RELAXED);
	KTR_INJECT(3);
	__atomic_store_n(&control->record, record & ~count, __ATOMIC_RELAXED);
	KTR_INJECT(4);
	__atomic_store_n(&control->gate, gate, __ATOMIC_RELEASE);
	KTR_INJECT(5);
}

/*
 * Anybody may be at this at the same time, in a signal handler too. So each counts its change and derives the words
 * anew until nobody else has counted one meanwhile: whoever is last has seen what all of them asked for.
 */
void ktr__mask_publish(struct ktr__session_rw *session)
{
	uint64_t *changes = &session->control->generation, change = 0, now;

	now = __atomic_add_fetch(changes, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < MASK_TRIES && now != change; i++) {
		change = now;
		mask_derive(session);
		now = __atomic_load_n(changes, __ATOMIC_SEQ_CST);
	}
	/* A site that was looked at between the two has met old words under the new number. */
	__atomic_add_fetch(changes, 1, __ATOMIC_SEQ_CST);
}

int ktr__session_mask_set(struct ktr__session_rw *session, uint64_t mask, struct ktr_error *err)
{
	if (mask) {
		int code = ktr__rings_open(session, 0, err);

		if (code)
			return code;
	}
	__atomic_store_n(&session->control->asked, mask, __ATOMIC_SEQ_CST);
	KTR_INJECT(6);
	ktr__mask_publish(session);
	return 0;
}

int ktr__session_mask_change(struct ktr__session_rw *session, uint64_t set, uint64_t clear, struct ktr_error *err)
{
	if (set) {
		int code = ktr__rings_open(session, 0, err);

		if (code)
			return code;
	}
	__atomic_fetch_or(&session->control->asked, set, __ATOMIC_SEQ_CST);
	__atomic_fetch_and(&session->control->asked, ~clear, __ATOMIC_SEQ_CST);
	ktr__mask_publish(session);
	return 0;
}

uint64_t ktr__session_classes(const struct ktr__session_rw *session)
{
	uint32_t n = ktr__session_n_sites(session);
	uint64_t classes = 0;

	for (uint32_t i = 1; i < n; i++) {
		const struct ktr_site_row *row = ktr__session_ready(session, KTR_REGION_site, i);

		classes |= row ? row->mask : 0;
	}
	return classes;
}

/* Is ring i, main or keep, to be closed now? Stopping, each is when it has had its share: see freeze.c. */
static bool mask_closes(const struct ktr__session_rw *session, uint32_t i)
{
	uint32_t frozen = __atomic_load_n(&session->control->frozen, __ATOMIC_SEQ_CST);

	return frozen == KTR_FROZEN_YES ||
	       (frozen == KTR_FROZEN_SOON &&
		__atomic_load_n(&session->rings[i].stop, __ATOMIC_RELAXED) & KTR_RING_FULL) ||
	       !ktr__cpu_wanted(session->control, i % session->header.n_rings);
}

/*
 * Whoever changes frozen, the cpumask, or the geom word itself comes here after that, and looks again after
 * having changed the word: whoever is last has seen what all of them wanted.
 */
void ktr__ring_gate(struct ktr__session_rw *session, uint32_t i)
{
	uint64_t *word = &session->rings[i].geom;
	bool closed;
	int n = 0;

	do {
		closed = mask_closes(session, i);
		KTR_INJECT(7);
		if (!KTR_GEOM_LOG2(__atomic_load_n(word, __ATOMIC_SEQ_CST)))
			return;
		if (closed)
			__atomic_fetch_or(word, KTR_GEOM_CLOSED, __ATOMIC_SEQ_CST);
		else
			__atomic_fetch_and(word, ~KTR_GEOM_CLOSED, __ATOMIC_SEQ_CST);
	} while (closed != mask_closes(session, i) && ++n < MASK_TRIES);
}

void ktr__rings_gate(struct ktr__session_rw *session)
{
	for (uint32_t i = 0; session->header.path == KTR_PATH_RSEQ && i < 2 * session->header.n_rings; i++)
		ktr__ring_gate(session, i);
}

/*
 * Rings of CPUs that are left out are closed by their geom word, so that recording pays nothing for the
 * question: an event there takes the cold path and is dropped, uncounted. That word may change under a
 * sequence on its CPU, which then commits one event more. Whoever opens or validates a ring asks the
 * mask after that, and we store the mask before we look at the ring, so that one of us sees the other.
 */
int ktr__cpumask_set(struct ktr__session_rw *session, const uint64_t *bits, struct ktr_error *err)
{
	struct ktr_control *control = session->control;
	uint32_t part = 0;
	int lock = -1;

	if (memcmp(control->cpumask, bits, sizeof(control->cpumask)) == 0)
		return 0;
	/* A change of size would put the old word's bit into the new one. */
	if (session->header.path == KTR_PATH_RSEQ && __atomic_load_n(&control->rings_open, __ATOMIC_ACQUIRE)) {
		lock = ktr__session_lock(session, KTR__LOCK_RESIZE);
		if (lock < 0)
			return ktr_error_set(err, -lock, "somebody else is changing the rings: %m");
	}
	for (unsigned i = 0; i < KTR_CPU_MAX / 64; i++) {
		__atomic_store_n(&control->cpumask[i], bits[i], __ATOMIC_SEQ_CST);
		part |= bits[i] != ~0ull;
	}
	__atomic_store_n(&control->cpus_part, part, __ATOMIC_SEQ_CST);
	if (lock >= 0) {
		ktr__rings_gate(session);
		close(lock);
	}
	ktr__mask_publish(session);
	return 0;
}
