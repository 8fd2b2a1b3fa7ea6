/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads of which each waits in a call of its own, below functions that are known: outer, middle, and one of the
 * thread's kind. Ends when its standard input does.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static volatile unsigned long counted;

#define APART __attribute__((noinline, noclone))
#define AFTER __asm__ volatile("" ::: "memory") /* no call is the last thing of its function */

static APART void wait_futex(void)
{
	pthread_mutex_lock(&wanted); /* line of futex */
	AFTER;
}

static APART void wait_read(void)
{
	char byte;

	if (read(ends[0], &byte, 1) < 0) /* line of read */
		exit(3);
	AFTER;
}

static APART void wait_sleep(void)
{
	const struct timespec time = { 600, 0 };

	nanosleep(&time, NULL); /* line of sleep */
	AFTER;
}

static APART void wait_poll(void)
{
	struct pollfd fd = { ends[0], POLLIN, 0 };

	poll(&fd, 1, 600000); /* line of poll */
	AFTER;
}

static APART void wait_signal(void)
{
	const struct timespec time = { 600, 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	/* SIGSTOP and SIGCONT end it. */
	while (sigtimedwait(&set, NULL, &time) < 0 && errno == EINTR) /* line of signal */
		;
}

static APART void wait_run(void)
{
	setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
	for (;;)
		counted++; /* line of run */
}

static APART void wait_handler(int number)
{
	(void)number;
	pause(); /* line of handler */
	AFTER;
}

static APART void wait_raise(void)
{
	signal(SIGUSR1, wait_handler);
	pthread_kill(pthread_self(), SIGUSR1);
	AFTER;
}

static const struct {
	const char *name;
	void (*wait)(void);
} kind[] = { { "futex", wait_futex },	{ "read", wait_read }, { "sleep", wait_sleep },	   { "poll", wait_poll },
	     { "signal", wait_signal }, { "run", wait_run },   { "handler", wait_raise } };

APART void middle(unsigned i)
{
	char room[300];

	memset(room, 1, sizeof(room));
	__asm__ volatile("" ::"r"(room) : "memory");
	kind[i].wait();
	AFTER;
}

APART void outer(unsigned i)
{
	middle(i);
	AFTER;
}

static void *run(void *which)
{
	unsigned i = (unsigned)(unsigned long)which;

	prctl(PR_SET_NAME, kind[i].name);
	outer(i);
	return NULL;
}

int main(void)
{
	pthread_t id;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pipe(ends))
		return 2;
	pthread_mutex_lock(&wanted);
	for (unsigned long i = 0; i < sizeof(kind) / sizeof(kind[0]); i++)
		pthread_create(&id, NULL, run, (void *)i);
	printf("begun\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
