/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs by hand: how they are written, what they pair up, what they report as missing. */
#include "tests/unit/suite.h"

#include "analyze/stats/pairs.h"
#include "analyze/read/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ktr_reader_site pairs_ask = { .id = 1,
					    .name = "net.c:10",
					    .func = "ask",
					    .format = "ask %u of %s",
					    .n_args = 2,
					    .in_str = 2,
					    .arg = { { "id", KTR_ARG_U32 },
						     { "who", KTR_ARG_STR } } };
static struct ktr_reader_site pairs_told = { .id = 2,
					     .name = "net.c:20",
					     .func = "told",
					     .format = "told %s %u",
					     .n_args = 2,
					     .in_str = 1,
					     .arg = { { "who", KTR_ARG_STR },
						      { "id", KTR_ARG_U32 } } };
static struct ktr_reader_site pairs_plain = {
	.id = 3, .name = "x.c:1", .func = "x", .format = "x"
};
static struct ktr__thread pairs_thread[3] = {
	{ .thread = { .id = 1, .tid = 10, .pid = 10 }, .process_key = 100 },
	{ .thread = { .id = 2, .tid = 11, .pid = 10 }, .process_key = 100 },
	{ .thread = { .id = 3, .tid = 20, .pid = 20 }, .process_key = 200 },
};

static char pairs_text[1024];

static int pairs_print(void *context, const struct ktr__span *span)
{
	size_t n = strlen(pairs_text);

	(void)context;
	snprintf(pairs_text + n, sizeof(pairs_text) - n, "%u: %u %d-%d%s%s%s%s\n", span->pair,
		 span->pid, (int)span->from_ns, (int)span->to_ns,
		 span->flags & KTR__SPAN_NO_START ? " no start" : "",
		 span->flags & KTR__SPAN_NO_END ? " no end" : "",
		 span->flags & KTR__SPAN_UNSURE ? " unsure" : "", span->depth ? " inner" : "");
	return 0;
}

struct pairs_case {
	struct ktr__spans *spans;
	struct ktr__pairs *pairs;
};

static struct pairs_case pairs_new(const char *const *text, unsigned n)
{
	struct ktr__pair pair[KTR__PAIRS_MAX];
	struct pairs_case c;

	pairs_text[0] = 0;
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_FATAL(ktr__pair_parse(&pair[i], text[i], NULL) == 0);
	CU_ASSERT_FATAL(ktr__spans_new(&c.spans, 1, pairs_print, NULL) == 0);
	CU_ASSERT_FATAL(ktr__pairs_new(&c.pairs, pair, n, c.spans) == 0);
	return c;
}

static void pairs_at(struct pairs_case *c, uint64_t ns, const struct ktr_reader_site *site,
		     unsigned thread, uint64_t id, const char *who)
{
	struct ktr_event event = { .time_ns = ns, .site = site, .thread = &pairs_thread[thread].thread };
	struct ktr_event_bytes bytes = { who, (uint32_t)strlen(who), 0, 0 };
	int told = site == &pairs_told;

	event.arg[told] = id;
	event.str[!told] = bytes;
	CU_ASSERT(ktr__pairs_event(c->pairs, &event) == 0);
}

static void pairs_end(struct pairs_case *c, const char *expected)
{
	CU_ASSERT(ktr__spans_finish(c->spans, 99) == 0);
	CU_ASSERT_STRING_EQUAL(pairs_text, expected);
	if (strcmp(pairs_text, expected) != 0)
		fprintf(stderr, "\n%s", pairs_text);
	ktr__pairs_free(c->pairs);
	ktr__spans_free(c->spans);
}

static void they_are_written_in_many_ways(void)
{
	static const struct {
		const char *text, *from, *to, *key;
	} good[] = { { "a.c:1..a.c:2", "a.c:1", "a.c:2", "" },
		     { "a.c:1..a.c:2:arg0", "a.c:1", "a.c:2", "arg0" },
		     { "ask %u..told %s %u:id", "ask %u", "told %s %u", "id" },
		     { "x..got: 1", "x", "got: 1", "" },
		     { "x..y:p->len", "x", "y", "p->len" } };
	static const char *const bad[] = { "", "a", "a,b", "..b", "a..", "a..:b" };
	struct ktr__pair pair;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CU_ASSERT(ktr__pair_parse(&pair, good[i].text, NULL) == 0);
		CU_ASSERT_STRING_EQUAL(pair.from, good[i].from);
		CU_ASSERT_STRING_EQUAL(pair.to, good[i].to);
		CU_ASSERT_STRING_EQUAL(pair.key, good[i].key);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT(ktr__pair_parse(&pair, bad[i], NULL) == -EINVAL);
}

static void without_a_key_they_are_of_one_thread(void)
{
	static const char *const text[] = { "net.c:10..told" };
	struct pairs_case c = pairs_new(text, 1);

	pairs_at(&c, 10, &pairs_ask, 0, 1, "");
	pairs_at(&c, 11, &pairs_ask, 1, 2, "");
	pairs_at(&c, 12, &pairs_plain, 0, 0, "");
	pairs_at(&c, 13, &pairs_told, 0, 9, "");
	pairs_at(&c, 14, &pairs_told, 2, 9, "");
	pairs_end(&c, "1: 10 10-13\n1: 20 1-14 no start\n1: 10 11-99 no end\n");
}

