/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf event for each thread, of the time that the thread runs, with a ring of its own: perf_event_open(2). The
 * kernel puts samples into the ring, by its own clock; no signal is sent.
 *
 *	operation x operation	arm	end	start, scan, each, stop
 *	any			safe, for another thread
 *	start, scan, each, stop: one at a time
 */
#ifndef KTR_FOLLOWED_H
#define KTR_FOLLOWED_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum ktr__followed_state {
	KTR__FOLLOWED_NOBODY, /* or somebody who is being taken in, or let go */
	KTR__FOLLOWED_FRESH,  /* its one sample is to come at a random place in the first period */
	KTR__FOLLOWED_STEADY,
	KTR__FOLLOWED_ENDED
};

struct ktr__followed {
	uint32_t tid;	/* 0: nobody's. Atomic */
	uint32_t state; /* enum ktr__followed_state. Atomic */
	struct perf_event_mmap_page *map;
	size_t bytes;	   /* of its data, a power of two */
	uint64_t first_ns; /* of its CPU time: when its first sample was due */
	uint64_t n_told;   /* [ticks] by who reads */
	uint64_t fresh_ns; /* of the kernel's clock: when it came in */
	/* As it ended, by the thread itself: */
	uint64_t end_cpu_ns, end_ns;
	char name[16];
	uint32_t cpu; /* of its last sample, by who reads */
	uint32_t n_short; /* samples whose stack went on beyond what came of it, likewise */
	bool is_wide;	  /* more of its stack comes */
};

/* What each of them asks the kernel for. */
struct ktr__followed_ask {
	uint64_t period_ns;
	clockid_t clock;
	/* Of the stack that come with a sample, and of a thread's data, at most; of those that are wide */
	uint32_t stack_bytes, wide_stack_bytes;
	size_t ring_bytes, wide_ring_bytes;
	bool user_only;	      /* the kernel does not let us see its own */
};

/*
 * From now on threads are taken in by that. Tries it on the calling thread: 0, or -errno, and threads are not.
 * ask->user_only is filled in.
 */
int ktr__followed_start(struct ktr__followed_ask *ask);

/* Nobody is taken in any more. Those that are stay until they are let go. */
void ktr__followed_end_all(void);

/* The calling thread begins. 0; -EEXIST: it is there; or -errno: it has no event. */
int ktr__followed_arm(void);

/* It ends. */
void ktr__followed_disarm(void);

/* Has a thread an event? */
bool ktr__followed_has(uint32_t tid);

/*
 * Another thread, which runs already. late: that is looked for again and again, so it has begun since, and what it
 * has run is due, too. As arm(); 0 also where it has ended meanwhile.
 */
int ktr__followed_add(uint32_t tid, bool late);

/* Calls for each that is there. */
void ktr__followed_each(void (*call)(struct ktr__followed *thread, uint32_t state));

/* By who reads: after its one sample it goes on with a period. */
void ktr__followed_steady(struct ktr__followed *thread);

/* By who reads: from now on more of its stack comes, if there is memory for that. */
void ktr__followed_widen(struct ktr__followed *thread);

/* By who reads: it is nobody's. */
void ktr__followed_let_go(struct ktr__followed *thread);

/* The CPU time of a thread now; 0: it is there no more. */
uint64_t ktr__followed_cpu_ns(uint32_t tid);

/* In the child of a fork nobody has one. */
void ktr__followed_forked(void);

#endif
