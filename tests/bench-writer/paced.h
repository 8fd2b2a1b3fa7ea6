/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of bench-writer share: a run, what came of it, and who runs. */
#ifndef BENCH_WRITER_PACED_H
#define BENCH_WRITER_PACED_H

#include <stdint.h>
#include <time.h>

#define ROTATE_BYTES (400ull << 20) /* of one trace; */
#define ROTATE_KEEP  4		    /* and so many older ones: 2 GB */
#define REMOVED	     2		    /* before anything is counted in memory */

struct plan {
	const char *event; /* ctr0, ctr2, ctr6, str16, mix */
	const char *trace;
	const char *entries; /* of each ring */
	double seconds;
	double rate; /* [million events/s] of one producer; 0: flat out */
	int n_producers;
	unsigned n_removed; /* traces that rotation removes before anything is counted */
};

struct outcome {
	double seconds;
	uint64_t produced;
	uint64_t written;
	uint64_t lost;
	double bytes;	   /* of one event in the trace */
	double writer_cpu; /* [s] */
	double kernel_cpu; /* [s] of it in the kernel, with that of the producers */
	uint64_t faults;   /* of pages, by all threads, from the first event on */
};

static inline double clock_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static inline double now(void)
{
	return clock_s(CLOCK_MONOTONIC);
}

/* The calling thread, and what it starts, has this CPU alone; -1: any but the first. */
void stay_on(int cpu);

/*
 * child.c: in the process that is traced: produces as planned, has the writer end, and writes a struct outcome
 * without bytes to the descriptor. An exit status.
 */
int child(const struct plan *plan, int report);

/* What an event takes in the traces of this name, the rotated ones too. [bytes] */
double trace_bytes(const char *trace);

/*
 * reference.c: a loop that does nothing but copy: slots of 64 bytes out of a ring that another core fills, into
 * packets in which an event has so many bytes, written to files at `path` that are rotated as traces are.
 */
struct outcome reference(const char *path, double bytes, uint64_t n_slots, double seconds);

#endif
