/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU's clock as the recorder reads it. */
#ifndef TESTS_BENCH_TICKS_H
#define TESTS_BENCH_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t event_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* No serialising instruction in the loop: it is how the recorder reads the clock. */
static inline uint64_t event_ticks(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return event_monotonic();
#endif
}

#endif
