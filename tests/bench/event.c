/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loops that are timed. Compiled with frame pointers and aligned loops: into the executable, and once
 * more as a shared object. The counter, which is every argument too, passes through an empty asm in each
 * round, so that the compiler neither knows it nor hoists anything; the loops compared with do the same.
 */
#include "bench.h"
#include "peer.h"
#include "ticks.h"

#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/probe.h>

#include <stddef.h>
#include <string.h>

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
#define EVENT_WORD(i)	    ((uint64_t)(i))
#define EVENT_BODY_peer0    peer_0(EVENT_ID)
#define EVENT_BODY_peer3    peer_3(EVENT_ID, EVENT_WORD(i), EVENT_WORD(i), EVENT_WORD(i))
#define EVENT_SIX(i)	    EVENT_WORD(i), EVENT_WORD(i), EVENT_WORD(i), EVENT_WORD(i), EVENT_WORD(i), EVENT_WORD(i)
#define EVENT_BODY_peer6    peer_6(EVENT_ID, EVENT_SIX(i))
#define EVENT_BODY_peer6_8th peer_6_8th(EVENT_ID, EVENT_SIX(i))
#define EVENT_BODY_peer_str5	peer_string(EVENT_ID, text->five)
#define EVENT_BODY_peer_str16	peer_string(EVENT_ID, text->sixteen)
#define EVENT_BODY_peer_str40	peer_string(EVENT_ID, text->forty)
#define EVENT_BODY_peer_str70	peer_string(EVENT_ID, text->seventy)
#define EVENT_BODY_peer_str200	peer_string(EVENT_ID, text->long_one)
#define EVENT_BODY_peer_str16x2 peer_strings(EVENT_ID, text->sixteen, text->other)
#define EVENT_BODY_ctr0	    CTR0(KTR_GEN, "no argument")
#define EVENT_BODY_ctr3	    CTR3(KTR_GEN, "%ld %ld %ld", i, i, i)
#define EVENT_BODY_ctr6	    CTR6(KTR_GEN, "%ld %ld %ld %ld %ld %ld", i, i, i, i, i, i)
#define EVENT_BODY_ctr6_8th EVENT_BODY_ctr6
#define EVENT_BODY_state0   KTR_STATE0(KTR_GEN, "thread", "main", "running")
#define EVENT_BODY_state0_table KTR_STATE0(KTR_GEN, "thread", event_ids[i & 3], event_states[i & 3])
#define EVENT_BODY_state0_id8	KTR_STATE0(KTR_GEN, "thread", text->eight, "running")
#define EVENT_BODY_state0_id15	KTR_STATE0(KTR_GEN, "thread", text->fifteen, "running")
#define EVENT_BODY_start0   KTR_START0(KTR_GEN, "request", "get", i)
#define EVENT_BODY_start1   KTR_START1(KTR_GEN, "request", "get", i, "bytes:%d", (int)i)
#define EVENT_BODY_stop0    KTR_STOP0(KTR_GEN, "request", "get", i)
#define EVENT_BODY_counter0 KTR_COUNTER0(KTR_GEN, "queue", "length", i)
#define EVENT_BODY_scope    do { KTR_SCOPE(KTR_GEN, "scope"); } while (0)
#define EVENT_BODY_str5	    CTR1(KTR_GEN, "%s", text->five)
#define EVENT_BODY_str16    CTR1(KTR_GEN, "%s", text->sixteen)
#define EVENT_BODY_str40    CTR1(KTR_GEN, "%s", text->forty)
#define EVENT_BODY_str70    CTR1(KTR_GEN, "%s", text->seventy)
#define EVENT_BODY_str200   CTR1(KTR_GEN, "%s", text->long_one)
#define EVENT_BODY_str16x2  CTR2(KTR_GEN, "%s %s", text->sixteen, text->other)
#define EVENT_BODY_stack6   CTRSTACK(KTR_GEN, NULL, 6)

#define EVENT_ID 4711 /* of peer's event */

/* Strings that a program has made, of so many letters. */
struct event_text {
	char five[6], eight[9], fifteen[16], sixteen[17], other[17], forty[41], seventy[71], long_one[201];
};

