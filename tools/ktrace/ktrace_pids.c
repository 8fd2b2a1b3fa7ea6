/* SPDX-License-Identifier: BSD-2-Clause */
/* A process may end while the list is read: it is none then. */
#include "tools/ktrace/ktrace_pids.h"

#include "conf/kit/array.h"
#include "ktr/provider/syscall/tracee_memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int ktrace_pids_has(const struct ktrace_pids *pids, pid_t pid)
{
	for (uint32_t i = 0; i < pids->n; i++)
		if (pids->pid[i] == pid)
			return 1;
	return 0;
}

int ktrace_pids_add(struct ktrace_pids *pids, pid_t pid)
{
	if (ktrace_pids_has(pids, pid))
		return 0;
	if (ktr__array_grow(&pids->pid, &pids->room, pids->n, sizeof(pids->pid[0])))
		return -ENOMEM;
	pids->pid[pids->n++] = pid;
	return 0;
}

/* Adds what pick() makes of each process; 0 is nothing. */
static int ktrace_pids_each(struct ktrace_pids *pids,
			    pid_t (*pick)(const struct ktrace_pids *pids, pid_t pid, pid_t of), pid_t of)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int rc = 0;

	if (!dir)
		return -errno;
	while (rc == 0 && (entry = readdir(dir)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), picked = pid > 0 ? pick(pids, pid, of) : 0;

		if (picked > 0)
			rc = ktrace_pids_add(pids, picked);
	}
	closedir(dir);
	return rc;
}

static pid_t ktrace_pids_of_group(const struct ktrace_pids *pids, pid_t pid, pid_t group)
{
	(void)pids;
	return getpgid(pid) == group ? pid : 0;
}

int ktrace_pids_add_group(struct ktrace_pids *pids, pid_t group)
{
	return ktrace_pids_each(pids, ktrace_pids_of_group, group);
}

static pid_t ktrace_pids_of_parent(const struct ktrace_pids *pids, pid_t pid, pid_t of)
{
	uint64_t parent = 0;

	(void)of;
	ktr__tracee_status(pid, "PPid:", 10, &parent);
	return parent && ktrace_pids_has(pids, (pid_t)parent) ? pid : 0;
}

int ktrace_pids_add_descendants(struct ktrace_pids *pids)
{
	uint32_t before;
	int rc;

	/* A child may stand before its parent. */
	do {
		before = pids->n;
		rc = ktrace_pids_each(pids, ktrace_pids_of_parent, 0);
	} while (!rc && pids->n != before);
	return rc;
}

pid_t ktrace_pids_tracer(pid_t pid)
{
	uint64_t tracer = 0;
	int rc = ktr__tracee_status(pid, "TracerPid:", 10, &tracer);

	return rc == -ENOENT ? -ESRCH : rc ? rc : (pid_t)tracer;
}

static pid_t ktrace_pids_of_tracer(const struct ktrace_pids *pids, pid_t pid, pid_t of)
{
	(void)pids;
	(void)of;
	return ktrace_pids_tracer(pid);
}

int ktrace_pids_add_tracers(struct ktrace_pids *pids)
{
	return ktrace_pids_each(pids, ktrace_pids_of_tracer, 0);
}

void ktrace_pids_free(struct ktrace_pids *pids)
{
	free(pids->pid);
}
