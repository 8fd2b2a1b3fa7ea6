/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a program with all its descendants as ours (PR_SET_CHILD_SUBREAPER), and waits until the last of them has
 * ended; what has not by then is killed, and told of.
 */
#ifndef STRANGERS_LAUNCH_H
#define STRANGERS_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
	const char *const *argv;
	const char *out; /* files */
	const char *err;
	/* Filled by launch_start(), then launch_wait(). */
	pid_t pid;
	uint64_t begun_ns;
	int status;	 /* as wait(2) has it */
	uint64_t own_ns; /* until the program had ended */
	uint64_t all_ns; /* until the last of its descendants had */
	unsigned n_killed; /* processes that were still there when the time was up */
};

uint64_t launch_now(void);
void launch_nap(void); /* between two looks at something that comes soon */
void launch_start(struct launch *launch);
/* Waits for everything that was launched, `limit_ns` from now at most. others: launched too, or NULL. */
void launch_wait(struct launch *launch, struct launch *other, uint64_t limit_ns);

#endif
