/* SPDX-License-Identifier: BSD-2-Clause */
/* A process's threads, or one of them, looked at again and again, at a rate. */
#ifndef ANALYZE_LIVE_ROUNDS_H
#define ANALYZE_LIVE_ROUNDS_H

#include "analyze/live/live.h"

#include <stdint.h>
#include <sys/types.h>

/* A thread that was seen. */
struct ktr__live_row {
	pid_t tid;
	char name[16];	     /* as it was last */
	union {		     /* the sink's own, 0 at first */
		uint32_t node[2];
		void *own;
	};
	uint64_t n;	     /* samples */
	uint64_t round;	     /* the last that it was there in */
	int is_asleep;	     /* in a call, which began before its last stop, and has slept so often by now: */
	uint64_t n_sleeps;
	uint64_t sp, pc;
	int is_late; /* it was asked to stop, and has not yet */
};

/* A sample of a thread: what was found, in the terms of `row`. */
struct ktr__live_sample {
	struct ktr__live_row *row;
	uint64_t round, time_ns; /* CLOCK_MONOTONIC */
	char state;		 /* as in /proc/PID/stat, before it was stopped */
	int code;		 /* 0, or why it could not be looked at: an errno; there are no frames then */
	int is_same;		 /* it has slept on: its frames are those of its last sample, not given again */
	int in_call;		 /* it was in a system call: not known of all machines, and of one that slept on */
	int is_fault;		 /* of live_faults.h: round is the address */
	int is_cut;		 /* there are more frames, which could not be found */
	uint64_t stopped_ns;	 /* 0: it was not */
	unsigned n_frames;
	const struct ktr__live_frame *frame; /* the innermost first */
};

/* Who takes samples, and who ends it all. */
struct ktr__live_sink {
	/* 0, or -errno, which ends it. */
	int (*sample)(void *context, const struct ktr__live_sample *sample);
	/* Waits for a moment of CLOCK_MONOTONIC [ns], if that is to come: 0, or 1: it is to end. */
	int (*wait)(void *context, uint64_t due_ns);
	/* The kernel has had no room for n samples of faults; NULL: nobody counts them. */
	void (*lost)(void *context, uint64_t n);
	/* A row goes; NULL: the sink has nothing there. */
	void (*forget)(void *context, struct ktr__live_row *row);
	void *context;
};

struct ktr__live_rounds {
	pid_t pid, tid;		    /* tid 0: all its threads */
	uint64_t period_ns, rounds; /* asked for; rounds 0: until the sink ends it */
	uint32_t every;		    /* of live_faults.h: a sample in so many faults; else 0 */
	int forgets;		    /* rows of threads that have ended go, as whoever looks for long wants it */
	const struct ktr__live_sink *sink; /* borrowed */
	struct ktr__live *live;	    /* owned by the caller, may become another */
	struct ktr__live_row *row;  /* owned, by number */
	uint32_t n_rows, room_rows;
	uint64_t n_rounds;	    /* done; what is missing to those that were due came too late */
	uint64_t n_missed;
	uint64_t n_stops, stopped_ns, most_ns;
	uint64_t n_samples, n_kept; /* kept: of threads that had not run since, not stopped */
	int refused;		    /* errno, of all that were tried */
};

/* Until the rounds are over, the process or the thread has ended (-ESRCH), or the sink says so. 0 or -errno. */
int ktr__live_rounds(struct ktr__live_rounds *rounds);
void ktr__live_rounds_free(struct ktr__live_rounds *rounds);

/* A thread's row, made now if it is new. NULL: no memory. */
struct ktr__live_row *ktr__live_rounds_row(struct ktr__live_rounds *rounds, pid_t tid);

/* Objects may have come, by dlopen(3), or it is another program now: rounds->live is another one then. */
void ktr__live_rounds_reopen(struct ktr__live_rounds *rounds);

#endif
