/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that have perf events (event.h), which the thread of opener.h opens.
 *
 *	operation x operation	arm	disarm	add, start, scan, each, stop
 *	any			safe, for another thread
 *	add, start, each, stop: one at a time
 */
#ifndef KTR_FOLLOWED_H
#define KTR_FOLLOWED_H

#include "ktr/provider/profile/event.h"
#include "ktr/provider/timer/threads.h"

#include <ktr/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum ktr__followed_state {
	KTR__FOLLOWED_NOBODY, /* or somebody who is being let go */
	KTR__FOLLOWED_TAKEN,  /* being taken in */
	KTR__FOLLOWED_LEFT,   /* it ended while another thread took it in */
	KTR__FOLLOWED_THERE,
	KTR__FOLLOWED_ENDED,
	KTR__FOLLOWED_REFUSED /* it can have no event; its place says so to who looks for threads */
};

struct ktr__followed {
	union {
		struct {
			uint32_t tid;	/* 0: nobody's. Atomic */
			uint32_t state; /* enum ktr__followed_state. Atomic */
		};
		uint64_t who; /* both. Atomic */
	};
	/* Of who reads: once, for the first sample of a thread that has begun, and the other ones. */
	struct ktr__task_event first, event;
	bool first_may_wait; /* the first of the other ones stands for it; by the opener */
	uint64_t first_ns; /* of its CPU time: when its first sample was due */
	uint64_t n_told;   /* [ticks] by who reads */
	uint64_t n_due;	   /* [ticks] as of the last round, likewise */
	uint64_t n_late;   /* [ticks] due before the event was there, and not told: by the opener, then who reads */
	uint64_t late_ns;  /* when that was, by the opener */
	/* As it ended, by the thread itself: */
	uint64_t end_cpu_ns, end_ns;
	char name[16];
	uint32_t cpu; /* where it began, then of its last sample, by who reads */
	uint32_t n_short; /* samples whose stack went on beyond what came of it, likewise */
	bool is_over;	  /* it had ended when it was looked at last, likewise */
	bool is_wide;	  /* more of its stack comes, or was asked for */
	/* What the opener is asked for, and what has come of it. */
	uint32_t job;	 /* enum followed_job. Atomic */
	bool job_begins; /* its first sample is to come when it is due */
	bool job_wide;
	struct ktr__task_event next_first, next;
	int code;
};

/* What each of them asks the kernel for. */
struct ktr__followed_ask {
	uint64_t period_ns;
	clockid_t clock;
	/* Of the stack that come with a sample, and of a thread's data, at most; of those that are wide */
	uint32_t stack_bytes, wide_stack_bytes;
	size_t ring_bytes, wide_ring_bytes;
	uint64_t n_filters; /* as of opener.h */
};

/* From now on threads are taken in by that. It is tried once: 0, or -errno and why, and threads are not. */
int ktr__followed_start(const struct ktr__followed_ask *ask, struct ktr_error *why);

/* Nobody is taken in any more, and all are let go. */
void ktr__followed_stop(void);

/*
 * The calling thread begins. 0: its event comes, soon; -EEXIST: it is there; or -errno: it has no event, and will
 * have none. Waits for nothing.
 */
int ktr__followed_arm(void);

/* It ends: what is due to it is told by who reads; or what was told of it before it was refused. */
enum ktr__followed_end { KTR__FOLLOWED_STRANGER, KTR__FOLLOWED_IS_TOLD, KTR__FOLLOWED_WAS_REFUSED };
enum ktr__followed_end ktr__followed_disarm(struct ktr__ticks_told *told);

/* Is a thread there, with an event or refused? */
bool ktr__followed_has(uint32_t tid);

/*
 * Another thread, which runs already. late: that is looked for again and again, so it has begun since, and what it
 * has run is due, too. As arm().
 */
int ktr__followed_add(uint32_t tid, bool late);

/* [ticks] due to a thread by that CPU time of its. */
uint64_t ktr__followed_due(const struct ktr__followed *thread, uint64_t cpu_ns);

/* Until those that were taken in have their events, for a moment at most. Not for a thread of the program's. */
void ktr__followed_settle(void);

/* Threads that begin may try again, where one could have no event. */
void ktr__followed_retry(void);

/* What was told of a thread that was refused; false: it has ended meanwhile, and tells the rest itself. */
bool ktr__followed_told(const struct ktr__followed *thread, uint32_t tid, struct ktr__ticks_told *told);

/* Calls for each that is there. */
void ktr__followed_each(void (*call)(struct ktr__followed *thread, uint32_t state));

/*
 * By who reads, when it has read what there is: what has been opened since takes the place of what was there. 0;
 * -errno: what was asked for cannot be had, and it is as before.
 */
int ktr__followed_adopt(struct ktr__followed *thread);

/* By who reads: its first sample has come. */
void ktr__followed_went(struct ktr__followed *thread);

/* By who reads: from now on more of its stack comes, if there is memory for that. */
void ktr__followed_widen(struct ktr__followed *thread);

/* By who reads: it can have no event. False: it has ended. Otherwise its place is no more to be looked at. */
bool ktr__followed_refuse(struct ktr__followed *thread);

/* By who reads: it is there no more, says the kernel. One that has told its end stays until that is told. */
void ktr__followed_gone(struct ktr__followed *thread);

/* By who reads: it is nobody's. */
void ktr__followed_let_go(struct ktr__followed *thread);

/* The CPU time of a thread now; 0: it is there no more. */
uint64_t ktr__followed_cpu_ns(uint32_t tid);

/* In the child of a fork nobody has one. */
void ktr__followed_forked(void);

#endif
