/* SPDX-License-Identifier: BSD-2-Clause */
/* What `ktr run` was asked for, and how the program is told of it. */
#ifndef TOOLS_RUN_ENVIRONMENT_H
#define TOOLS_RUN_ENVIRONMENT_H

#include "tools/options.h"
#include "tools/record/run_agent.h"

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#define RUN_AS_IT_IS UINT64_MAX /* a number that nobody asked for */

struct run_trigger {
	const char *made; /* as debug.ktr.trigger takes it; NULL: it asks for spans, and is ours to look for, */
	const char *text; /* and as it was written */
};

struct run {
	const char *command; /* argv[0] */
	const char *mask;    /* NULL: KTR_MASK as it is, or all */
	const char *trace;   /* as the user wrote it */
	const char *entries;
	const char *session; /* its name */
	struct run_trigger trigger;
	uint64_t after; /* RUN_AS_IT_IS: not asked for */
	const char *probes; /* as debug.ktr.probes takes them */
	const char *functions; /* globs, separated by commas */
	int args; /* their arguments, too */
	const char *members; /* and of what these point to: "req->len,*count"; NULL: none */
	uint64_t longer_ns; /* of these functions only calls that took so long; RUN_AS_IT_IS: not asked for */
	uint64_t depth;	    /* likewise: only so deep ones, */
	const char *callers; /* and within calls of functions of these globs; NULL: whoever calls */
	const char *statics; /* static probes, PROVIDER or PROVIDER:NAME, separated by commas */
	const char *profile; /* the probe that samples its threads; NULL: none */
	uint64_t profile_ns; /* the time between two samples of it */
	unsigned profile_source; /* 0: as the environment says; 1: perf events; 2: timers; 3: any */
	const char *heap; /* all, callers, or bytes between samples; NULL: nothing of memory */
	const char *locks; /* kinds of events of locks, separated by commas */
	int kernel; /* what the kernel tells of its threads, too */
	int agent;  /* the program need not know of libktr, */
	int children; /* nor what it starts */
	struct run_agent preload;
	struct rotate_options rotate;
	char **program;
	char path[PATH_MAX]; /* of the trace, absolute */
	struct stat before;  /* of what lay there, zero if nothing did */
	uint64_t began_ns;   /* CLOCK_MONOTONIC: the program's process came after that */
	struct timespec began;
	sigset_t signals;    /* that we take ourselves */
	sigset_t outer;      /* the mask we were started with, and the program is */
	pid_t pid;
	int status;
};

/* Sets the environment of this process, which is about to become the program. 0, or -1 and errno. */
int run_environment(const struct run *run);

#endif
