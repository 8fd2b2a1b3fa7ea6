/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t launch_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void launch_nap(void)
{
	const struct timespec ts = { 0, 1000000 };

	nanosleep(&ts, NULL);
}

static void launch_open(const char *path, int flags, int fd)
{
	int got = open(path, flags, 0600);

	if (got < 0 || dup2(got, fd) != fd)
		_exit(125);
	if (got != fd)
		close(got);
}

/* SIGCHLD is blocked from here on: launch_wait() takes it. */
void launch_start(struct launch *launch)
{
	sigset_t child, none;

	sigemptyset(&none);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	launch->begun_ns = launch_now();
	launch->pid = fork();
	if (launch->pid)
		return;
	sigprocmask(SIG_SETMASK, &none, NULL);
	launch_open("/dev/null", O_RDONLY, STDIN_FILENO);
	launch_open(launch->out, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
	launch_open(launch->err, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
	execv(launch->argv[0], (char *const *)(uintptr_t)launch->argv);
	_exit(126);
}

static bool launch_is_ours(const char *name)
{
	char path[300], text[512], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/stat", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strrchr(text, ')'); /* behind the name: state, parent */
	return at && atol(at + 4) == (long)getpid();
}

/* Whose parents are killed becomes our child: it is found in the next round. */
static unsigned launch_kill(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]) && launch_is_ours(entry->d_name))
			n += kill((pid_t)atol(entry->d_name), SIGKILL) == 0;
	if (dir)
		closedir(dir);
	return n;
}

static void launch_ended(struct launch *launch, pid_t pid, int status)
{
	if (!launch)
		return;
	if (pid == launch->pid) {
		launch->status = status;
		launch->own_ns = launch_now() - launch->begun_ns;
	}
	/* The other one's end is none of this one's descendants': it is told apart by its own times. */
	launch->all_ns = launch_now() - launch->begun_ns;
}

void launch_wait(struct launch *launch, struct launch *other, uint64_t limit_ns)
{
	const struct timespec look = { 0, 100000000 };
	uint64_t until = launch_now() + limit_ns;
	sigset_t child;
	int status;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
			if (other && pid == other->pid)
				launch_ended(other, pid, status);
			else
				launch_ended(launch, pid, status);
		}
		if (pid < 0 && errno == ECHILD)
			return;
		if (launch_now() >= until)
			launch->n_killed += launch_kill();
		sigtimedwait(&child, NULL, &look);
	}
}
