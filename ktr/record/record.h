/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every recorded event looks at: the process's private view of its session (struct ktr__rec, and of that
 * what the usual event needs in struct ktr__hot) and the thread's own state (struct ktr__self).
 *
 * struct ktr__rec is filled once, by start.c, before any gate can open; after that only the cold-path fields
 * change. Pointers and geometry here are private, validated copies: what other processes write into the
 * session later cannot send a store of ours elsewhere.
 */
#ifndef KTR_RECORD_H
#define KTR_RECORD_H

/* The library starts itself when a program's module attaches, never by being linked in. */
#ifndef KTR_NO_AUTOSTART
#define KTR_NO_AUTOSTART
#endif
#define KTR__LIBRARY

#include <ktr/session.h>
#include <ktr/trace.h>

#include "ktr/arch/offsets.h"
#include "ktr/session/cpu.h"
#include "ktr/session/session_rw.h"

#include <stdbool.h>
#include <stddef.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * A ring's geometry as this process has validated it. ring.c keeps one per ring, area and size, so that base
 * and mask never change, whatever geom words others store in the session and how fast: a sequence that read a
 * pointer may use it for as long as it likes. geom alone is stored anew, with another generation of the same
 * area and size.
 */
struct ktr__ring_view {
	uint64_t geom;
	char *base;
	uint64_t mask; /* [bytes] of the position that count: size - 64 */
	uint64_t reserved;
};

/* [bytes] the largest page that Linux has on the machine */
#if defined(__x86_64__)
#define KTR__PAGE_MAX 4096
#else
#define KTR__PAGE_MAX 65536
#endif

struct ktr__rec {
	char *map;		/* the whole session */
	struct ktr_ring *rings; /* headers: main rings, then keep rings */
	const struct ktr__ring_view **views; /* per ring: what this process has validated and populated */
	ptrdiff_t rseq_offset;	/* of struct rseq from the thread pointer */
	uint32_t n_rings;	/* per kind */
	uint32_t path;		/* KTR_PATH_*; 0: no session */
	struct ktr_control *control;
	uint8_t *site_ctl;
	uint64_t *counts;
	uint32_t count_stride; /* [sites] of one CPU in counts */
	uint32_t clock;	       /* KTR_CLOCK_* */
	uint32_t proc;	       /* our row */
	uint32_t pid;
	uint32_t broken;       /* an invariant failed: recording is off for good in this process */
};

/* Hidden, so that inline assembly reaches its members without a register for their address. */
extern struct ktr__rec ktr__rec __attribute__((visibility("hidden")));

/*
 * The words of struct ktr__rec that the usual event loads, in pages that hold nothing else and that the kernel
 * empties in a forked child (MADV_WIPEONFORK), whichever call made it: no handler of pthread_atfork(3) runs
 * after _Fork(3) or a system call made directly. All zero means that every event takes the cold path, which
 * finds out what this process is (ktr__start_adopt()). Written by start.c alone; control is NULL before there is
 * a session and in a child.
 */
struct ktr__hot {
	struct ktr_control *control;
	ptrdiff_t rseq_offset;
	const struct ktr__ring_view **views;
	struct ktr_ring *rings;
	uint32_t n_rings;
	uint32_t adopting; /* 1: an event of a child is making it a process of the session */
} __attribute__((aligned(KTR__PAGE_MAX)));

extern struct ktr__hot ktr__hot __attribute__((visibility("hidden")));

/* How deep signal handlers may interrupt each other's events on the thread path. */
#define KTR_LEVELS 4

/* A ring and a view of it, copied: valid as long as geom is the ring's. */
struct ktr__place {
	struct ktr_ring *ring;
	uint64_t geom; /* 0: none, no open ring has it */
	char *base;
	uint64_t mask;
};

struct ktr__level {
	struct ktr__place at; /* ring NULL: none taken yet */
	uint32_t cpu; /* where the CPU is not cheap to ask for: as of some events ago */
	uint32_t reserved;
};

/*
 * Per thread, written by the thread alone and by signal handlers on it, which leave everything as they
 * found it. armed is the one word the hot path tests. in_vfork counts the calls of vfork(2) whose children run on
 * this memory; vfork.S has it.
 */
struct ktr__self {
	uint64_t armed; /* rseq path: row << 32 once the thread may record; else 0 */
	uint32_t in_vfork;
	uint32_t row;  /* thread table */
	uint64_t own;  /* thread path: row << 32 once the thread may record; else 0 */
	uint32_t nest; /* thread path: levels in use */
	uint32_t here_cpu; /* rseq path: whose ring here is */
	struct ktr__place here; /* rseq path: main ring of here_cpu, while rseq_cs is ours: record_*.S */
	const void *frame[KTR_LEVELS]; /* thread path: of the event in each level */
	struct ktr__level level[2][KTR_LEVELS]; /* thread path: main rings, keep rings */
	uint32_t no_ring; /* thread path: events to drop before a ring is asked for again */
	uint32_t forked; /* thread path: levels below are those of the parent's thread, whose events go on here */
	uint32_t n_ends; /* rounds of destructors at the thread's end */
	uint32_t forks;	 /* how often the thread has become one of a child: what it was about was its parent's */
};

