/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that traces, behind `ktr ktrace`: a program started by it is itself the process that was ktr
 * ktrace, and whoever attached to one goes on at once, so there is a third one, in a process group of its own,
 * which ends with the last process that it traces.
 */
#ifndef TOOLS_KTRACE_TRACER_H
#define TOOLS_KTRACE_TRACER_H

#include <stdint.h>
#include <sys/types.h>

struct ktrace_job {
	const char *command; /* argv[0], for complaints */
	const char *path;    /* of the file or trace, likewise */
	int fd;		     /* the file; -1: it is a trace, which the tracer makes */
	const char *cmdline; /* of the trace */
	uint32_t points;     /* enum ktr__tracee_points */
	int inherit;
	pid_t launch;	     /* the process that becomes the program; 0: attach to the others */
	const pid_t *pids;
	unsigned n_pids;
};

/* What came of the start. */
struct ktrace_started {
	int error;	/* 0: all goes on; -errno of the first process that could not be traced */
	pid_t pid;	/* that process */
	int said;	/* why not has been said: the trace could not be made */
	unsigned n;	/* processes that are traced */
	pid_t tracer;
};

/* Makes that process, and returns when all are traced. 0 or -errno. */
int ktrace_tracer_start(const struct ktrace_job *job, struct ktrace_started *started);

#endif
