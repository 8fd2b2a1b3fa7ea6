/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probed function costs, beside the peer's event of three words (peer.h) and beside a call of the same
 * function compiled without room for a probe, in the same thread, taking turns:
 *
 *	plain	no room		off	room, no probe
 *	entry	its entry is recorded		pair	entry and return, a scope
 *	count	who calls it is counted, fbt_count:::arcs, when the others are done
 *
 * Where code lies differs from process to process, which alone makes a call of a few instructions twice as slow:
 * so FBT_PROCESSES measure, one after the other. Prints a row for each: ns of a call, the least of all and the
 * median of what was least in each, and the ratio that has a limit: for a function that is off the least beside
 * the least, else the median of the ratios in each process.
 */
#include "peer.h"

#include <ktr/ctl.h>
#include <ktr/provider.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FBT_PROCESSES 15
#define FBT_ROUNDS    200
#define FBT_CALLS     20000
#define FBT_BARE      __attribute__((patchable_function_entry(0, 0)))

enum fbt_row { FBT_PLAIN, FBT_OFF, FBT_PEER, FBT_ENTRY, FBT_PAIR, FBT_COUNT, FBT_ROWS };

static const char *const fbt_name[FBT_ROWS] = { "plain", "off", "peer3", "entry", "pair", "count" };

/* The least of the rounds in each process. */
static double fbt_ns[FBT_ROWS][FBT_PROCESSES];

#define FBT_FUNCTION(name)                                                                       \
	__attribute__((noinline, aligned(64))) long name(long i);                                \
	__attribute__((noinline, aligned(64))) long name(long i)                                 \
	{                                                                                        \
		__asm__ volatile("" : "+r"(i));                                                  \
		return i;                                                                        \
	}
FBT_BARE long fbt_plain(long i);
FBT_FUNCTION(fbt_plain)
FBT_FUNCTION(fbt_off)
FBT_FUNCTION(fbt_entry)
FBT_FUNCTION(fbt_pair)
FBT_FUNCTION(fbt_count)

FBT_BARE static double fbt_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#define FBT_LOOP(call)                                                                           \
	for (long i = 0; i < FBT_CALLS; i++) {                                                   \
		__asm__ volatile("" : "+r"(i));                                                  \
		call;                                                                            \
	}                                                                                        \
	break

FBT_BARE static double fbt_time(enum fbt_row row)
{
	double began = fbt_now();

	switch (row) {
	case FBT_PLAIN: FBT_LOOP(fbt_plain(i));
	case FBT_OFF: FBT_LOOP(fbt_off(i));
	case FBT_ENTRY: FBT_LOOP(fbt_entry(i));
	case FBT_PAIR: FBT_LOOP(fbt_pair(i));
	case FBT_COUNT: FBT_LOOP(fbt_count(i));
	default: FBT_LOOP(peer_3(1, (uint64_t)i, (uint64_t)i, (uint64_t)i));
	}
	return (fbt_now() - began) / FBT_CALLS;
}

FBT_BARE static int fbt_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

FBT_BARE static double fbt_median(const double *values)
{
	double sorted[FBT_PROCESSES];

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, FBT_PROCESSES, sizeof(double), fbt_compare);
	return sorted[FBT_PROCESSES / 2];
}

FBT_BARE static double fbt_least(const double *values)
{
	double least = values[0];

	for (int i = 1; i < FBT_PROCESSES; i++)
		least = values[i] < least ? values[i] : least;
	return least;
}

FBT_BARE static void fbt_print(enum fbt_row row, enum fbt_row base, double limit)
{
	double ratio[FBT_PROCESSES], told;

	for (int i = 0; i < FBT_PROCESSES; i++)
		ratio[i] = fbt_ns[row][i] / fbt_ns[base][i];
	told = row == FBT_OFF ? fbt_least(fbt_ns[row]) / fbt_least(fbt_ns[base]) : fbt_median(ratio);
	printf("%-6s %7.2f %7.2f", fbt_name[row], fbt_least(fbt_ns[row]), fbt_median(fbt_ns[row]));
	if (limit > 0)
		printf("   %5.2f x %-5s  limit %.2f  %s", told, fbt_name[base], limit, told <= limit ? "holds" : "misses");
	printf("\n");
}

FBT_BARE static void fbt_turns(enum fbt_row from, enum fbt_row to, double least[FBT_ROWS])
{
	for (int round = -20; round < FBT_ROUNDS; round++)
		for (enum fbt_row row = from; row <= to; row++) {
			double ns = fbt_time(row);

			if (round <= 0 || ns < least[row])
				least[row] = ns;
		}
}

FBT_BARE static int fbt_switch(const char *spec, int (*to)(const char *spec, struct ktr_error *err))
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = to(spec, &err);

	if (rc)
		fprintf(stderr, "fbt: %s\n", err.text);
	return rc;
}

/* One of the processes: writes the least of each row. */
FBT_BARE static int fbt_measure(void)
{
	static const char *const spec[] = { "fbt::fbt_entry:entry", "fbt::fbt_pair:" };
	struct ktr_error err = KTR_ERROR_NONE;
	double least[FBT_ROWS];

	if (peer_open(65536))
		return 1;
	/* They take all the time there is. */
	if (ktr_set("debug.ktr.budget", "0", &err))
		fprintf(stderr, "fbt: %s\n", err.text);
	for (int i = 0; i < 2; i++)
		if (fbt_switch(spec[i], ktr_provider_enable))
			return 1;
	fbt_turns(FBT_PLAIN, FBT_PAIR, least);
	/* It is of all functions that are built for it. */
	for (int i = 0; i < 2; i++)
		if (fbt_switch(spec[i], ktr_provider_disable))
			return 1;
	if (fbt_switch("fbt_count:::", ktr_provider_enable))
		return 1;
	fbt_turns(FBT_COUNT, FBT_COUNT, least);
	return write(STDOUT_FILENO, least, sizeof(least)) == sizeof(least) ? 0 : 1;
}

/* Has one measure. 0 or -1. */
FBT_BARE static int fbt_process(const char *self, double least[FBT_ROWS])
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(ends) || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl(self, self, "measure", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	n = read(ends[0], least, FBT_ROWS * sizeof(*least));
	close(ends[0]);
	return waitpid(pid, &status, 0) == pid && !status && n == (ssize_t)(FBT_ROWS * sizeof(*least)) ? 0 : -1;
}

FBT_BARE int main(int argc, char **argv)
{
	double least[FBT_ROWS];

	if (argc > 1)
		return fbt_measure();
	for (int i = 0; i < FBT_PROCESSES; i++) {
		if (fbt_process(argv[0], least)) {
			fprintf(stderr, "fbt: a process did not measure\n");
			return 1;
		}
		for (enum fbt_row row = 0; row < FBT_ROWS; row++)
			fbt_ns[row][i] = least[row];
	}
	printf("call       min  median   [ns], of %d processes\n", FBT_PROCESSES);
	fbt_print(FBT_PLAIN, FBT_PLAIN, 0);
	fbt_print(FBT_OFF, FBT_PLAIN, 1.02);
	fbt_print(FBT_PEER, FBT_PEER, 0);
	fbt_print(FBT_ENTRY, FBT_PEER, 1.3);
	fbt_print(FBT_PAIR, FBT_PEER, 2.5);
	fbt_print(FBT_COUNT, FBT_PEER, 0.75);
	return 0;
}