extern __thread struct ktr__self ktr__self __attribute__((tls_model("initial-exec")));

/* What an event that is a stack brings as its argument to ktr__record1(). */
struct ktr__frames {
	uint64_t word; /* as in the entry: bytes, KTR_PAYLOAD_CUT */
	uint64_t pcs[KTR_STACK_MAX]; /* word's bytes of them are set; zeros up to the fifth, or the twelfth */
};

#define REC__AT(type, field, offset) KTR__LAYOUT(offsetof(struct type, field) == (offset), "arch/offsets.h")
REC__AT(ktr__rec, rings, REC_RINGS);
REC__AT(ktr__rec, views, REC_VIEWS);
REC__AT(ktr__rec, n_rings, REC_N_RINGS);
REC__AT(ktr__hot, control, HOT_CONTROL);
REC__AT(ktr__hot, rseq_offset, HOT_RSEQ_OFFSET);
REC__AT(ktr__hot, views, HOT_VIEWS);
REC__AT(ktr__hot, rings, HOT_RINGS);
REC__AT(ktr__hot, n_rings, HOT_N_RINGS);
REC__AT(ktr__ring_view, geom, VIEW_GEOM);
REC__AT(ktr__ring_view, base, VIEW_BASE);
REC__AT(ktr__ring_view, mask, VIEW_MASK);
REC__AT(ktr__place, ring, PLACE_RING);
REC__AT(ktr__place, geom, PLACE_GEOM);
REC__AT(ktr__place, base, PLACE_BASE);
REC__AT(ktr__place, mask, PLACE_MASK);
REC__AT(ktr__self, armed, SELF_ARMED);
REC__AT(ktr__self, in_vfork, SELF_IN_VFORK);
REC__AT(ktr__self, nest, SELF_NEST);
REC__AT(ktr__self, own, SELF_OWN);
REC__AT(ktr__self, here_cpu, SELF_HERE_CPU);
REC__AT(ktr__self, here, SELF_HERE);
REC__AT(ktr__self, frame, SELF_FRAME);
REC__AT(ktr__self, level, SELF_LEVEL);
REC__AT(ktr__level, cpu, LEVEL_CPU);
REC__AT(ktr_ring, geom, RING_GEOM);
REC__AT(ktr_ring, head, RING_HEAD);
REC__AT(ktr_ring, cont, RING_CONT);
REC__AT(ktr_ring, last, RING_LAST);
REC__AT(ktr_control, generation, CONTROL_GENERATION);
REC__AT(ktr_control, clock_slots, CONTROL_CLOCK);
REC__AT(ktr_site, id, SITE_ID);
REC__AT(ktr_site, ready, SITE_READY);
REC__AT(ktr_site, text_at, SITE_TEXT_AT);
REC__AT(ktr_site, n_args, SITE_N_ARGS);
REC__AT(ktr__frames, word, STACK_WORD);
REC__AT(ktr__frames, pcs, STACK_PCS);
KTR__LAYOUT(KTR_TEXT_AT_ANY == TEXT_AT_ANY, "arch/offsets.h");
KTR__LAYOUT(KTR_TEXT_AT_BOTH == TEXT_AT_BOTH && KTR_TEXT_AT_STACK == TEXT_AT_STACK, "arch/offsets.h");
KTR__LAYOUT(KTR_TEXT_AT_FIRST == TEXT_AT_FIRST, "arch/offsets.h");
KTR__LAYOUT(KTR_STRING_MAX == STRING_MAX && KTR_CONT_BYTES == CONT_BYTES, "arch/offsets.h");
KTR__LAYOUT(sizeof(struct ktr_ring) == 1 << RING_SHIFT, "arch/offsets.h");
KTR__LAYOUT(KTR_TIME_APPROX == 1ull << TIME_APPROX_BIT && KTR_THREAD_BITS == THREAD_BITS, "arch/offsets.h");
#undef REC__AT

/* One instruction, which -Oz would call. */
static inline __attribute__((always_inline)) void ktr__count_drop(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/*
 * Everything but the usual case, which is in arch/record_*.S. words: the strings of the event are in its words
 * already, as they are in an entry. Async-signal-safe.
 */
void ktr__record_cold(struct ktr_site *site, const uint64_t *arg, bool words) KTR__ASM_NAMES;

/* An event with a payload that is otherwise usual; a5 as ktr__record6v() has it. Async-signal-safe. */
void ktr__record_payload(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			 double a5) KTR__ASM_NAMES;

/* The CPU of an event, for rules and entries. Async-signal-safe. */
uint32_t ktr__event_cpu(void);

#endif
