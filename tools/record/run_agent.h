/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr run --agent: what has to be preloaded, if it can be. */
#ifndef TOOLS_RUN_AGENT_H
#define TOOLS_RUN_AGENT_H

#include <limits.h>
#include <stddef.h>

struct run_agent {
	int needed; /* the program does not have libktr of its own */
	int shell;  /* it is a script for one, or for env(1): what counts is what it starts, or becomes */
	char preload[2 * PATH_MAX]; /* as LD_PRELOAD is to be */
};

/* 0, or an exit status where the program cannot take the agent in, which has been said with its reason. */
int run_agent_find(const char *command, const char *program, int always, struct run_agent *agent);

/* Behind the last line, of a program whose children were not asked for: what was not recorded. */
void run_agent_say(const struct run_agent *agent, const char *program);

#endif
