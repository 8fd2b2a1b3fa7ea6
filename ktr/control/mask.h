/* SPDX-License-Identifier: BSD-2-Clause */
/* Which classes and CPUs record. */
#ifndef KTR_MASK_H
#define KTR_MASK_H

#include "ktr/session/session_rw.h"

#include <ktr/error.h>

/*
 * Publishes what follows from control.asked, count, site_masks, keep and frozen, one of which has been stored;
 * rings must be open. Any number of threads and processes at once; async-signal-safe.
 */
void ktr__mask_publish(struct ktr__session_rw *session);

/* Opens rings if any class is asked for, then publishes. 0 or -errno. */
int ktr__session_mask_set(struct ktr__session_rw *session, uint64_t mask, struct ktr_error *err);

/* The same, but what others set or clear at the same time is not undone. `clear` wins over `set`. */
int ktr__session_mask_change(struct ktr__session_rw *session, uint64_t set, uint64_t clear, struct ktr_error *err);

/* The classes that have call sites. */
uint64_t ktr__session_classes(const struct ktr__session_rw *session);

/* Only CPUs of bits[] (KTR_CPU_MAX of them) record from now on. 0 or -errno: -EBUSY. */
int ktr__cpumask_set(struct ktr__session_rw *session, const uint64_t *bits, struct ktr_error *err);

/* Closes the rings of CPUs that are left out, all of them while frozen, and opens the others. Async-signal-safe. */
void ktr__ring_gate(struct ktr__session_rw *session, uint32_t index);
void ktr__rings_gate(struct ktr__session_rw *session);

/* May this CPU record? */
static inline bool ktr__cpu_wanted(const struct ktr_control *control, uint32_t cpu)
{
	return __atomic_load_n(&control->cpumask[cpu / 64 % (KTR_CPU_MAX / 64)], __ATOMIC_SEQ_CST) >>
		       cpu % 64 & 1;
}

#endif
