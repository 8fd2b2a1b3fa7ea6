/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/kernel/kernel_clock.h"

#include "ktr/session/clock.h"

#define CLOCK_TRIES 9

uint64_t ktr__kernel_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct ktr__kernel_moment ktr__kernel_moment(uint32_t session_clock, clockid_t clock)
{
	struct ktr__kernel_moment best = { 0, 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < CLOCK_TRIES && session_clock != KTR_CLOCK_MONOTONIC; i++) {
		uint64_t from = ktr__clock_now(session_clock), ns = ktr__kernel_clock_ns(clock);
		uint64_t to = ktr__clock_now(session_clock);

		if (to - from >= shortest)
			continue;
		shortest = to - from;
		best = (struct ktr__kernel_moment){ ns, from + shortest / 2 };
	}
	return best;
}

uint64_t ktr__kernel_ticks(const struct ktr__kernel_moment *a, const struct ktr__kernel_moment *b, uint64_t ns)
{
	__extension__ unsigned __int128 ticks;

	if (b->ns <= a->ns || ns >= b->ns)
		return b->ns ? b->ticks : ns; /* the session's clock is perf's */
	if (ns <= a->ns)
		return a->ticks;
	ticks = (unsigned __int128)(ns - a->ns) * (b->ticks - a->ticks);
	return a->ticks + (uint64_t)(ticks / (b->ns - a->ns));
}
