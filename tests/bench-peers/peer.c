/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One event with three arguments, made again and again, by one tracer: which one is chosen at compile time.
 * Prints the least and the mean time of an event over short runs, in nanoseconds.
 *
 *	peer EVENTS
 *	peer -t COMMAND...	seconds of CPU time that the command takes, its output thrown away
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN 1000 /* [events] some 20 us: most of these are not interrupted */

#if defined(PEER_KTR)
#include <ktr.h>
#define EVENT(worker, step, value) CTR3(KTR_GEN, "worker %d step %d value %lu", worker, step, value)
#elif defined(PEER_LTTNG)
#include "peer_lttng.h"
#define EVENT(worker, step, value) lttng_ust_tracepoint(ktr_peer, event, worker, step, value)
#elif defined(PEER_MARKER)
static int marker = -1;
#define EVENT(worker, step, value) dprintf(marker, "worker %d step %d value %lu\n", worker, step, value)
#elif defined(PEER_CALL)
/* What uftrace sees is a call. */
__attribute__((noinline)) void peer_call(int worker, int step, unsigned long value);
void peer_call(int worker, int step, unsigned long value)
{
	__asm__ volatile("" : : "r"(worker), "r"(step), "r"(value) : "memory");
}
#define EVENT(worker, step, value) peer_call(worker, step, value)
#else
#define EVENT(worker, step, value) ((void)(worker), (void)(step), (void)(value))
#endif

#define UNTRACED __attribute__((noinline, no_instrument_function))

static inline UNTRACED uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The counter passes through an empty asm, so that the compiler knows nothing of it. */
static UNTRACED uint64_t run(unsigned long from)
{
	uint64_t begin = now_ns();

	for (unsigned long i = from; i < from + RUN; i++) {
		__asm__ volatile("" : "+r"(i) : : "memory");
		EVENT((int)(i & 3), (int)i, i);
	}
	return now_ns() - begin;
}

static int times(char **command)
{
	struct rusage used;
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status || getrusage(RUSAGE_CHILDREN, &used))
		return 1;
	printf("%.3f\n", (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
				 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long n;
	uint64_t least = UINT64_MAX, sum = 0;

	if (argc > 2 && argv[1][0] == '-')
		return times(argv + 2);
	n = argc == 2 ? strtoul(argv[1], NULL, 10) / RUN : 0;
	if (!n) {
		fprintf(stderr, "usage: peer EVENTS | -t COMMAND...\n");
		return 2;
	}
#if defined(PEER_MARKER)
	marker = open(getenv("PEER_MARKER"), O_WRONLY);
	if (marker < 0)
		return 1;
#endif
	run(0); /* pages and caches */
	for (unsigned long i = 1; i < n; i++) {
		uint64_t ns = run(i * RUN);

		least = ns < least ? ns : least;
		sum += ns;
	}
	printf("%.2f %.2f\n", (double)least / RUN, n > 1 ? (double)sum / (double)(n - 1) / RUN : 0);
	return 0;
}
