/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that wait in calls, and a signal that comes again and again, until the standard input ends: then it
 * says how many calls ended with EINTR, which none should, and how many signals did not come, and ends with 1 if
 * there were such.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#define BUSY_PATIENCE 20000 /* [ms] for a signal */

static volatile int done;
static volatile sig_atomic_t caught;
static unsigned long interrupted, lost, sent, rounds;
static int bell, pipes[2];

static void busy_caught(int number)
{
	(void)number;
	caught++;
}

static void busy_failed(const char *call)
{
	if (errno != EINTR)
		return;
	fprintf(stderr, "%s: EINTR\n", call);
	__atomic_fetch_add(&interrupted, 1, __ATOMIC_RELAXED);
}

static void *busy_sleep(void *argument)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	for (; !done; rounds++)
		if (nanosleep(&ms, NULL) < 0)
			busy_failed("nanosleep");
	return argument;
}

static void *busy_ring(void *argument)
{
	struct timespec ms = { .tv_nsec = 3000000 };
	uint64_t one = 1;

	while (!done) {
		nanosleep(&ms, NULL);
		if (write(bell, &one, sizeof(one)) < 0 || write(pipes[1], "x", 1) < 0)
			busy_failed("write");
	}
	close(pipes[1]);
	return argument;
}

static void *busy_epoll(void *argument)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);
	uint64_t n;

	epoll_ctl(fd, EPOLL_CTL_ADD, bell, &event);
	while (!done) {
		if (epoll_wait(fd, &event, 1, 1000) < 0)
			busy_failed("epoll_wait");
		else if (read(bell, &n, sizeof(n)) < 0)
			busy_failed("read");
	}
	return argument;
}

static void *busy_read(void *argument)
{
	char byte;

	for (;;) {
		ssize_t n = read(pipes[0], &byte, 1);

		if (n == 0)
			return argument;
		if (n < 0)
			busy_failed("read");
	}
}

/* Nobody gives up what this waits for: it ends with its time. */
static void *busy_semaphore(void *argument)
{
	struct sembuf take = { 0, -1, 0 };
	int id = semget(IPC_PRIVATE, 1, 0600);

	while (!done && id >= 0) {
		struct timespec time = { .tv_nsec = 50000000 };

		if (semtimedop(id, &take, 1, &time) < 0)
			busy_failed("semtimedop");
	}
	semctl(id, 0, IPC_RMID);
	return argument;
}

static void *busy_compute(void *argument)
{
	while (!done)
		;
	return argument;
}

/* The only thread that takes the signal; each is waited for. */
static void *busy_signals(void *argument)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	for (; !done; sent++) {
		int before = caught;

		nanosleep(&ms, NULL);
		kill(getpid(), SIGUSR1);
		for (int i = 0; caught == before && i < BUSY_PATIENCE; i++)
			nanosleep(&ms, NULL);
		lost += caught == before;
	}
	return argument;
}

int main(void)
{
	static void *(*const bodies[])(void *) = { busy_sleep, busy_ring, busy_epoll, busy_read, busy_semaphore,
						   busy_compute, busy_signals };
	struct sigaction action = { .sa_handler = busy_caught };
	pthread_t thread[7];
	sigset_t one;
	char byte;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(SIGUSR1, &action, NULL);
	bell = eventfd(0, 0);
	if (pipe(pipes) < 0)
		return 2;
	for (int i = 0; i < 7; i++)
		pthread_create(&thread[i], NULL, bodies[i], NULL);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) != 0)
		;
	done = 1;
	for (int i = 0; i < 7; i++)
		pthread_join(thread[i], NULL);
	printf("%lu ended with EINTR, %lu of %lu signals lost, %lu rounds\n", interrupted, lost, sent, rounds);
	return interrupted || lost || !sent;
}
