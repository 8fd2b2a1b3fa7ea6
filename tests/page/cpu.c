/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread, in a scope "wait", gives its CPU to another one, "guest", which is busy on it and records as it is, while a third
 * one, "elsewhere", does so on another CPU, if there is one. All on the first that the process may use, but for that.
 */
#include <ktr.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 30 };

static int to_guest[2], back[2];
static int cpu[2], n_cpus;

static void on_cpu(int n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu[n], &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* [ns] that this thread has run. */
static long ran(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void busy(const char *who)
{
	for (int i = 0; i < STEPS; i++) {
		long until = ran() + 1000000;

		while (ran() < until)
			;
		CTR2(KTR_GEN, "%s: step %d", who, i);
	}
}

static void *guest(void *arg)
{
	char byte;

	pthread_setname_np(pthread_self(), "guest");
	on_cpu(0);
	if (read(to_guest[0], &byte, 1) == 1) {
		busy("guest");
		if (write(back[1], &byte, 1) != 1)
			perror("write");
	}
	return arg;
}

static void *elsewhere(void *arg)
{
	pthread_setname_np(pthread_self(), "elsewhere");
	on_cpu(1);
	busy("elsewhere");
	return arg;
}

static void wait_for_guest(void)
{
	KTR_SCOPE(KTR_GEN, "wait");
	char byte = 'x';

	if (write(to_guest[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		perror("pipe");
}

int main(void)
{
	pthread_t id[2];
	cpu_set_t set;

	if (pipe(to_guest) || pipe(back) || sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	for (int i = 0; i < CPU_SETSIZE && n_cpus < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[n_cpus++] = i;
	pthread_create(&id[0], NULL, guest, NULL);
	if (n_cpus > 1)
		pthread_create(&id[1], NULL, elsewhere, NULL);
	on_cpu(0);
	wait_for_guest();
	for (int i = 0; i < n_cpus; i++)
		pthread_join(id[i], NULL);
	return 0;
}
