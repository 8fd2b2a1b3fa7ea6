/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose main thread ends alone. Options, in any order:
 *
 *	raw	by the bare system call, with status 3; else by pthread_exit(3)
 *	fork	in a child, whose status is then passed on
 *	later	other threads end later: one that records, and behind it one that never has
 *	last	the one that records is the last
 *	mute	main records nothing, nor does anybody before it has ended
 *	slow	main's end takes long: others find it gone while the kernel still closes its files
 *	before	another thread has ended before main, as pthread_join(3) says, but its end takes long
 *	term	TERM and INT have come by then, which all of the program's threads block
 *	handled	exit handlers record, too
 *
 * What is printed (in standard output's buffer until the end) is how it would end without a tracer.
 */
#include <ktr.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int raw, later, last, mute, slow, before, term, handled;
static pthread_key_t key;
static pthread_t main_thread;

static void handler_first(void)
{
	if (handled)
		CTR1(KTR_GEN, "handler %d", 1);
	printf("handler 1\n");
}

static void handler_second(void)
{
	if (handled)
		CTR1(KTR_GEN, "handler %d", 2);
	printf("handler 2 %s\n", getpid() == (pid_t)syscall(SYS_gettid) ? "on main" : "on another thread");
}

static void destructor(void *value)
{
	printf("destructor %s\n", (const char *)value);
}

static void *silent(void *thread)
{
	if (thread)
		pthread_join(*(pthread_t *)thread, NULL);
	pthread_join(main_thread, NULL);
	printf("silent\n");
	return NULL;
}

static void *worker(void *other)
{
	if (other)
		pthread_join(*(pthread_t *)other, NULL);
	pthread_join(main_thread, NULL); /* it has ended, whichever way */
	for (int i = 0; i < 1000; i++)
		CTR1(KTR_GEN, "worker %d", i);
	printf("worker\n");
	return NULL;
}

static void start(void)
{
	static pthread_t first, second;

	if (last) {
		pthread_create(&first, NULL, silent, NULL);
		pthread_create(&second, NULL, worker, &first);
	} else {
		pthread_create(&first, NULL, worker, NULL);
		pthread_create(&second, NULL, silent, &first);
	}
}

/*
 * The kernel first clears the word for pthread_join(3), then closes files, and only then shows the thread as
 * dead. So it gets a table of descriptors of its own, with some whose close waits for the kernel's own
 * readers. Where a container refuses that, it ends soon.
 */
static void end_slowly(int files)
{
	if (unshare(CLONE_FILES))
		return;
	while (files-- > 0) {
		int fd = inotify_init1(IN_CLOEXEC);

		if (fd < 0 || inotify_add_watch(fd, "/", IN_DELETE_SELF) < 0)
			exit(97);
	}
}

static void *slow_thread(void *unused)
{
	end_slowly(32);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t set;
	int status, child = 0;

	for (int i = 1; i < argc; i++) {
		raw |= !strcmp(argv[i], "raw");
		later |= !strcmp(argv[i], "later") || !strcmp(argv[i], "last");
		last |= !strcmp(argv[i], "last");
		mute |= !strcmp(argv[i], "mute");
		slow |= !strcmp(argv[i], "slow");
		before |= !strcmp(argv[i], "before");
		term |= !strcmp(argv[i], "term");
		handled |= !strcmp(argv[i], "handled");
		child |= !strcmp(argv[i], "fork");
	}
	if (child && fork()) {
		if (wait(&status) < 0 || !WIFEXITED(status))
			return 99;
		printf("child %d\n", WEXITSTATUS(status));
		return 0;
	}
	main_thread = pthread_self();
	atexit(handler_first);
	atexit(handler_second);
	pthread_key_create(&key, destructor);
	pthread_setspecific(key, "main");
	for (int i = 0; i < 1000 && !mute; i++)
		CTR1(KTR_GEN, "main %d", i);
	printf("main ends\n");
	if (term) {
		sigemptyset(&set);
		sigaddset(&set, SIGTERM);
		sigaddset(&set, SIGINT);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		kill(getpid(), SIGTERM);
		kill(getpid(), SIGINT);
	}
	if (later)
		start();
	if (before) {
		pthread_create(&thread, NULL, slow_thread, NULL);
		pthread_join(thread, NULL);
	}
	if (slow)
		end_slowly(8);
	if (raw)
		syscall(SYS_exit, 3);
	pthread_exit(NULL);
}
