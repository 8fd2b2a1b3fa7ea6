/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr run's hold on the session of all programs that it starts: as long as it lasts, the session stays when the
 * last of them has left it, and the next one goes on in it, and with its trace (KTR_SESSION_RUN_SUFFIX).
 */
#ifndef TOOLS_RUN_HOLD_H
#define TOOLS_RUN_HOLD_H

#include <limits.h>

struct run_hold {
	int fd; /* -1: it cannot be held, and each program sees to its session itself */
	char path[PATH_MAX];
};

/* name: the session's. What is left of an earlier one of that name is moved aside, as who makes it would do. */
void run_hold_begin(struct run_hold *hold, const char *name);

/* From now on who leaves the session last removes it. */
void run_hold_end(struct run_hold *hold);

/* Of a ktr run that was killed: what it has left, if nobody else holds it. */
void run_hold_clear(struct run_hold *hold);

#endif
