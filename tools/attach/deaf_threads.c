/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/attach/deaf_threads.h"

#include "ktr/provider/syscall/tracee_proc.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From 40 to 61, each a bit: one of these a timer sends (ktr/provider/timer/signal.h). */
#define DEAF_SIGNALS (UINT64_MAX << (40 - 1) & UINT64_MAX >> (64 - 61))

/* Does a thread block each signal that a timer may send? Those of ktr's do, and count for nothing. */
static bool deaf_is(pid_t pid, const char *tid)
{
	char path[96], text[4096];
	const char *field;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)pid, tid);
	if (ktr__tracee_text(path, text, sizeof(text)) <= 0 || strncmp(text, "Name:\tktr-", 10) == 0)
		return false;
	field = ktr__tracee_field(text, "SigBlk");
	return field && (strtoull(field, NULL, 16) & DEAF_SIGNALS) == DEAF_SIGNALS;
}

unsigned deaf_threads(pid_t pid)
{
	char path[64];
	const struct dirent *at;
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (at = readdir(dir)) != NULL)
		n += at->d_name[0] != '.' && deaf_is(pid, at->d_name);
	if (dir)
		closedir(dir);
	return n;
}
