/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring entry: what a recorded event is in memory. Shared by the recording and the reading side.
 *
 * An event takes one 64-byte entry. The strings or the stack that it carries, its payload, begin in the argument
 * words that it has no arguments for; what does not fit goes on in further entries right after the first, its
 * continuations. All of them are published by the same store of the ring's head.
 *
 * Words that an event has neither arguments nor payload for mean nothing; those of one without any may be what an
 * older event left there.
 */
#ifndef KTR_ENTRY_H
#define KTR_ENTRY_H

#include <stdint.h>

#define KTR_ARGS_MAX 6

struct ktr_entry {
	uint64_t timestamp; /* [ticks] | KTR_TIME_APPROX; bit 63 is clear */
	uint32_t site;	    /* index in the session's site table */
	uint32_t thread;    /* index in the thread table, and on the thread path the CPU above it */
	uint64_t arg[KTR_ARGS_MAX];
};

struct ktr_cont {
	uint64_t mark; /* KTR_CONT_MARK | ordinal: continuations in this ring before this one */
	uint8_t data[56];
};

#define KTR_ENTRY_BYTES 64
#define KTR_CONT_BYTES	56

/* [bytes] of the payload that an event of n arguments has in its first entry */
#define KTR_FREE_BYTES(n) ((KTR_ARGS_MAX - (n)) * 8u)

/* Bit 63 of an entry's first word tells a continuation at any place in a ring. */
#define KTR_CONT_MARK	(1ull << 63)
#define KTR_CONT_NUMBER ((1ull << 63) - 1)

/* Bit 62: the clock was not read for this event; the time is that of an event before it. */
#define KTR_TIME_APPROX (1ull << 62)
#define KTR_TIME_TICKS	((1ull << 62) - 1)

/*
 * The longest event, in entries, its first included. A ring is at least four times as long. Readers
 * of a live ring leave this many of the oldest entries alone, since the event being written may
 * already have touched them.
 */
#define KTR_SLOTS_MAX	  64
#define KTR_PAYLOAD_BYTES ((KTR_SLOTS_MAX - 1) * KTR_CONT_BYTES)
#define KTR_RING_LOG2_MIN 8 /* 4 * KTR_SLOTS_MAX entries */

/* On the thread path the thread field is index | cpu << 19; on the rseq path the CPU is the ring's. */
#define KTR_THREAD_BITS	 19
#define KTR_THREAD_INDEX ((1u << KTR_THREAD_BITS) - 1)

/*
 * The argument word of a string or a stack: how many bytes of the payload are its own. They lie after each other
 * in the order of the arguments, each from a multiple of 8 bytes on. Strings have no NUL; a stack is an array of
 * 8-byte program counters, innermost first. What lies between them, and after the last, means nothing.
 */
#define KTR_PAYLOAD_LENGTH 0xffffull  /* [bytes] */
#define KTR_PAYLOAD_CUT	   (1ull << 16) /* there was more */
#define KTR_PAYLOAD_NULL   (1ull << 17) /* the pointer was NULL */

#ifdef __cplusplus
#define KTR__LAYOUT(test, text) static_assert(test, text)
#elif __STDC_VERSION__ >= 201112L
#define KTR__LAYOUT(test, text) _Static_assert(test, text)
#else
#define KTR__LAYOUT(test, text) struct ktr__layout
#endif

/* A cast to a type of one word, in each language's own way: -Wold-style-cast looks into macros, too. */
#ifdef __cplusplus
#define KTR__CAST(type, x) (type(x))
#else
#define KTR__CAST(type, x) ((type)(x))
#endif

KTR__LAYOUT(sizeof(struct ktr_entry) == KTR_ENTRY_BYTES, "an entry is one cache line");
KTR__LAYOUT(sizeof(struct ktr_cont) == KTR_ENTRY_BYTES, "a continuation is as long as an entry");

#endif
