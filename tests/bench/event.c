/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loops that are timed. Compiled with frame pointers and aligned loops: into the executable, and once
 * more as a shared object. The counter, which is every argument too, passes through an empty asm in each
 * round, so that the compiler neither knows it nor hoists anything; the loops compared with do the same.
 */
#include "bench.h"

#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/probe.h>

#include <string.h>
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

/* The end of a single event: not before everything in front of it has been executed. */
static inline uint64_t event_ticks_after(void)
{
#if defined(__x86_64__)
	uint32_t low, high, aux;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
	return event_ticks();
#else
	return event_ticks();
#endif
}

uint64_t bench_event_ticks(void)
{
	return event_ticks();
}

#define EVENT_OPAQUE(i) __asm__ volatile("" : "+r"(i) : : "memory")

/* One round of each loop. KTR_NET is switched off, KTR_GEN is on; so are the probes. */
#define EVENT_BODY_empty    ((void)0)
#define EVENT_BODY_clock    (sum += event_ticks())
#define EVENT_BODY_monotonic (sum += event_monotonic())
#define EVENT_BODY_gate_off CTR6(KTR_NET, "%ld %ld %ld %ld %ld %ld", i, i, i, i, i, i)
#define EVENT_BODY_probe_off KTR_PROBE_POINT6(KTR_PROBE_CUSTOM, "bench off", i, i, i, i, i, i)
#define EVENT_BODY_probe6   KTR_PROBE_POINT6(KTR_PROBE_CUSTOM, "bench", i, i, i, i, i, i)
#define EVENT_BODY_ctr0	    CTR0(KTR_GEN, "no argument")
#define EVENT_BODY_ctr3	    CTR3(KTR_GEN, "%ld %ld %ld", i, i, i)
#define EVENT_BODY_ctr6	    CTR6(KTR_GEN, "%ld %ld %ld %ld %ld %ld", i, i, i, i, i, i)
#define EVENT_BODY_str16    CTR1(KTR_GEN, "%s", text)
#define EVENT_BODY_stack6   CTRSTACK(KTR_GEN, NULL, 6)

#define EVENT_LOOP(name, base)                                                                   \
	static __attribute__((noinline)) void event_loop_##name(long n)                          \
	{                                                                                        \
		char text[] = "sixteen letters.";                                                \
		uint64_t sum = 0;                                                                \
												 \
		for (long i = 0; i < n; i++) {                                                   \
			EVENT_OPAQUE(i);                                                         \
			EVENT_BODY_##name;                                                       \
		}                                                                                \
		__asm__ volatile("" : : "r"(sum), "r"(text) : "memory");                         \
	}
#define EVENT_SINGLE(name, base)                                                                 \
	static __attribute__((noinline)) void event_single_##name(long n, uint32_t *n_ticks,     \
								  uint32_t n_buckets)            \
	{                                                                                        \
		char text[] = "sixteen letters.";                                                \
		uint64_t sum = 0;                                                                \
												 \
		for (long i = 0; i < n; i++) {                                                   \
			uint64_t ticks = event_ticks();                                          \
												 \
			EVENT_OPAQUE(i);                                                         \
			EVENT_BODY_##name;                                                       \
			ticks = event_ticks_after() - ticks;                                     \
			n_ticks[ticks < n_buckets ? ticks : n_buckets - 1]++;                    \
		}                                                                                \
		__asm__ volatile("" : : "r"(sum), "r"(text) : "memory");                         \
	}
BENCH_EVENT_LIST(EVENT_LOOP)
BENCH_EVENT_LIST(EVENT_SINGLE)
EVENT_LOOP(monotonic, clock) /* the clock of a session that does not trust the CPU's */
#undef EVENT_LOOP
#undef EVENT_SINGLE

static int event_clock_is_monotonic(void)
{
	static int known = -1;
	char name[32];

	if (known < 0)
		known = ktr_get("debug.ktr.clock_source", name, sizeof(name), NULL) == 0 &&
			strcmp(name, "monotonic") == 0;
	return known;
}

static void event_run(enum bench_event event, long n, uint32_t *n_ticks, uint32_t n_buckets)
{
	static const struct {
		void (*loop)(long n);
		void (*single)(long n, uint32_t *n_ticks, uint32_t n_buckets);
	} table[BENCH_EVENTS] = {
#define EVENT_ROW(name, base) { event_loop_##name, event_single_##name },
		BENCH_EVENT_LIST(EVENT_ROW)
#undef EVENT_ROW
	};

	if (n_ticks)
		table[event].single(n, n_ticks, n_buckets);
	else if (event == BENCH_clock && event_clock_is_monotonic())
		event_loop_monotonic(n);
	else
		table[event].loop(n);
}

/* Frames for the stack to be walked: each calls the next and has something left to do behind it. */
#define EVENT_FRAME(name, next)                                                                  \
	static __attribute__((noinline)) void name(enum bench_event event, long n,               \
						   uint32_t *n_ticks, uint32_t n_buckets)        \
	{                                                                                        \
		next(event, n, n_ticks, n_buckets);                                              \
		__asm__ volatile("" : : : "memory");                                             \
	}
EVENT_FRAME(event_frame_4, event_run)
EVENT_FRAME(event_frame_3, event_frame_4)
EVENT_FRAME(event_frame_2, event_frame_3)
EVENT_FRAME(event_frame_1, event_frame_2)

void bench_event_loop(enum bench_event event, long n)
{
	if (event == BENCH_probe6)
		ktr_probe_enable(ktr_probe_find(KTR_PROBE_CUSTOM, "bench"));
	event_frame_1(event, n, NULL, 0);
	__asm__ volatile("" : : : "memory");
}

void bench_event_single(enum bench_event event, long n, uint32_t *n_ticks, uint32_t n_buckets)
{
	event_frame_1(event, n, n_ticks, n_buckets);
	__asm__ volatile("" : : : "memory");
}
