/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls in which a thread waits, and what becomes of them when it is stopped for a moment. */
#ifndef KTR_TRACEE_WAIT_H
#define KTR_TRACEE_WAIT_H

#include <stdint.h>
#include <sys/types.h>

/* What a stop does to a thread, from the best to the worst. */
enum ktr__tracee_rank {
	KTR__RANK_RESTARTS, /* it waits, and the kernel makes its call again */
	KTR__RANK_RUNS,     /* it runs */
	KTR__RANK_REPEATS,  /* the call ends with EINTR, and can be made again as it was */
	KTR__RANK_TIMED,    /* ... with a time that is partly over */
	KTR__RANK_BUSY,     /* it changes its memory, or waits for who knows what */
	KTR__RANK_NEVER     /* it does not stop */
};

/* What a thread waits in, as far as /proc tells. */
struct ktr__tracee_wait {
	enum ktr__tracee_rank rank;
	long call; /* -1: none */
	uint64_t args[6];
	uint64_t
		began_ns; /* on the clock of ktr__tracee_wait_now(), when it went to sleep; 0: not known */
	uint64_t least_ns; /* the same, but not later than that: it may have been a little before */
	uint64_t n_sleeps; /* of this thread, so far */
	uint64_t time_ns; /* where began_ns is known: how long the call is to wait at most; 0: not known */
};

/* proc: "/proc". */
void ktr__tracee_wait_look(const char *proc, pid_t pid, pid_t tid, struct ktr__tracee_wait *wait);

/*
 * Of a thread that has been stopped since it was looked at: is the call that it was stopped in the one that began
 * then? It has slept once more, in the stop.
 */
int ktr__tracee_wait_same(const char *proc, pid_t pid, pid_t tid, const struct ktr__tracee_wait *wait);

/* Does this call end with EINTR when its thread is stopped, and may be made again? 1 or 0. */
int ktr__tracee_wait_repeats(long call);

/*
 * Of a call that was made with a time: which of its arguments that is, 0 to 5, and whether it is a number of ms or
 * the address of a timespec. -1: it has none.
 */
int ktr__tracee_wait_timeout(long call, int *is_ms);

/* Does it change what memory the process has? malloc(3) and the loader make such calls. */
int ktr__tracee_wait_maps(long call);

/* What is left of a time, of which some is over: never less than 0. */
int64_t ktr__tracee_wait_left(int64_t ns, uint64_t over_ns);

uint64_t ktr__tracee_wait_now(void); /* CLOCK_MONOTONIC */

#endif
