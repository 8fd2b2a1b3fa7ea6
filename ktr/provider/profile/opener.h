/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread with a table of descriptors of its own, in which there is nothing of the program's: what it opens takes
 * no number that the program may have next, is seen, closed or inherited by nobody, and holds open none of the
 * program's files, pipes and sockets.
 *
 *	operation x operation	wake, runs	start, stop
 *	any			safe		one at a time
 */
#ifndef KTR_PROFILE_OPENER_H
#define KTR_PROFILE_OPENER_H

#include <ktr/error.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__opener_work {
	int (*first)(void); /* as it begins; -errno: it ends */
	void (*serve)(void); /* whenever it was woken */
	const char *what; /* that first() does, for `why` */
	uint64_t n_filters; /* of system calls, that are known not to end the process for what it does */
};

/*
 * The thread begins; 0, or -errno and why, and there is none. It is not tried where the process has a filter of
 * system calls, seccomp(2), that is not known: such a one may end it.
 */
int ktr__opener_start(const struct ktr__opener_work *work, struct ktr_error *why);

/* It ends, after what it is about. */
void ktr__opener_stop(void);

/* It serves, soon. */
void ktr__opener_wake(void);

/* Until it has served whom it was woken for by now, so long at most. */
void ktr__opener_wait(uint64_t ns);

/* Is it there? It ends when the thread of agent.h does. */
bool ktr__opener_runs(void);

/* By the thread, before it opens something: no filter has come since it began. */
bool ktr__opener_may(void);

/* In the child of a fork it is not there. */
void ktr__opener_forked(void);

#endif
