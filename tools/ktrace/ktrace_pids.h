/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes by their number, group, or descent, as /proc lists them. */
#ifndef TOOLS_KTRACE_PIDS_H
#define TOOLS_KTRACE_PIDS_H

#include <stdint.h>
#include <sys/types.h>

struct ktrace_pids {
	pid_t *pid; /* owned */
	uint32_t n, room;
};

/* Adds one that is not there yet. 0 or -ENOMEM. */
int ktrace_pids_add(struct ktrace_pids *pids, pid_t pid);

/* Adds all processes of a group; those that descend from processes that are there. 0 or -errno. */
int ktrace_pids_add_group(struct ktrace_pids *pids, pid_t group);
int ktrace_pids_add_descendants(struct ktrace_pids *pids);

/* Adds whoever traces some process. 0 or -errno. */
int ktrace_pids_add_tracers(struct ktrace_pids *pids);

/* Who traces a process: 0, nobody; -errno. */
pid_t ktrace_pids_tracer(pid_t pid);

void ktrace_pids_free(struct ktrace_pids *pids);

#endif
