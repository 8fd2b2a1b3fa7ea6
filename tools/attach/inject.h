/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Has a running process take in the agent, or asks the one that is there: a thread of it is stopped for a moment
 * and makes another one, which loads the agent (inject_code.S) and calls it (ktr/agent/call.c).
 */
#ifndef TOOLS_INJECT_H
#define TOOLS_INJECT_H

#include <ktr/error.h>

#include <limits.h>
#include <sys/types.h>

struct inject {
	pid_t pid;
	const char *library; /* the agent's file */
	const char *knobs;   /* name=value, a line each; below 2 KiB */
	/* And then: */
	char session[512]; /* the path of its session, in its own eyes */
	int was_there;     /* the agent was in it before */
	int refused;       /* an errno: the kernel does not let us */
};

/*
 * 0, or -errno with err filled, and the process as before: -ETIMEDOUT: the thread waits for the loader, which
 * somebody else is in, and will find that nobody asks any more. Blocks for some 12 s at most.
 */
int inject_agent(struct inject *inject, struct ktr_error *err);

#endif
