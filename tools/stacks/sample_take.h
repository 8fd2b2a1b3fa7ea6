/* SPDX-License-Identifier: BSD-2-Clause */
/* A process is sampled: all its threads, at a rate, for a time. */
#ifndef TOOLS_SAMPLE_TAKE_H
#define TOOLS_SAMPLE_TAKE_H

#include "tools/stacks/sample_tree.h"
#include "tools/stacks/stacks_take.h"

#include <stdint.h>
#include <sys/types.h>

struct sample_thread {
	pid_t tid;
	char name[16];	     /* as it was last */
	uint32_t root, last; /* nodes: of all its samples, of its last one */
	uint64_t n;	     /* samples */
	int is_asleep;	     /* in a call, which began before its last stop, and has slept so often by now: */
	uint64_t n_sleeps;
	long call;
	uint64_t sp, pc;
	int is_late; /* it was asked to stop, and has not yet */
};

struct sample {
	pid_t pid;
	uint64_t period_ns, rounds; /* asked for */
	struct ktr__live *live;	    /* owned by the caller, may become another */
	struct sample_tree tree;
	struct sample_thread *thread; /* owned, by number */
	uint32_t n_threads, room_threads;
	uint64_t n_rounds;	  /* done; what is missing to those that were due came too late */
	uint64_t n_missed;
	uint64_t n_stops, stopped_ns, most_ns;
	uint64_t n_samples, n_kept; /* kept: of threads that had not run since, not stopped */
	int refused;		  /* errno, of all that were tried */
};

/* Until the time is over, or the process, or *stop is set. 0 or -errno. */
int sample_take(struct sample *sample, const volatile int *stop);
void sample_free(struct sample *sample);

#endif
