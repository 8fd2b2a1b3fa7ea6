/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/task/task_call.h"

#include "ktr/provider/syscall/tracee_proc.h"

#include <stdio.h>
#include <stdlib.h>

/* proc(5), /proc/PID/stat: the 22nd field; the third stands behind the name's last bracket and a blank. */
uint64_t ktr__task_started(pid_t pid, pid_t tid)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)(tid ? tid : pid));
	at = ktr__tracee_text(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	for (int i = 2; at && i < 22; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}
