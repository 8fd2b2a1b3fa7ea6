/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/PID/stat and /proc/PID/task/TID/stat, which tell all of it in one read. */
#include "writer/format/life.h"

#include "ktr/session/kernel.h"
#include "ktr/session/libc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* proc_pid_stat(5): "pid (comm) state ppid ..."; comm may hold anything, so that the last ')' ends it. */
static void life_parse(const char *text, bool is_thread, struct ktr__life_stat *stat)
{
	const char *name = strchr(text, '('), *at = strrchr(text, ')'), *field = at ? at + 2 : NULL;
	unsigned long n_threads;

	if (!name || !at || at[1] != ' ')
		return;
	snprintf(stat->name, sizeof(stat->name), "%.*s", (int)(at - name - 1), name + 1);
	for (unsigned i = 3; i < 20 && field; i++) /* to num_threads, field 20 */
		field = strchr(field, ' ') ? strchr(field, ' ') + 1 : NULL;
	if (!field)
		return;
	n_threads = strtoul(field, NULL, 10);
	/* A zombie that is not merely the first of a process's several threads has ended. */
	if ((at[2] == 'Z' || at[2] == 'X') && (is_thread || n_threads <= 1))
		return;
	field = strchr(field, ' '); /* itrealvalue, and then */
	field = field ? strchr(field + 1, ' ') : NULL;
	stat->start_time = field ? strtoull(field, NULL, 10) : 0;
}

/* With hidepid (proc(5)) processes of others do not show: the kernel is asked. Threads show where theirs does. */
static bool life_is_known(uint32_t pid, bool is_thread)
{
	int why = errno, fd;

	if (why != ENOENT && why != ESRCH)
		return false;
	if (is_thread)
		return true;
	fd = ktr__pidfd_open((pid_t)pid);
	why = errno;
	if (fd >= 0)
		close(fd);
	return fd < 0 && why == ESRCH;
}

bool ktr__life_stat(uint32_t pid, uint32_t tid, struct ktr__life_stat *stat)
{
	char path[64], text[1024];

	memset(stat, 0, sizeof(*stat));
	if (tid)
		snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	errno = 0;
	if (!ktr__kernel_text(path, text, sizeof(text)))
		return life_is_known(pid, tid != 0);
	life_parse(text, tid != 0, stat);
	return true;
}
