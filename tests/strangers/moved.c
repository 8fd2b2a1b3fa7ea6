/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other users, other roots, other namespaces, no descriptors: what the process could do when ktr started, it cannot
 * do any more.
 */
#include "host.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static void moved_child(struct oracle_row *row)
{
	pid_t pid = fork();

	if (pid == 0) {
		say(oracle_row(ORACLE_KEPT), FEW);
		thread_says(FEW);
		exit(3);
	}
	say(row, FEW);
	reap(pid, 3 << 8);
}

/* What comes behind the change: events on, a new thread, a child if there shall be one, an output. */
static int moved_on(struct oracle_row *row, bool forks)
{
	say(row, MANY);
	thread_says(FEW);
	for (int i = 0; forks && i < 3; i++)
		moved_child(row);
	say(row, FEW);
	return 5;
}

static int moved_user(bool forks)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);

	say(row, FEW);
	MUST(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
	tell("nobody\n");
	return moved_on(row, forks);
}

int life_setuid(void)
{
	return moved_user(false);
}

int life_setuid_fork(void)
{
	return moved_user(true);
}

/* The directory is the cell's, and empty. */
static int moved_root(bool forks)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	const char *root = getenv("STRANGERS_ROOT");

	say(row, FEW);
	MUST(root && chroot(root) == 0 && chdir("/") == 0 && access("/proc", F_OK) != 0);
	tell("another root\n");
	return moved_on(row, forks);
}

int life_chroot(void)
{
	return moved_root(false);
}

int life_chroot_fork(void)
{
	return moved_root(true);
}

/* A child with namespaces of its own, which lives until the pipe is closed; its child is the first one there. */
static pid_t moved_make_namespaces(int *done)
{
	int ready[2], end[2];
	char byte = 0;
	pid_t pid;

	MUST(pipe2(ready, O_CLOEXEC) == 0 && pipe2(end, O_CLOEXEC) == 0);
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0) {
		close(end[1]);
		MUST(unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID) == 0);
		pid = fork();
		MUST(pid >= 0);
		if (pid == 0) {
			say(oracle_row(ORACLE_KEPT), FEW);
			_exit(write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 0);
		}
		close(ready[1]);
		reap(pid, 0);
		_exit(0);
	}
	close(ready[1]);
	close(end[0]);
	MUST(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	*done = end[1];
	return pid;
}

static int moved_open_namespace(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0);
	return fd;
}

static int moved_namespaces(bool forks)
{
	static const char *const names[] = { "uts", "pid_for_children", "mnt" };
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	int done, fd[3], status;
	pid_t pid;

	say(row, FEW);
	pid = moved_make_namespaces(&done);
	for (int i = 0; i < 3; i++)
		fd[i] = moved_open_namespace(pid, names[i]);
	for (int i = 0; i < 3; i++) {
		/* The kernel refuses another mount namespace to who shares root and working directory. */
		MUST(setns(fd[i], 0) == 0);
		close(fd[i]);
	}
	tell("other namespaces\n");
	/* A new thread would be of another pid namespace than its process: Linux makes none. */
	say(row, MANY);
	for (int i = 0; forks && i < 3; i++)
		moved_child(row);
	close(done);
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	say(row, FEW);
	return 5;
}

int life_setns(void)
{
	return moved_namespaces(false);
}

int life_setns_fork(void)
{
	return moved_namespaces(true);
}

/* The child is the first process of its pid namespace, where nobody knows its parent's number. */
int life_unshare_fork(void)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);

	say(row, FEW);
	MUST(unshare(CLONE_NEWPID) == 0);
	moved_child(row);
	say(row, FEW);
	tell("end\n");
	return 5;
}

/* Where a C library has it. */
__attribute__((weak)) void closefrom(int);

static void moved_close(int first)
{
	if (closefrom)
		closefrom(first);
	else
		for (int fd = first; fd < 1024; fd++)
			close(fd);
}

/* What is opened then has the lowest numbers, and gets what the host writes, nothing else. */
static int moved_closed(int first, bool forks)
{
	struct oracle_row *row = oracle_row(ORACLE_KEPT);
	const char *path = getenv("STRANGERS_FILE");
	char text[32];
	int fd[4], code;

	say(row, FEW);
	tell("before\n");
	moved_close(first);
	say(row, FEW);
	for (int i = 0; i < 4; i++) {
		fd[i] = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
		snprintf(text, sizeof(text), "descriptor %d\n", fd[i]);
		MUST(fd[i] >= 0 && write(fd[i], text, strlen(text)) == (ssize_t)strlen(text));
	}
	code = moved_on(row, forks);
	for (int i = 0; i < 4; i++)
		MUST(write(fd[i], "on\n", 3) == 3);
	return code;
}

int life_closefrom(void)
{
	return moved_closed(3, false);
}

int life_closefrom_all(void)
{
	return moved_closed(0, false);
}

int life_closefrom_fork(void)
{
	return moved_closed(3, true);
}
