/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparisons: noise against known values, false alarms of traces that are equal but for chance, changes
 * that must be found, and the command on two made-up traces.
 */
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/stats/diff.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Uniform in (0, 1), and normal (Box and Muller), of a generator of one's own: every run is the same. */
static uint64_t diff_state;

static double diff_uniform(void)
{
	diff_state = diff_state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
	return ((double)(diff_state >> 11) + 0.5) / 9007199254740992.0;
}

static double diff_normal(void)
{
	return sqrt(-2 * log(diff_uniform())) * cos(6.283185307179586 * diff_uniform());
}

static void noise_agrees_with_known_values(void)
{
	/* Quantiles of Student's distribution out of tables; of 1 degree it is tan(pi * 0.475). */
	static const struct {
		double df, alpha, t;
	} table[] = { { 1, 0.05, 12.7062047 }, { 2, 0.05, 4.3026527 }, { 4, 0.001, 8.6103018 },
		      { 10, 0.01, 3.1692727 }, { 30, 0.05, 2.0422725 }, { 1e6, 0.05, 1.9599664 } };
	/* Welch of these by hand: means 3 and 6, variances of the mean 0.5 and 2, df 2.5^2 / (0.25 / 4 + 4 / 4). */
	static const double a[] = { 1, 2, 3, 4, 5 }, b[] = { 2, 4, 6, 8, 10 };
	static const double zigzag[] = { 1, 5, 2, 4, 3, 5, 1, 4, 2, 3 },
			    rising[] = { 1, 1, 2, 2, 3, 3, 4, 4, 5, 5 };
	struct ktr__noise x, y;
	double change, half;

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		CU_ASSERT_DOUBLE_EQUAL(ktr__noise_t(table[i].df, table[i].alpha), table[i].t, 1e-4);
	ktr__noise_runs(a, 5, &x);
	ktr__noise_runs(b, 5, &y);
	CU_ASSERT_FATAL(ktr__noise_compare(&x, &y, 0.05, &change, &half) == 0);
	CU_ASSERT_DOUBLE_EQUAL(change, 3, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(half, ktr__noise_t(6.25 / 1.0625, 0.05) * sqrt(2.5), 1e-9);
	/* One run against five of the same spread: Student's t with 4 degrees. */
	ktr__noise_runs(b, 1, &y);
	CU_ASSERT_FATAL(ktr__noise_compare(&x, &y, 0.05, &change, &half) == 0);
	CU_ASSERT_DOUBLE_EQUAL(half, 2.7764451 * sqrt(2.5 * 1.2), 1e-6);
	ktr__noise_runs(a, 1, &x);
	CU_ASSERT(ktr__noise_compare(&x, &y, 0.05, &change, &half) == -1);
	/* What depends on the number before it says less; too few say nothing. */
	ktr__noise_batches(zigzag, 10, &x);
	ktr__noise_batches(rising, 10, &y);
	CU_ASSERT(y.variance > 3 * x.variance && y.df < x.df && x.df == 9);
	ktr__noise_batches(zigzag, 4, &x);
	CU_ASSERT(x.df == 0);
}

/* Marks divide what comes into equally many, whatever the number is. */
static void paces_leave_idle_ends_out(void)
{
	static const unsigned counts[] = { 9, 20, 127, 128, 129, 1000, 100000 };

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct ktr__pace pace = { .n = 0 };
		struct ktr__noise noise;

		ktr__pace_add(&pace, 0);
		for (unsigned k = 1; k + 1 < counts[i]; k++)
			ktr__pace_add(&pace, 1000000000 + k * 50);
		ktr__pace_add(&pace, 1000000000000);
		CU_ASSERT_FATAL(ktr__pace_noise(&pace, &noise) == 0);
		CU_ASSERT(pace.n == counts[i]);
		CU_ASSERT_DOUBLE_EQUAL(exp(noise.mean), 50, 1e-6);
		CU_ASSERT_DOUBLE_EQUAL(noise.variance, 0, 1e-12);
	}
}

#define DIFF_ROWS  5
#define DIFF_SPANS 800

/*
 * A trace of five kinds of spans, log-normal as durations are. slow: how many times as long the first
 * kind takes. wave: how much the level drifts from one span to the next, as load does.
 */
static struct ktr__blocks *diff_trace(double slow, double wave)
{
	struct ktr__blocks *blocks;
	double level[DIFF_ROWS] = { 0 };
	char name[16];

