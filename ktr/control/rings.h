/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of a session's rings: made, and changed in size, by whoever controls it. */
#ifndef KTR_RINGS_H
#define KTR_RINGS_H

#include "ktr/session/session_rw.h"

#include <ktr/error.h>

/* [bytes] that shared memory can take yet. */
uint64_t ktr__room(const struct ktr__session_rw *session);

/*
 * Gives those of rings from..to, of these CPUs if given, that have none yet memory of 2^log2 entries, keep rings a
 * sixteenth: all, or none, and then shared memory is as it was. Allocated here, by populating, so that a full file
 * system is this caller's error and never a SIGBUS in somebody's event. 0 or -errno. Async-signal-safe.
 */
int ktr__rings_make(struct ktr__session_rw *session, uint32_t from, uint32_t to, unsigned log2,
		    const uint64_t *cpus);

/*
 * Opens the rings of all online CPUs (rseq path) with 2^entries_log2 entries, 0 for the default, and
 * lets CPUs that come later open their own. Idempotent. 0 or -errno, err says what was short.
 */
int ktr__rings_open(struct ktr__session_rw *session, unsigned entries_log2, struct ktr_error *err);

/*
 * Changes the size of all rings, or of none; keeps what fits. change does it for one that is in use:
 * ktr__ring_resize(). -EBUSY: a CPU may not be entered. The old areas give their memory back; a writer that
 * reads there is waited for, for a second at most.
 */
typedef int ktr__ring_change_fn(struct ktr__session_rw *session, uint32_t index, unsigned log2);
int ktr__rings_resize(struct ktr__session_rw *session, unsigned log2, ktr__ring_change_fn *change,
		      struct ktr_error *err);

/* Where ring `index` goes when it takes 2^log2 entries: populates the area not in use. 0 or -errno. */
int ktr__ring_next_geom(struct ktr__session_rw *session, uint32_t index, uint64_t old, unsigned log2,
			uint64_t *geom);

#endif
