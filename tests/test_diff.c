/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparisons: ranks against known values, false alarms of traces that are equal but for chance, changes
 * that must be found, and the command on two made-up traces.
 */
#include "made.h"
#include "suite.h"

#include "analyze/diff.h"

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

static void ranks_agree_with_known_values(void)
{
	/* U is 59 of 64, its deviation without ties sqrt(64 * 17 / 12): p = erfc(26.5 / 9.522 / sqrt(2)). */
	static const double a[] = { 5, 1, 9, 2, 11, 3, 6, 4 },
			    b[] = { 13, 7, 16, 8, 15, 10, 14, 12 };
	static const double rising[] = { 1, 2, 3, 4, 5, 6, 9, 11 };
	struct ktr__ranks ranks;
	double p[] = { 0.01, 0.04, 0.03, 0.005 };
	unsigned order[4];

	CU_ASSERT(ktr__ranks_compare(a, 7, b, 8, 0.01, &ranks) == -1);
	CU_ASSERT_FATAL(ktr__ranks_compare(a, 8, b, 8, 0.01, &ranks) == 0);
	CU_ASSERT(ranks.ratio > 2 && ranks.low < ranks.ratio && ranks.high > ranks.ratio);
	CU_ASSERT_DOUBLE_EQUAL(ranks.p, 0.0053849, 1e-6);
	/* What depends on the number before it says less. */
	CU_ASSERT_FATAL(ktr__ranks_compare(rising, 8, b, 8, 0.01, &ranks) == 0);
	CU_ASSERT(ranks.p > 0.01);
	CU_ASSERT_FATAL(ktr__ranks_compare(a, 8, a, 8, 0.01, &ranks) == 0);
	CU_ASSERT(ranks.p == 1 && ranks.ratio == 1);
	ktr__ranks_holm(p, order, 4);
	CU_ASSERT_DOUBLE_EQUAL(p[3], 0.02, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(p[0], 0.03, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(p[2], 0.06, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(p[1], 0.06, 1e-12);
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

	CU_ASSERT_FATAL(ktr__blocks_new(&blocks, NULL, 1000, 1000 + DIFF_SPANS * 1000 - 1, NULL) ==
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

/* How many changes are told, and how many of them are of the first row, which is slower. */
static unsigned diff_alarms(double slow, double wave, unsigned *n_first)
{
	const struct ktr__diff_options options = { .alpha = 0.01, .least = 0 };
	struct ktr__blocks *a = diff_trace(1, wave), *b = diff_trace(slow, wave);
	struct ktr__diff *diff;
	unsigned n;

	CU_ASSERT_FATAL(ktr__diff_new(&diff, a, b, &options) == 0);
	CU_ASSERT(diff->n_spans == DIFF_ROWS && diff->n_tests >= DIFF_ROWS);
	n = diff->n_changes;
	if (n_first)
		*n_first += ktr__diff_worse(&diff->span[0])->verdict == KTR__DIFF_MORE;
	ktr__diff_free(diff);
	ktr__blocks_free(a);
	ktr__blocks_free(b);
	return n;
}

/* 100 comparisons of equals: 1 false alarm is to be expected at 1 %, 6 have a chance of 1 in 1,700. */
static void equal_traces_are_equal(void)
{
	static const double waves[] = { 0, 0.05 };

	for (int w = 0; w < 2; w++) {
		unsigned n = 0;

		diff_state = 1;
		for (int i = 0; i < 100; i++)
			n += diff_alarms(1, waves[w], NULL) != 0;
		CU_ASSERT(n < 6);
		if (n >= 6)
			printf("\nwave %g: %u false alarms\n", waves[w], n);
	}
}

static void slower_ones_are_found(void)
{
	unsigned n_first = 0;

	diff_state = 2;
	for (int i = 0; i < 25; i++)
		diff_alarms(1.25, 0, &n_first);
	CU_ASSERT(n_first >= 24);
	n_first = 0;
	for (int i = 0; i < 10; i++)
		diff_alarms(2, 0.05, &n_first);
	CU_ASSERT(n_first >= 9);
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
	diff_expect(text, "no change beyond noise in 4 spans and call sites");
	CU_ASSERT_EQUAL(diff_run("", &a, &slow, text, sizeof(text)), 1);
	diff_expect(text, "slower  file ");
	diff_expect(text, "1 of 4 spans and call sites changed");
	CU_ASSERT_EQUAL(diff_run("--least 300", &a, &slow, text, sizeof(text)), 0);
	CU_ASSERT_EQUAL(diff_run("", &slow, &a, text, sizeof(text)), 1);
	diff_expect(text, "faster  file ");
	CU_ASSERT_EQUAL(diff_run("--json", &a, &often, text, sizeof(text)), 1);
	diff_expect(text, "\"schema\":\"ktr-diff-1\"");
	diff_expect(text, "\"events\":4000},\"rate\":{\"verdict\":\"more\",\"ratio\":");
	diff_expect(text, "\"changes\":1,");
	CU_ASSERT_EQUAL(diff_run("--share", &a, &often, text, sizeof(text)), 1);
	diff_expect(text, "3 of 4 spans and call sites changed");
	CU_ASSERT_EQUAL(diff_run("--pair t.c:2..t.c:3 --all", &a, &often, text, sizeof(text)), 1);
	diff_expect(text, "same    t.c:2 to t.c:3");
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

SUITE(diff, TEST(ranks_agree_with_known_values), TEST(equal_traces_are_equal),
      TEST(slower_ones_are_found), TEST(the_command_tells_change_from_noise));
