/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel tells of threads through perf_event_open(2), without privileges: context switches,
 * page faults, new names and ends of threads.
 *
 * One buffer per CPU, in the kernel's order of time. Each thread that is added is followed on every CPU,
 * and so is what it creates from then on, forked processes included; threads that live shortly are in
 * it from their first moment. Closing the descriptors ends it all.
 *
 * One thread uses one struct. Nothing here may be called from a signal handler.
 */
#ifndef WRITER_PERF_H
#define WRITER_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ktr__perf_kind {
	KTR__PERF_IN,	    /* the thread runs from here on */
	KTR__PERF_BLOCKED,  /* it waits, or has ended */
	KTR__PERF_PREEMPTED, /* it could run, and does not */
	KTR__PERF_MINOR,    /* page faults */
	KTR__PERF_MAJOR,
	KTR__PERF_EXIT,
	KTR__PERF_NAME,
	KTR__PERF_LOST
};

struct ktr__perf_event {
	enum ktr__perf_kind kind;
	uint32_t pid;
	uint32_t tid;
	uint64_t ns; /* of the clock it was opened with */
	uint64_t address; /* of a fault; LOST: how many */
	uint64_t ip;	  /* of a fault: the instruction */
	const char *name; /* NAME */
};

struct ktr__perf_cpu {
	void *map;	/* NULL: none yet */
	uint64_t bytes; /* of the buffer after its first page */
	int leader;	/* descriptor that the buffer belongs to */
	uint32_t cpu;
	uint64_t stop; /* up to where ktr__perf_read() goes; see ktr__perf_look() */
};

struct ktr__perf {
	struct ktr__perf_cpu *cpu; /* owned */
	int *fd;		   /* owned */
	uint32_t n_cpus;
	uint32_t n_fds;
	uint32_t room;
	int clock;	/* clockid_t */
	unsigned want;	/* KTR_KERNEL_* */
	bool user_only; /* faults inside the kernel are not told: kernel.perf_event_paranoid is 2 */
};

/* For all CPUs that are online. want: KTR_KERNEL_*. 0 or -errno. ktr__perf_close() is due in any case. */
int ktr__perf_open(struct ktr__perf *perf, unsigned want, int clock);

/* Follows a thread. 0 or -errno: -EACCES, -EPERM, -EMFILE, -ESRCH; another thread may still do. */
int ktr__perf_add(struct ktr__perf *perf, uint32_t tid);
void ktr__perf_close(struct ktr__perf *perf);

/* Why there are no events, which is such a code, as a line for the user. */
void ktr__perf_tell(int code, char *line, size_t size);

/* Fixes for each CPU how far ktr__perf_read() will go. The share of the fullest buffer in use [1/1000]. */
unsigned ktr__perf_look(struct ktr__perf *perf);

/*
 * Takes at most n records of a CPU, up to the last look, and calls back for each that says something.
 * True: there are more.
 */
bool ktr__perf_read(struct ktr__perf *perf, uint32_t at, unsigned n,
		    void (*found)(void *context, uint32_t cpu, const struct ktr__perf_event *event),
		    void *context);

#endif
