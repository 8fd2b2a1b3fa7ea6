/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock is the whole price of an event, so the CPU's own counter is used wherever it can be
 * trusted, read plainly: nothing serialising. It can be trusted when it runs at one rate in all states
 * of the CPU (invariant) and when the kernel itself keeps time by it (clocksource tsc: it has checked that
 * all CPUs agree). Otherwise CLOCK_MONOTONIC, which costs two to three times as much. Where reading it traps
 * (PR_SET_TSC) there is no clock: the C library reads the same counter for that.
 */
#include "ktr/session/clock.h"

#include "ktr/arch/arch.h"
#include "ktr/session/kernel.h"

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define CLOCKSOURCE_FILE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static bool clock_trusted(void)
{
	unsigned a, b, c, d;
	char name[32];

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8)) /* invariant */
		return false;
	/* No sysfs, as in some containers: the CPU's word counts. */
	return !ktr__kernel_text(CLOCKSOURCE_FILE, name, sizeof(name)) || strncmp(name, "tsc", 3) == 0;
}

uint64_t ktr__clock_hz(uint32_t clock)
{
	unsigned denominator, numerator, crystal, d;

	if (clock == KTR_CLOCK_MONOTONIC)
		return 1000000000;
	/* Intel SDM, CPUID leaf 15H: the counter's rate is crystal * numerator / denominator. */
	if (__get_cpuid_count(0x15, 0, &denominator, &numerator, &crystal, &d) && denominator &&
	    numerator && crystal)
		return (uint64_t)crystal * numerator / denominator;
	return 0;
}
#elif defined(__aarch64__)
/* The generic timer has one rate and one value for all CPUs. */
static bool clock_trusted(void)
{
	return true;
}

uint64_t ktr__clock_hz(uint32_t clock)
{
	uint64_t hz;

	if (clock == KTR_CLOCK_MONOTONIC)
		return 1000000000;
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}
#else
static bool clock_trusted(void)
{
	return false;
}

uint64_t ktr__clock_hz(uint32_t clock)
{
	return clock == KTR_CLOCK_MONOTONIC ? 1000000000 : 0;
}
#endif

uint32_t ktr__clock_choose(uint32_t wanted)
{
	int traps = 0;

	if (prctl(PR_GET_TSC, &traps) == 0 && traps == PR_TSC_SIGSEGV)
		return 0;
	if (wanted)
		return wanted;
	return clock_trusted() ? KTR_ARCH_CLOCK : KTR_CLOCK_MONOTONIC;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* [ns] What our time namespace adds to CLOCK_MONOTONIC, + 1; 0: nobody has looked. */
static uint64_t clock_offset;

/* "monotonic   100000   0", time_namespaces(7); the file is not there where nothing is added. */
static __attribute__((noinline)) uint64_t clock_look(void)
{
	char text[64], *at = text + strlen("monotonic");
	uint64_t offset = 1;

	if (ktr__kernel_text("/proc/self/timens_offsets", text, sizeof(text)) > strlen("monotonic")) {
		offset += strtoull(at, &at, 10) * 1000000000;
		offset += strtoull(at, NULL, 10);
	}
	__atomic_store_n(&clock_offset, offset, __ATOMIC_RELAXED);
	return offset;
}

void ktr__clock_forget(void)
{
	__atomic_store_n(&clock_offset, 0, __ATOMIC_RELAXED);
}

static uint64_t clock_mono(void)
{
	uint64_t offset = __atomic_load_n(&clock_offset, __ATOMIC_RELAXED);

	if (__builtin_expect(!offset, 0))
		offset = clock_look();
	return clock_ns(CLOCK_MONOTONIC) + 1 - offset;
}

uint64_t ktr__clock_now(uint32_t clock)
{
	return clock == KTR_CLOCK_MONOTONIC ? clock_mono() : ktr__ticks();
}

void ktr__clock_anchor(uint32_t clock, struct ktr_anchor *anchor)
{
	uint64_t best = UINT64_MAX;

	/* Nine tries: an interrupt in between spoils one, hardly all. */
	for (int i = 0; i < 9; i++) {
		uint64_t before = ktr__clock_now(clock);
		uint64_t mono = clock_mono();
		uint64_t after = ktr__clock_now(clock);

		if (after - before >= best)
			continue;
		best = after - before;
		anchor->ticks = clock == KTR_CLOCK_MONOTONIC ? mono : before + best / 2;
		anchor->mono_ns = mono;
		anchor->utc_ns = clock_ns(CLOCK_REALTIME) - (clock_mono() - mono);
	}
}

void ktr__nap(void)
{
	poll(NULL, 0, 1);
}
