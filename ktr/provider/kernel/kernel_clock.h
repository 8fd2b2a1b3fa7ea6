/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's clock, and the session's. */
#ifndef KTR_KERNEL_CLOCK_H
#define KTR_KERNEL_CLOCK_H

#include <stdint.h>
#include <time.h>

struct ktr__kernel_moment {
	uint64_t ns;	/* perf's clock */
	uint64_t ticks; /* the session's; both 0 where that is perf's */
};

uint64_t ktr__kernel_clock_ns(clockid_t clock);

/* Both at one moment. session_clock: KTR_CLOCK_*. */
struct ktr__kernel_moment ktr__kernel_moment(uint32_t session_clock, clockid_t clock);

/* By the line through two moments, and not beyond them. */
uint64_t ktr__kernel_ticks(const struct ktr__kernel_moment *a, const struct ktr__kernel_moment *b, uint64_t ns);

#endif
