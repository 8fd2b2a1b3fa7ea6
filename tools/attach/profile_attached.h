/* SPDX-License-Identifier: BSD-2-Clause */
/* `ktr profile -p PID`: a program that runs already is sampled for a while. */
#ifndef TOOLS_PROFILE_ATTACHED_H
#define TOOLS_PROFILE_ATTACHED_H

#include <stdint.h>

struct profile_attached {
	const char *command; /* argv[0] */
	uint64_t pid, for_ns; /* 0: until a signal comes or it ends */
	const char *trace, *probes; /* SPECs, separated by commas */
	const char *mask;	    /* classes that come with them */
	unsigned source;	    /* 0, 2: timers; 1: perf events; 3: those where they can be had */
	int kernel;		    /* context switches and page faults, too */
	int force;
};

/* Takes the agent in, samples, switches all off again. The exit status, after complaints. */
int profile_attached(const struct profile_attached *p);

#endif
