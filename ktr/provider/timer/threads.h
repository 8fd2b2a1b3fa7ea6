/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timer for each thread, which runs as the thread's CPU time does and sends the signal to that thread alone.
 *
 *	operation x operation	arm	disarm	scan, reap, stop	of (a handler)
 *	any			safe, for another thread		safe
 *	start, scan, reap and stop: one at a time
 */
#ifndef KTR_PROFILE_THREADS_H
#define KTR_PROFILE_THREADS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Where the calling thread's own stack lies; 0, 0: not known. */
struct ktr__stack_range {
	uint64_t low, high;
};

/* What somebody else has told of a thread: when its first tick was due, by its CPU time, and how many were told. */
struct ktr__ticks_told {
	uint64_t first_ns, n;
};

struct ktr__profiled {
	uint32_t tid;	/* 0: nobody's. Atomic */
	int32_t timer;	/* + 1; 0: none. Who exchanges it for 0 deletes it. Atomic */
	uint64_t first_ns; /* of its CPU time: when the timer runs out for the first time */
	uint64_t n_late;   /* [ticks] due before it was found: told with its first signal, or as it ends */
	uint64_t n_came;   /* [ticks] that its signals stood for, or told before; written by its handler alone */
	struct ktr__stack_range stack;
	uint32_t is_refused; /* it is to have no timer. Atomic */
	bool is_marked; /* its end will be seen; the thread's own */
};

/* From now on timers send that signal each so many ns of CPU time. 0 or -errno. */
int ktr__profile_start(int number, uint64_t period_ns);

/* All timers go. */
void ktr__profile_stop(void);

/*
 * The calling thread's timer; it begins at a random place in its first period, so that threads which live for less
 * than one have their share. 0 or -errno.
 */
int ktr__profile_arm(const struct ktr__stack_range *stack);

/*
 * The calling thread ends: how many ticks were due to it that did not come. told: somebody else has told some, and
 * it may have a timer since; if it has none, all that have been due since did not come, and it gets none any more
 * that would tell of them. NULL: nobody has.
 */
uint64_t ktr__profile_disarm(const struct ktr__ticks_told *told);

/* Ticks that were due to the calling thread and have not come by now; they count as told. */
uint64_t ktr__profile_missing(void);

/* A thread's timer goes, until the next start. Async-signal-safe. */
void ktr__profile_let_go(struct ktr__profiled *thread);

/*
 * Timers for all threads that have none. -errno of the first that could not be had, else 0. late: it has been done
 * before, so these have begun since, unseen: what was due to them by now is theirs (n_late). refuses(): may say of
 * one that it is to have none; NULL: none is such.
 */
int ktr__profile_scan(bool late, bool (*refuses)(uint32_t tid));

/* A thread is to have no timer, now and later; what is due to the calling thread's life then, to a period. */
void ktr__profile_refuse(uint32_t tid);
uint64_t ktr__profile_due(void);

/* Is a thread one of ktr's own? */
bool ktr__profile_is_ours(uint32_t tid);

/* Has one a timer, or is to have none? */
bool ktr__profile_has(uint32_t tid);

/* A timer for one that runs already, as of a scan; or that tells what comes after what was told. 0 or -errno. */
int ktr__profile_add(uint32_t tid, bool late);
int ktr__profile_go_on(uint32_t tid, const struct ktr__ticks_told *told);

/* Threads that have ended unseen leave their timers. */
void ktr__profile_reap(void);

/* Threads that have no timer: two have numbers that fall together, or the kernel gives no more. */
uint64_t ktr__profile_n_without(void);

/* The thread that a signal is about; NULL: it is none of a timer of ours. Async-signal-safe. */
struct ktr__profiled *ktr__profile_of(const siginfo_t *info);

/* The child of a fork has no timers. */
void ktr__profile_forked(void);

#endif
