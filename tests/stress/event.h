/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that prove themselves. Everything an event says follows from its stream and its number in the
 * stream: its kind, its words, its strings' lengths and letters. A reader that knows only these two
 * words, or finds them as digits in its strings, recomputes the rest; a torn, mixed or stale entry does not
 * agree with itself.
 *
 * A stream is numbered by one writer that is never interrupted by itself: a thread, or one signal's
 * handler on a thread, and into one kind of ring. Its numbers therefore grow in the order of recording.
 */
#ifndef TESTS_STRESS_EVENT_H
#define TESTS_STRESS_EVENT_H

#include <ktr/entry.h>

#include <stdint.h>

/* Streams: process, thread in it, level (0 the thread, 1 and 2 its signal handlers), keep ring or not. */
#define EVENT_PROCS   16
#define EVENT_THREADS 64
#define EVENT_LEVELS  4
#define EVENT_STREAMS (EVENT_PROCS * EVENT_THREADS * EVENT_LEVELS * 2)

static inline unsigned event_stream_id(unsigned proc, unsigned thread, unsigned level, unsigned keep)
{
	return ((proc * EVENT_THREADS + thread) * EVENT_LEVELS + level) * 2 + keep;
}

/* In memory shared with who checks; written by the stream's own writer only. */
struct event_stream {
	uint64_t next;	    /* events begun */
	uint64_t done;	    /* events whose macro has returned */
	uint64_t before[2]; /* [ticks of event_clock] before event n was begun: of the last two, at n & 1 */
	uint64_t reserved[4];
};

/* X(name, format, keep ring). The format names the kind in the session's site table. */
#define EVENT_KIND_LIST(X)                                                                       \
	X(PLAIN, "event plain %ju %ju %jx %jx %jx %jx")                                          \
	X(THREE, "event three %ju %ju %jx")                                                      \
	X(SHORT, "event short %ju %ju %s")                                                       \
	X(LONG, "event long %ju %s %ju %s")                                                      \
	X(ALONE, "event alone %s")                                                               \
	X(FIRST, "event first %s %jx")                                                           \
	X(BOTH, "event both %s %s")                                                              \
	X(PREC, "event prec %ju %ju %.*s")                                                       \
	X(STACK, "stack")                                                                        \
	X(KEPT, "event kept %ju %ju %jx")                                                        \
	X(KEPT_SHORT, "event kept short %ju %ju %s")

enum event_kind {
#define EVENT__ENUM(name, format) EVENT_##name,
	EVENT_KIND_LIST(EVENT__ENUM)
#undef EVENT__ENUM
	EVENT_KINDS
};

/* The classes of the events: KTR_GEN, and KTR_INIT, which goes to the keep rings by default. */
#define EVENT_MASK "gen|init"

/* KTR_CLOCK_*: who compares `before` with times of events sets it to the session's, before the first one. */
extern uint32_t event_clock;

/* Records the stream's next event. Async-signal-safe on a stream of the handler's own. */
void event_emit(struct event_stream *stream, unsigned id);

/* The kind a format belongs to, or -1. */
int event_kind_of(const char *format);

/*
 * Checks one event as read: its first entry, and its n_conts continuations behind it. Returns NULL and
 * the stream and number it claims, or what is wrong.
 */
const char *event_check(const struct ktr_entry *entry, unsigned n_conts, int kind, uint64_t *id,
			uint64_t *seq);

#endif
