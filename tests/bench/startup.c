/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program pays at its start for being linked with ktr while no mask is set: the three builds of
 * nothing.c, run in turns, from posix_spawn(3) to the end of wait(2).
 */
#include "bench.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STARTUP_BUILDS 3

static uint64_t startup_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Nanoseconds; 0: it did not run, and a line on stderr has said so. */
static double startup_once(char *program, char **environment)
{
	char *arguments[] = { program, NULL };
	uint64_t begin = startup_ns();
	int status = -1;
	pid_t pid;

	errno = posix_spawn(&pid, program, NULL, NULL, arguments, environment);
	if (errno || waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "bench: %s: %s\n", program, errno ? strerror(errno) : "failed");
		return 0;
	}
	return (double)(startup_ns() - begin);
}

static int startup_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int bench_startup(const char *workers, unsigned n, struct bench_startup *startup)
{
	static const char *const names[STARTUP_BUILDS] = { "nothing-off", "nothing-exe", "nothing-so" };
	static double ns[STARTUP_BUILDS][BENCH_STARTS_MAX];
	char program[STARTUP_BUILDS][4200], dir[300], *environment[] = { dir, NULL };
	const char *base = getenv("KTR_DIR");

	snprintf(dir, sizeof(dir), "KTR_DIR=%s", base && base[0] ? base : "/dev/shm");
	for (unsigned i = 0; i < STARTUP_BUILDS; i++)
		snprintf(program[i], sizeof(program[i]), "%s/%s", workers, names[i]);
	if (n > BENCH_STARTS_MAX)
		n = BENCH_STARTS_MAX;
	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < STARTUP_BUILDS; i++) {
			ns[i][k] = startup_once(program[i], environment);
			if (ns[i][k] <= 0)
				return -1;
		}
	for (unsigned i = 0; i < STARTUP_BUILDS; i++)
		qsort(ns[i], n, sizeof(ns[i][0]), startup_compare);
	for (unsigned i = 1; i < STARTUP_BUILDS; i++) {
		startup[i - 1].so = i == 2;
		startup[i - 1].n_runs = n;
		startup[i - 1].min_ns = ns[i][0];
		startup[i - 1].median_ns = ns[i][n / 2];
		startup[i - 1].base_ns = ns[0][0];
		startup[i - 1].base_median_ns = ns[0][n / 2];
	}
	return 0;
}