	CU_ASSERT_FATAL(ktr__blocks_new(&blocks, NULL, 1000, 1000 + DIFF_SPANS * 1000 - 1, 0, NULL) ==
			0);
	for (uint64_t i = 0; i < DIFF_SPANS; i++)
		for (int row = 0; row < DIFF_ROWS; row++) {
			double ns = 1e5 * exp(0.7 * diff_normal() + level[row]) * (row ? 1 : slow);

			/* An autoregressive level that forgets within some two blocks. */
			level[row] = 0.98 * level[row] + wave * diff_normal();
			snprintf(name, sizeof(name), "row %d", row);
			CU_ASSERT(ktr__blocks_span(blocks, name, KTR_KIND_START, 0, 1000 + i * 1000,
						   (uint64_t)ns) == 0);
		}
	CU_ASSERT(ktr__blocks_finish(blocks) == 0);
	return blocks;
}

/* How many changes are told, and in *n_first whether it is of the first row, which is slower. */
static unsigned diff_alarms(double slow, double wave, unsigned *n_first)
{
	const struct ktr__diff_options options = { .alpha = 0.05, .least = 0 };
	struct ktr__blocks *run[] = { diff_trace(1, wave), diff_trace(slow, wave) };
	struct ktr__diff *diff;
	unsigned n;

	CU_ASSERT_FATAL(ktr__diff_new(&diff, (const struct ktr__blocks *const *)run, 1, 1, &options) == 0);
	CU_ASSERT(diff->n_tests >= 2 * DIFF_ROWS);
	n = diff->n_of[KTR__DIFF_MORE] + diff->n_of[KTR__DIFF_LESS];
	for (unsigned i = 0; i < diff->n_rows && n_first; i++)
		*n_first += diff->row[i].what == KTR__DIFF_TIME && !strcmp(diff->row[i].name, "row 0") &&
			    diff->row[i].verdict == KTR__DIFF_MORE;
	ktr__diff_free(diff);
	ktr__blocks_free(run[0]);
	ktr__blocks_free(run[1]);
	return n;
}

/* 100 comparisons of equals at 5 %: 5 false alarms are to be expected at most, 12 have a chance of 1 in 230. */
static void equal_traces_are_equal(void)
{
	static const double waves[] = { 0, 0.05 };

	for (int w = 0; w < 2; w++) {
		unsigned n = 0;

		diff_state = 1;
		for (int i = 0; i < 100; i++)
			n += diff_alarms(1, waves[w], NULL) != 0;
		CU_ASSERT(n < 12);
		if (n >= 12)
			printf("\nwave %g: %u false alarms\n", waves[w], n);
	}
}

static void slower_ones_are_found(void)
{
	unsigned n_first = 0;

	diff_state = 2;
	for (int i = 0; i < 25; i++)
		diff_alarms(1.25, 0, &n_first);
	CU_ASSERT(n_first >= 23);
	n_first = 0;
	for (int i = 0; i < 10; i++)
		diff_alarms(4, 0.05, &n_first);
	CU_ASSERT(n_first >= 9);
}

/* Slow and quick ones by turns: which of them are kept of many must not go by turns, too. */
static void many_are_thinned_by_chance(void)
{
	struct ktr__blocks *run[2];
	struct ktr__noise noise[2];

	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_FATAL(ktr__blocks_new(&run[i], NULL, 0, 1000000, 0, NULL) == 0);
		for (uint64_t k = 0; k < 5 * KTR__BLOCKS_KEPT; k++)
			CU_ASSERT_FATAL(ktr__blocks_span(run[i], "x", KTR_KIND_START, 0, k,
							 k % 2 ? 1000 + k % 7 : 3000 + i + k % 7) == 0);
		CU_ASSERT(run[i]->row[0]->n_kept <= KTR__BLOCKS_KEPT);
		CU_ASSERT(run[i]->row[0]->n_kept > KTR__BLOCKS_KEPT / 3);
		CU_ASSERT(ktr__blocks_time(run[i]->row[0], 2, &noise[i]) == 0);
	}
	CU_ASSERT_DOUBLE_EQUAL(noise[0].mean, log(3006), 0.01);
	CU_ASSERT_DOUBLE_EQUAL(noise[1].mean, log(3006), 0.01);
	ktr__blocks_free(run[0]);
	ktr__blocks_free(run[1]);
}

/* ---- the command ---- */

