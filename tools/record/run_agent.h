/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr run --agent: what has to be preloaded, if it can be. */
#ifndef TOOLS_RUN_AGENT_H
#define TOOLS_RUN_AGENT_H

#include <limits.h>
#include <stddef.h>

struct run_agent {
	int needed; /* the program does not have libktr of its own */
	char preload[2 * PATH_MAX]; /* as LD_PRELOAD is to be */
};

/* 0, or an exit status where the program cannot take the agent in, which has been said with its reason. */
int run_agent_find(const char *command, const char *program, int always, struct run_agent *agent);

#endif
