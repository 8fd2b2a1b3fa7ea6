/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of ktr run's that keeps the rights the program may give up (setuid(2), chroot(2)), and outlives ktr run
 * where somebody of the session does. Whoever writes the trace and may not do something any more, makes a file or
 * rotates, leaves the trace to it; and so does a writer that has ended while others of its session go on and none
 * of them takes over, as of programs that ktr run has started at once. It writes the trace from then on, as ktr
 * record does, and removes the session at the end.
 */
#ifndef TOOLS_RUN_STANDBY_H
#define TOOLS_RUN_STANDBY_H

#include "tools/record/run_hold.h"

#include <sys/stat.h>
#include <sys/types.h>

struct run_standby {
	pid_t pid; /* 0: there is none */
};

/* trace: its absolute path; before: what lies there and is no trace of the program's; hold: its parent's. */
void run_standby_begin(struct run_standby *standby, const char *trace, const struct stat *before,
		       const struct run_hold *hold);

/*
 * The program has ended. live: others of its session go on, and so does the process, without our standard error;
 * otherwise it ends what it has begun, and has gone when this returns.
 */
void run_standby_end(struct run_standby *standby, int live);

#endif
