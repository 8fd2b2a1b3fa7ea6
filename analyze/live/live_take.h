/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of another process, one after the other: what each does, its registers, and a copy of its stack. */
#ifndef ANALYZE_LIVE_TAKE_H
#define ANALYZE_LIVE_TAKE_H

#include "analyze/live/live.h"
#include "ktr/provider/syscall/tracee_stop.h"

#include <stdint.h>
#include <sys/types.h>

struct ktr__live_taken {
	pid_t pid, tid;
	char name[16];
	char state; /* before it was stopped, as in /proc/PID/stat: R, S, D, T, t, Z, X */
	char wchan[64]; /* the kernel's function that it waits in; "": not known, or none */
	struct ktr__tracee_stop stop;
	int code;	  /* 0: its registers and stack are there; else why not, an errno */
	uint64_t stopped_ns; /* how long it was stopped */
	uint64_t n_sleeps;   /* how often it has slept, this stop included */
	struct ktr__live_thread live;
	void *room; /* [KTR__LIVE_STACK] owned by the caller, used again and again; NULL: no stack is asked for */
};

/* The ids of a process's threads, in their order. Owned, *n of them; NULL with errno set. */
pid_t *ktr__live_threads(pid_t pid, uint32_t *n);

/* How it is without a stop: name, state, what it waits for. 0; -ESRCH: it has ended; or why that is not known. */
int ktr__live_look(struct ktr__live_taken *thread);

/*
 * maps: of the process, for where a stack ends. 0; -ESRCH: it has ended meanwhile; or -errno of ktr__live_look().
 * One whose code is ETIMEDOUT stops later, and is let go by ktr__tracee_late() on the same thread of ours, or when
 * that ends.
 */
int ktr__live_take(struct ktr__live_taken *thread, const struct ktr__live_maps *maps);

/* The same on a thread of its own, which ends: for whose thread lives on, and will not come back to it. */
int ktr__live_take_apart(struct ktr__live_taken *thread, const struct ktr__live_maps *maps);

#endif
