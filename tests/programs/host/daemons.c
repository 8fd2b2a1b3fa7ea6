/* SPDX-License-Identifier: BSD-2-Clause */
/* For daemons.sh: processes that outlive those that started them, or live in other namespaces. */
#include <ktr.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIP 77 /* exit status: the kernel does not let us */

static void say(int from, int to)
{
	for (int i = from; i < to; i++)
		CTR1(KTR_GEN, "daemon %d", i);
}

static void wait_end(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

/* Its destructor runs behind the library's (libktr.a), and takes as long as the child lives. */
static int linger_left = -1, linger_end = -1;

__attribute__((destructor(101))) static void linger(void)
{
	if (linger_left < 0)
		return;
	close(linger_left);
	wait_end(linger_end);
}

static int lingers(void)
{
	int left[2], end[2];

	say(0, 10);
	if (pipe2(left, O_CLOEXEC) || pipe2(end, O_CLOEXEC))
		return 1;
	if (fork() > 0) {
		close(end[1]);
		linger_left = left[1];
		linger_end = end[0];
		return 0;
	}
	close(left[1]);
	wait_end(left[0]);
	say(10, 20);
	return 0;
}

/* The parent has ended before the child goes on, however that was made. Standard output stays open. */
static int outlives(pid_t (*make)(void), int closes)
{
	int end[2];

	say(0, 10);
	if (pipe2(end, O_CLOEXEC))
		return 1;
	if (make() > 0)
		_exit(0);
	close(end[1]);
	wait_end(end[0]);
	for (int fd = 2; closes && fd < 1024; fd++)
		close(fd);
	say(10, 20);
	return 0;
}

static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* A child that is the first of its pid namespace, and ends while its parent lives. */
static int newpid(int (*then)(void))
{
	int status;

	say(0, 10);
	if (unshare(CLONE_NEWPID))
		return SKIP;
	if (fork() == 0)
		exit(then());
	if (wait(&status) < 0 || !WIFEXITED(status))
		return 1;
	say(20, 30);
	return WEXITSTATUS(status);
}

static int newpid_says(void)
{
	say(10, 20);
	return 0;
}

/* Another program there, of the same session and settings: the writer is its parent's parent's affair. */
static int newpid_executes(void)
{
	execl("/proc/self/exe", "daemons", "says", (char *)NULL);
	return 1;
}

static int enter(void)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return SKIP;
	/* Without the right to it: EPERM. With threads that share root and directory: EINVAL, the fault. */
	rc = setns(fd, 0) == 0 ? 0 : errno == EPERM ? SKIP : 1;
	close(fd);
	return rc;
}

static int enters(void)
{
	int rc = enter(), status;

	if (fork() == 0)
		_exit(enter());
	if (wait(&status) < 0)
		return 1;
	return rc == SKIP ? SKIP : status ? 1 : rc;
}

static void *sleeps(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* The writer is killed before it has written; the child has no successor, as its parent had threads. */
static int killed(void)
{
	pthread_t thread;
	int end[2];

	if (pthread_create(&thread, NULL, sleeps, NULL) || pipe2(end, O_CLOEXEC))
		return 1;
	if (fork() > 0) {
		say(0, 10);
		kill(getpid(), SIGKILL);
	}
	close(end[1]);
	wait_end(end[0]);
	return 0;
}

/* A daemon that ends when its standard input does. It is there when the first process goes. */
static int serves(void)
{
	int there[2];
	char byte;

	say(0, 10);
	if (pipe(there))
		return 1;
	if (fork() > 0) {
		close(there[1]);
		return read(there[0], &byte, 1) == 0 ? 6 : 1;
	}
	close(there[0]);
	close(there[1]);
	wait_end(0);
	say(10, 20);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "lingers") == 0)
		return lingers();
	if (strcmp(how, "outlives") == 0)
		return outlives(fork, 0);
	if (strcmp(how, "closes") == 0)
		return outlives(fork, 1);
	if (strcmp(how, "raw") == 0)
		return outlives(raw_fork, 0);
	if (strcmp(how, "newpid") == 0)
		return newpid(newpid_says);
	if (strcmp(how, "newpid-exec") == 0)
		return newpid(newpid_executes);
	if (strcmp(how, "enters") == 0)
		return enters();
	if (strcmp(how, "killed") == 0)
		return killed();
	if (strcmp(how, "serves") == 0)
		return serves();
	if (strcmp(how, "says") == 0)
		return newpid_says();
	return 2;
}
