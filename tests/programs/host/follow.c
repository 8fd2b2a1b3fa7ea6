/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A family for debug.ktr.follow_fork. Its first argument says how children are made; each event tells who
 * records it, and with "leave" everybody ends by _exit(2), so that sessions stay to be looked at.
 *
 *	fork	a child and, in it, a grandchild that loads nothing and records; then the parent again
 *	double	a daemon's double fork: the grandchild goes on when both parents have ended
 *	exec	fork and exec of ourselves
 *	vfork	the same by vfork(2): events of the child before exec are dropped
 *	spawn	posix_spawn(3)
 *	system	system(3)
 *	child	what exec and its like start
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

KTR_CLASS_DEFINE(family, "a class of our own");

static char self[] = "/proc/self/exe", child_word[] = "child";
static char *child_args[] = { self, child_word, NULL };

/* Events of both kinds, from the same call sites whoever calls. */
static void say(const char *who)
{
	for (int i = 0; i < 10; i++)
		CTR2(KTR_GEN, "gen %d of %s", i, who);
	for (int i = 0; i < 10; i++)
		CTR2(KTR_CLASS(family), "family %d of %s", i, who);
}

static void *thread_main(void *who)
{
	ktr_thread_name("second");
	say(who);
	return NULL;
}

static void say_twice(const char *who, const char *thread)
{
	pthread_t id;

	say(who);
	if (pthread_create(&id, NULL, thread_main, (void *)(uintptr_t)thread) == 0)
		pthread_join(id, NULL);
}

static void reap(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		_exit(3);
}

static void by_fork(int twice)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (!twice)
			say_twice("child", "thread");
		pid = fork();
		if (pid == 0) {
			say("grandchild");
			_exit(0);
		}
		reap(pid);
		_exit(0);
	}
	reap(pid);
}

static void by_exec(pid_t (*start)(void))
{
	pid_t pid = start();

	if (pid == 0) {
		CTR0(KTR_GEN, "before exec");
		execv(self, child_args);
		_exit(127);
	}
	reap(pid);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char command[256];
	pid_t pid;

	child_args[0] =
		argv[0]; /* the same name, and so the same session where the process is the same */
	if (strcmp(how, "child") == 0) {
		say("child");
		_exit(0);
	}
	say("parent");
	if (strcmp(how, "fork") == 0)
		by_fork(0);
	else if (strcmp(how, "double") == 0)
		by_fork(1);
	else if (strcmp(how, "exec") == 0)
		by_exec(fork);
	else if (strcmp(how, "vfork") == 0)
		by_exec(vfork);
	else if (strcmp(how, "spawn") == 0 &&
		 posix_spawn(&pid, self, NULL, NULL, child_args, environ) == 0)
		reap(pid);
	else if (strcmp(how, "system") == 0) {
		snprintf(command, sizeof(command), "exec %s child", argv[0]);
		if (system(command))
			return 3;
	}
	say("parent, again");
	if (argc > 2)
		return 0; /* a clean exit: what is left is the children's */
	_exit(0);
}