static void diff_make(struct made *made, uint64_t extra_ns, unsigned extra_events)
{
	uint32_t start, stop, plain, thread;

	made_open(made);
	start = made_site(made, KTR_VFS, "t.c", 1,
			  "KTRGRAPH group:\"file\", id:\"%s\", start:0x%jX, attributes: none",
			  "i,k", 2, KTR_ARG_STR, KTR_ARG_U64);
	stop = made_site(made, KTR_VFS, "t.c", 2,
			 "KTRGRAPH group:\"file\", id:\"%s\", stop:0x%jX, attributes: none", "i,k",
			 2, KTR_ARG_STR, KTR_ARG_U64);
	plain = made_site(made, KTR_NET, "t.c", 3, "tick %d", "i", 1, KTR_ARG_I32);
	thread = made_thread(made, 101, 100, "one");
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t at = 10000 + 100000 * i;

		made_event(made, 0, at, start, thread, "a", i);
		made_event(made, 0, at + 1000 + (uint64_t)(1000 * diff_uniform()) + extra_ns, stop,
			   thread, "a", i);
		for (unsigned k = 0; k < 1 + extra_events; k++)
			made_event(made, 0, at + 9000 + k, plain, thread, i);
		if (i % 50 == 49)
			made_drain(made);
	}
	made_trace(made);
}

/* The exit status of ktr diff, which KTR_TEST_RUN may name an emulator for, with what it said in *text. */
static int diff_run(const char *options, const struct made *a, const struct made *b, char *text,
		    size_t size)
{
	char self[PATH_MAX], command[PATH_MAX * 2];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *from;

	CU_ASSERT_FATAL(n > 0);
	self[n] = 0;
	*strrchr(self, '/') = 0;
	snprintf(command, sizeof(command), "$KTR_TEST_RUN '%s/../bin/ktr' diff %s '%s' '%s' 2>&1", self, options,
		 a->trace, b->trace);
	from = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(from);
	text[fread(text, 1, size - 1, from)] = 0;
	return WEXITSTATUS(pclose(from));
}

static void diff_expect(const char *text, const char *part)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
	if (!strstr(text, part))
		printf("\nnot there: %s\nin: %s\n", part, text);
}

static void the_command_tells_change_from_noise(void)
{
	static char text[65536];
	struct made a, b, slow, often;

	diff_state = 3;
	diff_make(&a, 0, 0);
	diff_make(&b, 0, 0);
	diff_make(&slow, 700, 0);
	diff_make(&often, 0, 1);
	CU_ASSERT_EQUAL(diff_run("", &a, &b, text, sizeof(text)), 0);
	diff_expect(text, "of 9 numbers 0 changed, 9 are the same within 5 %, 0 cannot be told");
	CU_ASSERT_EQUAL(diff_run("", &a, &slow, text, sizeof(text)), 1);
	diff_expect(text, "slower       file ");
	diff_expect(text, "of 9 numbers 2 changed");
	CU_ASSERT_EQUAL(diff_run("--least 300", &a, &slow, text, sizeof(text)), 0);
	CU_ASSERT_EQUAL(diff_run("", &slow, &a, text, sizeof(text)), 1);
	diff_expect(text, "faster       file ");
	CU_ASSERT_EQUAL(diff_run("--json", &a, &often, text, sizeof(text)), 1);
	diff_expect(text, "\"schema\":\"ktr-diff-2\"");
	diff_expect(text, "{\"what\":\"site\",\"name\":\"t.c:3\",\"verdict\":\"more\",");
	diff_expect(text, "\"changes\":2,");
	CU_ASSERT_EQUAL(diff_run("--share", &a, &often, text, sizeof(text)), 1);
	diff_expect(text, "fewer        t.c:1 ");
	CU_ASSERT_EQUAL(diff_run("--pair t.c:2..t.c:3 --all", &a, &often, text, sizeof(text)), 1);
	diff_expect(text, "same         t.c:2 to t.c:3");
	CU_ASSERT_EQUAL(diff_run("--pair t.c:2..t.c:9", &a, &b, text, sizeof(text)), 2);
	diff_expect(text, "no call site is 't.c:9'; did you mean t.c:");
	CU_ASSERT_EQUAL(diff_run("--risk 99", &a, &b, text, sizeof(text)), 2);
	CU_ASSERT_EQUAL(diff_run("--filter 'n >'", &a, &b, text, sizeof(text)), 2);
	CU_ASSERT_EQUAL(diff_run("nowhere", &a, &b, text, sizeof(text)), 2);
	made_close(&a);
	CU_ASSERT_EQUAL(diff_run("", &b, &a, text, sizeof(text)), 2);
	made_close(&b);
	made_close(&slow);
	made_close(&often);
}

SUITE(diff, TEST(noise_agrees_with_known_values), TEST(paces_leave_idle_ends_out),
      TEST(many_are_thinned_by_chance), TEST(equal_traces_are_equal),
      TEST(slower_ones_are_found), TEST(the_command_tells_change_from_noise));
