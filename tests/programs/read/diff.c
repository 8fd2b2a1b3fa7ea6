/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the traces of one pair, the same for each seed, with a known difference, and says what is true of it:
 *
 *	diff DIRECTORY SEED KIND FACTOR CYCLES RUNS IDLE
 *
 * writes DIRECTORY/a1 ... and b1 ..., RUNS of each. A run is CYCLES times a pause, a span and a few ticks; IDLE is
 * how many times as long as all of that a server waited before and behind, with an event at each end. KIND time:
 * spans of B take FACTOR times as long, and so each cycle is longer; KIND rate: there are FACTOR times as many
 * ticks. Where there are several runs their speed differs by some 3 percent. Prints a line for each number:
 * what name ratio.
 */
#define TESTS_SUITE_H
#include <stdio.h>
#include <stdlib.h>
#define CU_ASSERT(x)                                                              \
	do {                                                                      \
		if (!(x)) {                                                       \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);   \
			exit(2);                                                  \
		}                                                                 \
	} while (0)
#define CU_ASSERT_FATAL(x)		 CU_ASSERT(x)
#define CU_ASSERT_PTR_NOT_NULL_FATAL(x) CU_ASSERT((x) != NULL)
#include "tests/unit/made.c"

#include <math.h>

#define PAUSE_NS 50000.0
#define SPAN_NS	 20000.0 /* median */
#define SIGMA	 0.7

static uint64_t state;

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Knuth's way, for small means. */
static unsigned poisson(double mean)
{
	double least = exp(-mean), product = uniform();
	unsigned n = 0;

	for (; product > least; n++)
		product *= uniform();
	return n;
}

struct plan {
	double time, ticks; /* factors */
	unsigned n_cycles;
	double idle, spread;
};

static void make(const char *path, const struct plan *plan)
{
	uint32_t first, start, stop, tick, last, thread;
	double speed = exp(plan->spread * normal()), at = 10000;
	uint64_t n_drained = 0;
	struct made made;

	made_open(&made);
	CU_ASSERT(strlen(path) < sizeof(made.trace));
	strcpy(made.trace, path);
	first = made_site(&made, KTR_INIT, "t.c", 1, "listening on %d", "port", 1, KTR_ARG_I32);
	start = made_site(&made, KTR_VFS, "t.c", 2,
			  "KTRGRAPH group:\"file\", id:\"%s\", start:0x%jX, attributes: none",
			  "i,k", 2, KTR_ARG_STR, KTR_ARG_U64);
	stop = made_site(&made, KTR_VFS, "t.c", 3,
			 "KTRGRAPH group:\"file\", id:\"%s\", stop:0x%jX, attributes: none",
			 "i,k", 2, KTR_ARG_STR, KTR_ARG_U64);
	tick = made_site(&made, KTR_NET, "t.c", 4, "tick %d", "i", 1, KTR_ARG_I32);
	last = made_site(&made, KTR_INIT, "t.c", 5, "closing %d", "port", 1, KTR_ARG_I32);
	thread = made_thread(&made, 101, 100, "one");
	made_event(&made, 0, (uint64_t)at, first, thread, (uint64_t)80);
	at += plan->idle * plan->n_cycles * (PAUSE_NS + SPAN_NS);
	for (uint64_t i = 0; i < plan->n_cycles; i++) {
		unsigned n = poisson(plan->ticks);

		at += 1 - speed * PAUSE_NS * log(uniform());
		made_event(&made, 0, (uint64_t)at, start, thread, "a", i);
		at += 1 + speed * plan->time * SPAN_NS * exp(SIGMA * normal());
		made_event(&made, 0, (uint64_t)at, stop, thread, "a", i);
		for (unsigned k = 0; k < n; k++)
			made_event(&made, 0, (uint64_t)(at += 1), tick, thread, (uint64_t)k);
		if (made.slots[0] - n_drained > 400) {
			made_drain(&made);
			n_drained = made.slots[0];
		}
	}
	at += 1000 + plan->idle * plan->n_cycles * (PAUSE_NS + SPAN_NS) / 3;
	made_event(&made, 0, (uint64_t)at, last, thread, (uint64_t)80);
	made_trace(&made);
	made_close(&made);
}

int main(int argc, char **argv)
{
	double factor, cycle, slow;
	struct plan plan = { .time = 1, .ticks = 1 };
	unsigned n_runs;
	char path[200];
	int is_time;

	CU_ASSERT(argc == 8);
	state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u;
	is_time = strcmp(argv[3], "time") == 0;
	factor = atof(argv[4]);
	plan.n_cycles = (unsigned)atoi(argv[5]);
	n_runs = (unsigned)atoi(argv[6]);
	plan.idle = atof(argv[7]);
	plan.spread = n_runs > 1 ? 0.03 : 0;
	for (unsigned i = 0; i < 2 * n_runs; i++) {
		int is_b = i >= n_runs;

		plan.time = is_b && is_time ? factor : 1;
		plan.ticks = is_b && !is_time ? factor : 1;
		snprintf(path, sizeof(path), "%s/%c%u", argv[1], is_b ? 'b' : 'a', i % n_runs + 1);
		make(path, &plan);
	}
	cycle = PAUSE_NS + SPAN_NS * exp(SIGMA * SIGMA / 2);
	slow = is_time ? (cycle + (factor - 1) * SPAN_NS * exp(SIGMA * SIGMA / 2)) / cycle : 1;
	printf("span file %.9g\nspans file %.9g\nduration - %.9g\n", is_time ? factor : 1, 1 / slow, slow);
	printf("events - %.9g\nclass net %.9g\nclass vfs %.9g\n", (is_time ? 1 : (2 + factor) / 3) / slow,
	       (is_time ? 1 : factor) / slow, 1 / slow);
	printf("site t.c:2 %.9g\nsite t.c:3 %.9g\nsite t.c:4 %.9g\n", 1 / slow, 1 / slow,
	       (is_time ? 1 : factor) / slow);
	printf("site t.c:1 1\nsite t.c:5 1\nclass init 1\n");
	return 0;
}
