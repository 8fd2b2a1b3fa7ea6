/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session has recorded and what it has not. */
#ifndef KTR_STATS_H
#define KTR_STATS_H

#include "ktr/session/session_rw.h"

/* A ring's head and the continuations before it, both of one moment [slots]. */
uint64_t ktr__ring_moment(const struct ktr_ring *ring, uint64_t *conts);

/* [events] of all rings since the session began, and those that could not be recorded. */
uint64_t ktr__session_recorded(const struct ktr__session_rw *session);
uint64_t ktr__session_dropped(const struct ktr__session_rw *session);

#endif
