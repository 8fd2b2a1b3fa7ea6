/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gmon THREADS CALLS MS [SLEEP]: each thread calls functions and counts what it called itself, and spends MS of its
 * CPU time in one function and three times as much in another, by turns, and sleeps SLEEP ms in a third. Writes to
 * standard output
 *
 *	calls FUNCTION N	arc CALLER CALLEE N	cpu FUNCTION NANOSECONDS
 *	threads N NANOSECONDS PROCESS
 *
 * of all threads together; the last is all that they have used, that of main() itself, too, by their own clocks,
 * and what the process has used, with their beginnings and ends, and threads of a profiler.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define TURNS 10 /* a sample comes late by a part of one: as often into one function as into the other */
#define HERE __asm__ volatile("")

struct told {
	unsigned long n; /* of the thread's own: which thread it is makes a difference */
	unsigned long leaf_middle, leaf_work, middle_work, walk_work, walk_walk;
	uint64_t brief_ns, tedious_ns, all_ns;
	unsigned ms, sleep_ms;
};

static volatile unsigned long sink;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static KEEP void leaf(void)
{
	HERE;
}

static KEEP void middle(struct told *told)
{
	leaf();
	told->leaf_middle++;
	leaf();
	told->leaf_middle++;
	HERE;
}

static KEEP void walk(struct told *told, unsigned depth)
{
	if (depth) {
		told->walk_walk++;
		walk(told, depth - 1);
	}
	HERE;
}

/*
 * The clock is asked seldom, each millisecond or so, so the time is the function's own: in a virtual machine a
 * call takes half a microsecond, in the vdso, which is in no file that gprof reads.
 */
static KEEP void brief(struct told *told)
{
	uint64_t from = cpu_ns();

	while (cpu_ns() - from < told->ms * 1000000ull / TURNS)
		for (unsigned i = 0; i < 4000000; i++)
			HERE;
	told->brief_ns += cpu_ns() - from;
}

static KEEP void tedious(struct told *told)
{
	uint64_t from = cpu_ns();

	while (cpu_ns() - from < told->ms * 3000000ull / TURNS)
		for (unsigned i = 0; i < 4000000; i++)
			HERE;
	told->tedious_ns += cpu_ns() - from;
}

static KEEP void doze(struct told *told)
{
	usleep(told->sleep_ms * 1000);
	HERE;
}

static KEEP void *work(void *context)
{
	struct told *told = context;

	for (unsigned long i = 0; i < told->n; i++) {
		middle(told);
		told->middle_work++;
		if (i % 3 == 0) {
			leaf();
			told->leaf_work++;
		}
		if (i % 100 == 0) {
			walk(told, (unsigned)(i % 7));
			told->walk_work++;
		}
	}
	for (int i = 0; i < TURNS; i++) {
		brief(told);
		tedious(told);
	}
	doze(told);
	told->all_ns = cpu_ns();
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	pthread_t *thread = calloc(n, sizeof(*thread));
	struct told *told = calloc(n, sizeof(*told)), sum = { 0 };
	uint64_t begun = cpu_ns(); /* before, the profiler may not have begun yet */

	if (!thread || !told || argc < 4)
		return 1;
	for (unsigned i = 0; i < n; i++) {
		told[i].n = strtoul(argv[2], NULL, 0) + i;
		told[i].ms = (unsigned)atoi(argv[3]);
		told[i].sleep_ms = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
		if (pthread_create(&thread[i], NULL, work, &told[i]))
			return 1;
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		sum.leaf_middle += told[i].leaf_middle;
		sum.leaf_work += told[i].leaf_work;
		sum.middle_work += told[i].middle_work;
		sum.walk_work += told[i].walk_work;
		sum.walk_walk += told[i].walk_walk;
		sum.brief_ns += told[i].brief_ns;
		sum.tedious_ns += told[i].tedious_ns;
		sum.all_ns += told[i].all_ns;
	}
	sink = sum.leaf_work;
	printf("calls leaf %lu\ncalls middle %lu\ncalls walk %lu\n", sum.leaf_middle + sum.leaf_work, sum.middle_work,
	       sum.walk_work + sum.walk_walk);
	printf("calls work %u\ncalls brief %u\ncalls tedious %u\ncalls doze %u\n", n, TURNS * n, TURNS * n, n);
	printf("arc middle leaf %lu\narc work leaf %lu\narc work middle %lu\narc work walk %lu\narc walk walk %lu\n",
	       sum.leaf_middle, sum.leaf_work, sum.middle_work, sum.walk_work, sum.walk_walk);
	printf("cpu brief %llu\ncpu tedious %llu\n", (unsigned long long)sum.brief_ns,
	       (unsigned long long)sum.tedious_ns);
	printf("threads %u %llu %llu\n", n + 1, (unsigned long long)(sum.all_ns + cpu_ns() - begun),
	       (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	free(thread);
	free(told);
	return 0;
}
