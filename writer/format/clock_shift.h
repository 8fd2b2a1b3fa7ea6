/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CLOCK_MONOTONIC is another one in each time namespace (time_namespaces(7)), the ticks of the CPU and the wall
 * clock are not. A session's times are those of its first anchor; who looks at it from another namespace shifts
 * its own.
 */
#ifndef WRITER_CLOCK_SHIFT_H
#define WRITER_CLOCK_SHIFT_H

#include <ktr/session.h>

#define KTR__CLOCK_SHIFT_NS 1000000000 /* offsets below it, and drifts of clocks, are not told from each other */

/* Do the clocks disagree about how much later `now` is? One was set, or the anchors are of two namespaces. */
static inline int ktr__clock_differs(const struct ktr_anchor *first, const struct ktr_anchor *now)
{
	int64_t apart = (int64_t)(now->mono_ns - first->mono_ns - (now->utc_ns - first->utc_ns));

	return first->mono_ns && first->utc_ns && (apart > KTR__CLOCK_SHIFT_NS || apart < -KTR__CLOCK_SHIFT_NS);
}

/*
 * [ns] What to add to our CLOCK_MONOTONIC: where the ticks agree with the wall clock and not with it, it is of
 * another namespace; else the wall clock was set. ticks_per_s need not be exact.
 */
static inline int64_t ktr__clock_shift(const struct ktr_anchor *first, const struct ktr_anchor *now,
				       uint64_t ticks_per_s)
{
	int64_t mono = (int64_t)(now->mono_ns - first->mono_ns), utc = (int64_t)(now->utc_ns - first->utc_ns);
	double passed = (double)(int64_t)(now->ticks - first->ticks) * 1e9 / (double)(int64_t)ticks_per_s;
	double most = KTR__CLOCK_SHIFT_NS + passed / 50;

	if (!ticks_per_s || (passed - (double)mono < most && (double)mono - passed < most) ||
	    passed - (double)utc > most || (double)utc - passed > most)
		return 0;
	return utc - mono;
}

#endif