static void event_text_make(struct event_text *text)
{
	static const struct {
		size_t at, n;
	} part[] = {
#define EVENT_PART(member) { offsetof(struct event_text, member), sizeof(((struct event_text *)0)->member) - 1 }
		EVENT_PART(five),    EVENT_PART(eight), EVENT_PART(fifteen), EVENT_PART(sixteen),
		EVENT_PART(other),   EVENT_PART(forty), EVENT_PART(seventy), EVENT_PART(long_one),
#undef EVENT_PART
	};

	memset(text, 0, sizeof(*text));
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		for (size_t k = 0; k < part[i].n; k++)
			((char *)text)[part[i].at + k] = (char)('a' + k % 26);
}

/* As programs name what they are in. */
static const char *const event_ids[] = { "worker 0", "worker 1", "worker 2", "worker 3" };
static const char *const event_states[] = { "reading", "parsing", "waiting", "writing" };

#define EVENT_LOOP(name, base, recorded)                                                         \
	static __attribute__((noinline)) void event_loop_##name(long n, const struct event_text *text) \
	{                                                                                        \
		uint64_t sum = 0;                                                                \
												 \
		for (long i = 0; i < n; i++) {                                                   \
			EVENT_OPAQUE(i);                                                         \
			EVENT_BODY_##name;                                                       \
		}                                                                                \
		__asm__ volatile("" : : "r"(sum), "r"(text) : "memory");                         \
	}
#define EVENT_SINGLE(name, base, recorded)                                                       \
	static __attribute__((noinline)) void event_single_##name(long n, const struct event_text *text, \
								  const struct bench_single *single) \
	{                                                                                        \
		uint64_t sum = 0;                                                                \
												 \
		for (long i = 0; i < n; i++) {                                                   \
			uint64_t ticks;                                                          \
												 \
			for (uint32_t at = 0; at < single->n_cold; at += 64)                     \
				sum += (uint64_t)single->cold[at];                               \
			ticks = event_ticks();                                                   \
			EVENT_OPAQUE(i);                                                         \
			EVENT_BODY_##name;                                                       \
			ticks = event_ticks_after() - ticks;                                     \
			single->n_ticks[ticks < single->n_buckets ? ticks : single->n_buckets - 1]++; \
		}                                                                                \
		__asm__ volatile("" : : "r"(sum), "r"(text) : "memory");                         \
	}
BENCH_EVENT_LIST(EVENT_LOOP)
BENCH_EVENT_LIST(EVENT_SINGLE)
EVENT_LOOP(monotonic, clock, 0) /* the clock of a session that does not trust the CPU's */
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

static void event_run(enum bench_event event, long n, const struct bench_single *single)
{
	static const struct {
		void (*loop)(long n, const struct event_text *text);
		void (*single)(long n, const struct event_text *text, const struct bench_single *single);
	} table[BENCH_EVENTS] = {
#define EVENT_ROW(name, base, recorded) { event_loop_##name, event_single_##name },
		BENCH_EVENT_LIST(EVENT_ROW)
#undef EVENT_ROW
	};
	struct event_text text;

	event_text_make(&text);
	if (single)
		table[event].single(n, &text, single);
	else if (event == BENCH_clock && event_clock_is_monotonic())
		event_loop_monotonic(n, &text);
	else
		table[event].loop(n, &text);
}

/* Frames for the stack to be walked: each calls the next and has something left to do after it. */
#define EVENT_FRAME(name, next)                                                                  \
	static __attribute__((noinline)) void name(enum bench_event event, long n,               \
						   const struct bench_single *single)            \
	{                                                                                        \
		next(event, n, single);                                                          \
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
	event_frame_1(event, n, NULL);
	__asm__ volatile("" : : : "memory");
}

void bench_event_single(enum bench_event event, long n, const struct bench_single *single)
{
	event_frame_1(event, n, single);
	__asm__ volatile("" : : : "memory");
}

int bench_event_open(const struct bench_config *config)
{
	return peer_open(config->entries);
}
