/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of what is being written. Each row is complete before its kind is set, which a signal handler looks at
 * first. Only system calls are made in the handler, those that POSIX allows there and getdents64(2).
 */
#include "analyze/print/unfinished.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNFINISHED_DEEP 3 /* folders in folders; a trace has one in it, which may have another */

enum unfinished_kind {
	UNFINISHED_NONE,
	UNFINISHED_FILE,
	UNFINISHED_TRACE,
	UNFINISHED_PROCESS
};

static struct {
	atomic_int kind;
	int dir_fd;
	pid_t pid;
	char dir[PATH_MAX];  /* of a trace */
	char name[PATH_MAX]; /* of a trace: what its hidden names begin with */
} unfinished_row[KTR__UNFINISHED_MAX];

static int unfinished_free(void)
{
	for (int i = 0; i < KTR__UNFINISHED_MAX; i++)
		if (unfinished_row[i].kind == UNFINISHED_NONE)
			return i;
	return -1;
}

int ktr__unfinished_file(int dir_fd, const char *name)
{
	int at = unfinished_free();

	if (at < 0 || strlen(name) >= PATH_MAX)
		return -1;
	unfinished_row[at].dir_fd = dir_fd;
	strcpy(unfinished_row[at].name, name);
	unfinished_row[at].kind = UNFINISHED_FILE;
	return at;
}

int ktr__unfinished_trace(const char *path)
{
	int at = unfinished_free();
	size_t n = strlen(path);
	const char *slash;

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (at < 0 || n == 0 || n + 32 > PATH_MAX)
		return -1;
	slash = memrchr(path, '/', n);
	snprintf(unfinished_row[at].dir, PATH_MAX, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
	slash = slash ? slash + 1 : path;
	snprintf(unfinished_row[at].name, PATH_MAX, ".%.*s.%d.", (int)(path + n - slash), slash, (int)getpid());
	unfinished_row[at].kind = UNFINISHED_TRACE;
	return at;
}

int ktr__unfinished_process(pid_t pid)
{
	int at = unfinished_free();

	if (at < 0)
		return -1;
	unfinished_row[at].pid = pid;
	unfinished_row[at].kind = UNFINISHED_PROCESS;
	return at;
}

void ktr__unfinished_done(int at)
{
	if (at >= 0)
		unfinished_row[at].kind = UNFINISHED_NONE;
}

void ktr__unfinished_hold(sigset_t *before)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, before);
}

void ktr__unfinished_let(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* Removes what lies in a folder and has a name that begins so. */
static void unfinished_sweep(int dir_fd, const char *prefix, int deep)
{
	char bytes[4096] __attribute__((aligned(8)));
	size_t n_prefix = strlen(prefix);
	long n;

	while ((n = syscall(SYS_getdents64, dir_fd, bytes, sizeof(bytes))) > 0)
		for (long at = 0; at < n;) {
			const struct dirent64 *entry = (const void *)(bytes + at);
			const char *name = entry->d_name;
			int fd;

			at += entry->d_reclen;
			if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strncmp(name, prefix, n_prefix) != 0)
				continue;
			if (unlinkat(dir_fd, name, 0) == 0 || deep == UNFINISHED_DEEP)
				continue;
			fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (fd < 0)
				continue;
			unfinished_sweep(fd, "", deep + 1);
			close(fd);
			unlinkat(dir_fd, name, AT_REMOVEDIR);
		}
}

static void unfinished_remove_trace(int at)
{
	int fd = open(unfinished_row[at].dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	unfinished_sweep(fd, unfinished_row[at].name, 0);
	close(fd);
}

void ktr__unfinished_remove(void)
{
	for (int i = 0; i < KTR__UNFINISHED_MAX; i++) {
		if (unfinished_row[i].kind == UNFINISHED_PROCESS)
			kill(unfinished_row[i].pid, SIGKILL);
		else if (unfinished_row[i].kind == UNFINISHED_FILE)
			unlinkat(unfinished_row[i].dir_fd, unfinished_row[i].name, 0);
		else if (unfinished_row[i].kind == UNFINISHED_TRACE)
			unfinished_remove_trace(i);
		unfinished_row[i].kind = UNFINISHED_NONE;
	}
}
