/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that calls are led to while a probe needs them, ktr__traced_NAME. Each does what the real one does,
 * with the same result and errno, at the same points of cancellation.
 */
#ifndef KTR_LOCK_TRACED_H
#define KTR_LOCK_TRACED_H

#include "ktr/provider/lock/calls.h"

#include <stdbool.h>

#define LOCK_TRACED(name, parameters, arguments, version, old) int ktr__traced_##name parameters;
KTR__LOCK_CALLS(LOCK_TRACED)
#undef LOCK_TRACED

/* Is it a clock or a time that the real functions refuse before they look at the lock? t may be NULL: no time. */
static inline bool ktr__lock_time_is_bad(clockid_t c, const struct timespec *t)
{
	return (c != CLOCK_REALTIME && c != CLOCK_MONOTONIC) ||
	       (t && (t->tv_nsec < 0 || t->tv_nsec >= 1000000000));
}

#endif
