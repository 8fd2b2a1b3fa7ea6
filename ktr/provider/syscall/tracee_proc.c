/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/syscall/tracee_proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t ktr__tracee_text(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	to[0] = '\0';
	if (fd < 0)
		return -errno;
	while ((got = read(fd, to + n, size - 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		got = -errno;
	to[n] = '\0';
	close(fd);
	return got < 0 ? got : (ssize_t)n;
}

/* The first line of status is the name, which may hold anything but a line's end. */
const char *ktr__tracee_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = strchr(text, '\n'); at; at = strchr(at + 1, '\n'))
		if (strncmp(at + 1, name, n) == 0 && at[1 + n] == ':')
			return at + 2 + n + strspn(at + 2 + n, " \t");
	return NULL;
}

static int tracee_has_ended(pid_t pid, pid_t tid)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	at = ktr__tracee_text(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	return !at || strlen(at) < 3 || strchr("ZXx", at[2]);
}

pid_t ktr__tracee_living(pid_t pid)
{
	struct dirent *entry;
	pid_t found = pid;
	char path[64];
	DIR *folder;

	if (!tracee_has_ended(pid, pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && found == pid && (entry = readdir(folder)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !tracee_has_ended(pid, tid))
			found = tid;
	}
	if (folder)
		closedir(folder);
	return found;
}