static void a_key_goes_across_threads_of_a_process(void)
{
	static const char *const text[] = { "ask %u..told %s:id", "net.c:10..net.c:20:who" };
	struct pairs_case c = pairs_new(text, 2);

	pairs_at(&c, 10, &pairs_ask, 0, 1, "a");
	pairs_at(&c, 11, &pairs_ask, 0, 2, "b");
	pairs_at(&c, 12, &pairs_told, 1, 1, "b"); /* by id the first, by name the second */
	pairs_at(&c, 13, &pairs_told, 2, 2, "a"); /* another process */
	pairs_at(&c, 14, &pairs_told, 1, 2, "a");
	pairs_end(&c, "1: 10 10-12\n2: 10 11-12\n1: 20 1-13 no start\n2: 20 1-13 no start\n"
		      "1: 10 11-14\n2: 10 10-14\n");
}

static void what_nests_is_told(void)
{
	static const char *const text[] = { "ask..told:process" };
	struct pairs_case c = pairs_new(text, 1);
	struct ktr_loss loss = { .n_events = 1 };

	pairs_at(&c, 10, &pairs_ask, 0, 1, "");
	pairs_at(&c, 11, &pairs_ask, 0, 1, "");
	pairs_at(&c, 12, &pairs_told, 0, 1, "");
	ktr__spans_loss(c.spans, &loss);
	pairs_at(&c, 13, &pairs_told, 1, 1, "");
	pairs_end(&c, "1: 10 11-12 inner\n1: 10 10-13 unsure\n");
}

static void an_event_of_both_ends_one_and_begins_one(void)
{
	static const char *const text[] = { "ask..ask:id" };
	struct pairs_case c = pairs_new(text, 1);

	pairs_at(&c, 10, &pairs_ask, 0, 1, "");
	pairs_at(&c, 13, &pairs_ask, 0, 2, "");
	pairs_at(&c, 15, &pairs_ask, 0, 1, "");
	pairs_end(&c, "1: 10 10-15\n1: 10 13-99 no end\n1: 10 15-99 no end\n");
}

/* Random pairs of random keys against a plain array. */
static unsigned pairs_n[4];
static uint64_t pairs_sum;

static int pairs_count(void *context, const struct ktr__span *span)
{
	(void)context;
	pairs_n[span->flags & (KTR__SPAN_NO_START | KTR__SPAN_NO_END)]++;
	if (!(span->flags & (KTR__SPAN_NO_START | KTR__SPAN_NO_END)))
		pairs_sum += span->to_ns - span->from_ns;
	return 0;
}

static void random_ones_agree_with_brute_force(void)
{
	static const char *const text[] = { "ask..told:arg0" };
	static uint64_t open[8][1000];
	unsigned n_open[8] = { 0 }, expected[4] = { 0 };
	struct ktr_reader_site told = pairs_told;
	struct pairs_case c = pairs_new(text, 1);
	uint64_t sum = 0;

	told.arg[0].type = KTR_ARG_U32;
	told.in_str = 0;
	ktr__spans_free(c.spans);
	ktr__pairs_free(c.pairs);
	CU_ASSERT_FATAL(ktr__spans_new(&c.spans, 0, pairs_count, NULL) == 0);
	CU_ASSERT_FATAL(ktr__pairs_new(&c.pairs, &(struct ktr__pair){ "ask", "told", "arg0" }, 1,
				       c.spans) == 0);
	srandom(5);
	for (uint64_t i = 0; i < 50000; i++) {
		uint64_t key = (uint64_t)random() % 8;
		int ask = random() % 2 && n_open[key] < 1000;
		struct ktr_event event = { .time_ns = i,
					   .site = ask ? &pairs_ask : &told,
					   .thread = &pairs_thread[random() % 2].thread,
					   .arg = { key } };

		CU_ASSERT(ktr__pairs_event(c.pairs, &event) == 0);
		if (ask) {
			open[key][n_open[key]++] = i;
		} else if (n_open[key]) {
			sum += i - open[key][--n_open[key]];
			expected[0]++;
		} else {
			expected[KTR__SPAN_NO_START]++;
		}
	}
	CU_ASSERT(ktr__spans_finish(c.spans, 50000) == 0);
	for (int key = 0; key < 8; key++)
		expected[KTR__SPAN_NO_END] += n_open[key];
	CU_ASSERT(memcmp(pairs_n, expected, sizeof(expected)) == 0 && sum == pairs_sum);
	ktr__pairs_free(c.pairs);
	ktr__spans_free(c.spans);
}

SUITE(pairs, TEST(they_are_written_in_many_ways), TEST(without_a_key_they_are_of_one_thread),
      TEST(a_key_goes_across_threads_of_a_process), TEST(what_nests_is_told),
      TEST(an_event_of_both_ends_one_and_begins_one), TEST(random_ones_agree_with_brute_force));
