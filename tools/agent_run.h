/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_AGENT_RUN_H
#define TOOLS_AGENT_RUN_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Runs "ktr run --agent OPTION VALUE -- PROGRAM ..." and waits for its end: the trace is ./ktr.out then. 0, or the
 * exit status after a complaint where the program could not be started. What the terminal sends is for the program.
 */
int agent_run(const char *command, const char *option, const char *value, char **program);

/*
 * Runs "ktr attach -p PID OPTION VALUE -o ktr.out", and after for_ns, an interrupt, or the process's end
 * "ktr detach". verbose: says on stderr when it is attached. 0, or 1 where it could not be.
 */
struct agent_attached {
	uint64_t began_ns; /* the trace may have what was recorded before, when it was attached to before */
	int has_trace;	   /* ./ktr.out; 0: somebody has one written already, and the session tells */
};

int agent_attach(const char *command, pid_t pid, const char *option, const char *value, uint64_t for_ns,
		 int verbose, struct agent_attached *attached);

#endif
