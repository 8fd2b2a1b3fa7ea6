/* SPDX-License-Identifier: BSD-2-Clause */
/* What `ktr attach` and `ktr detach` do, for commands that have a process recorded for a while. */
#ifndef TOOLS_CMD_ATTACH_H
#define TOOLS_CMD_ATTACH_H

#include <limits.h>
#include <stdint.h>

struct attach_command {
	const char *command; /* argv[0] */
	uint64_t pid;
	const char *mask, *trace; /* NULL: not asked for */
	const char *functions, *statics, *locks, *heap; /* likewise, as --fbt, --usdt, --lock, --heap of ktr run */
	uint64_t entries;	  /* likewise 0 */
	int kernel, force;
	int quiet; /* nothing is said of what may be done next */
	int alone; /* only where it is not recorded yet, and by the agent; what it has recorded before is cleared */
};

/* Attaches as was asked for. An exit status, after complaints; *session: its path. */
int attach_process(const struct attach_command *c, char session[PATH_MAX]);

/* Ends it, and waits until the process writes no more. An exit status, after complaints. */
int detach_process(const char *command, uint64_t pid);

#endif
