/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads, of which one is busy all the time and one a third of it, and one that waits: who has the time?
 *
 *	samples SECONDS			prints "heavy NS" and "light NS", the CPU time of each by its own clock
 *	samples SECONDS itimer HZ	and how much of it each has by ITIMER_PROF, whose signal goes to anyone
 *
 * Each is in a function of its own, which calls nobody.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static uint64_t whole_ns;
static volatile uint64_t sink[2];
static volatile sig_atomic_t n_came[3];
static __thread int who;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) void heavy_work(void)
{
	for (unsigned i = 0; i < 500000; i++)
		sink[0] += i;
}

__attribute__((noinline)) void light_work(void)
{
	for (unsigned i = 0; i < 500000; i++)
		sink[1] += i;
}

static void *heavy(void *ns)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + whole_ns;

	who = 1;
	while (now_ns(CLOCK_MONOTONIC) < end)
		heavy_work();
	*(uint64_t *)ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void *light(void *ns)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + whole_ns, from = now_ns(CLOCK_THREAD_CPUTIME_ID), used;

	who = 2;
	while (now_ns(CLOCK_MONOTONIC) < end) {
		struct timespec nap = { 0, 0 };

		light_work();
		used = now_ns(CLOCK_THREAD_CPUTIME_ID) - from;
		from += used;
		nap.tv_nsec = (long)(2 * used % 1000000000u);
		nanosleep(&nap, NULL);
	}
	*(uint64_t *)ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void *waits(void *fd)
{
	char c;

	return read(*(int *)fd, &c, 1) == 1 ? fd : NULL;
}

static void came(int number)
{
	(void)number;
	n_came[who]++;
}

int main(int argc, char **argv)
{
	unsigned hz = argc > 3 && strcmp(argv[2], "itimer") == 0 ? (unsigned)atoi(argv[3]) : 0;
	struct itimerval each = { { 0, hz ? 1000000 / hz : 0 }, { 0, hz ? 1000000 / hz : 0 } };
	struct sigaction action = { .sa_handler = came, .sa_flags = SA_RESTART };
	uint64_t heavy_ns, light_ns;
	pthread_t thread[3];
	int fd[2];

	whole_ns = (uint64_t)(argc > 1 ? atoi(argv[1]) : 1) * 1000000000u;
	if (pipe(fd))
		return 1;
	if (hz) {
		sigaction(SIGPROF, &action, NULL);
		setitimer(ITIMER_PROF, &each, NULL);
	}
	pthread_create(&thread[0], NULL, heavy, &heavy_ns);
	pthread_create(&thread[1], NULL, light, &light_ns);
	pthread_create(&thread[2], NULL, waits, &fd[0]);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	if (write(fd[1], "x", 1) != 1)
		return 1;
	pthread_join(thread[2], NULL);
	printf("heavy %llu\nlight %llu\n", (unsigned long long)heavy_ns, (unsigned long long)light_ns);
	if (hz)
		printf("came %llu %llu\n", (unsigned long long)n_came[1] * 1000000000u / hz,
		       (unsigned long long)n_came[2] * 1000000000u / hz);
	return 0;
}
