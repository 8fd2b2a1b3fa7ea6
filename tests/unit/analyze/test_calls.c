/* SPDX-License-Identifier: BSD-2-Clause */
/* Scopes as calls: how deep, how long, and how much of that was their own. */
#include "tests/unit/suite.h"

#include "analyze/read/tables.h"
#include "analyze/stats/calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct ktr_reader_site calls_site[2][2] = {
	{ { .kind = KTR_KIND_START, .group = "scope", .ident = "a", .n_args = 1 },
	  { .kind = KTR_KIND_STOP, .group = "scope", .ident = "a", .n_args = 1 } },
	{ { .kind = KTR_KIND_START, .group = "scope", .ident = "b", .n_args = 1 },
	  { .kind = KTR_KIND_STOP, .group = "scope", .ident = "b", .n_args = 1 } },
};
static struct ktr_reader_site calls_other = {
	.kind = KTR_KIND_START, .group = "disk", .value_arg = 0, .n_args = 1, .ident = "x"
};
static struct ktr__thread calls_threads[2] = {
	{ .thread = { .id = 1, .tid = 10, .pid = 10 }, .process_key = 100 },
	{ .thread = { .id = 2, .tid = 11, .pid = 10 }, .process_key = 100 },
};

/* "+a 0" where one begins, "-a 0 total/self" where it ends; "!" within one of its name. */
static char calls_text[1024];
static int calls_answer;

static int calls_begin(void *context, const struct ktr__call *call)
{
	size_t n = strlen(calls_text);

	CU_ASSERT_PTR_EQUAL(context, calls_text);
	snprintf(calls_text + n, sizeof(calls_text) - n, "+%s %u%s\n", ktr__call_name(call), call->depth,
		 call->again ? "!" : "");
	return calls_answer;
}

static int calls_end(void *context, const struct ktr__call *call)
{
	size_t n = strlen(calls_text);

	CU_ASSERT_PTR_EQUAL(context, calls_text);
	snprintf(calls_text + n, sizeof(calls_text) - n, "-%s %u %d/%d%s\n", ktr__call_name(call), call->depth,
		 (int)ktr__call_total_ns(call), (int)ktr__call_self_ns(call),
		 call->span->flags & KTR__SPAN_NO_START ? " no start" :
		 call->span->flags & KTR__SPAN_NO_END	? " no end" : "");
	return 0;
}

static struct ktr__calls *calls_new(void)
{
	static const struct ktr__calls_hooks hooks = { calls_begin, calls_end };
	struct ktr__calls *calls;

	calls_text[0] = '\0';
	calls_answer = 0;
	CU_ASSERT_FATAL(ktr__calls_new(&calls, &hooks, calls_text, 1) == 0);
	return calls;
}

static int calls_at(struct ktr__calls *calls, uint64_t ns, const struct ktr_reader_site *site, unsigned thread,
		    uint64_t key)
{
	struct ktr_event event = { .time_ns = ns, .site = site, .thread = &calls_threads[thread].thread };

	event.arg[0] = key;
	return ktr__calls_event(calls, &event);
}

static void calls_done(struct ktr__calls *calls, uint64_t ns, const char *expected)
{
	CU_ASSERT(ktr__calls_finish(calls, ns) == 0);
	CU_ASSERT_STRING_EQUAL(calls_text, expected);
	if (strcmp(calls_text, expected) != 0)
		fprintf(stderr, "\n%s", calls_text);
	ktr__calls_free(calls);
}

#define CALLS_BEGIN(calls, ns, of, thread, key) CU_ASSERT(calls_at(calls, ns, &calls_site[of][0], thread, key) == 0)
#define CALLS_END(calls, ns, of, thread, key) CU_ASSERT(calls_at(calls, ns, &calls_site[of][1], thread, key) == 0)

static void time_within_is_not_its_own(void)
{
	struct ktr__calls *calls = calls_new();

	CALLS_BEGIN(calls, 10, 0, 0, 900);
	CALLS_BEGIN(calls, 12, 1, 0, 800);
	CU_ASSERT(ktr__calls_depth(calls, &calls_threads[0].thread) == 2);
	CU_ASSERT(ktr__calls_depth(calls, &calls_threads[1].thread) == 0);
	CALLS_END(calls, 15, 1, 0, 800);
	CALLS_BEGIN(calls, 16, 1, 0, 800);
	CALLS_END(calls, 18, 1, 0, 800);
	CALLS_END(calls, 20, 0, 0, 900);
	calls_done(calls, 30, "+a 0\n+b 1\n-b 1 3/3\n+b 1\n-b 1 2/2\n-a 0 10/5\n");
}

static void recursion_is_told(void)
{
	struct ktr__calls *calls = calls_new();

	CALLS_BEGIN(calls, 10, 0, 0, 900);
	CALLS_BEGIN(calls, 11, 1, 0, 800);
	CALLS_BEGIN(calls, 12, 0, 0, 700);
	CALLS_END(calls, 13, 0, 0, 700);
	CALLS_END(calls, 14, 1, 0, 800);
	CALLS_END(calls, 15, 0, 0, 900);
	calls_done(calls, 30, "+a 0\n+b 1\n+a 2!\n-a 2 1/1\n-b 1 3/2\n-a 0 5/2\n");
}

/* As the same function in two objects: time is added up by name. */
static void recursion_may_be_through_two_sites(void)
{
	static const struct ktr_reader_site other[2] = {
		{ .kind = KTR_KIND_START, .group = "scope", .ident = "a", .n_args = 1 },
		{ .kind = KTR_KIND_STOP, .group = "scope", .ident = "a", .n_args = 1 },
	};
	struct ktr__calls *calls = calls_new();

	CALLS_BEGIN(calls, 10, 0, 0, 900);
	CU_ASSERT(calls_at(calls, 12, &other[0], 0, 700) == 0);
	CU_ASSERT(calls_at(calls, 13, &other[1], 0, 700) == 0);
	CALLS_END(calls, 15, 0, 0, 900);
	calls_done(calls, 30, "+a 0\n+a 1!\n-a 1 1/1\n-a 0 5/4\n");
}

static void threads_have_calls_of_their_own(void)
{
	struct ktr__calls *calls = calls_new();

	CALLS_BEGIN(calls, 10, 0, 0, 900);
	CALLS_BEGIN(calls, 11, 1, 1, 5000);
	CALLS_END(calls, 12, 0, 0, 900);
	CALLS_END(calls, 13, 1, 1, 5000);
	calls_done(calls, 30, "+a 0\n+b 0\n-a 0 2/2\n-b 0 2/2\n");
}

static void what_lacks_an_end_says_so(void)
{
	struct ktr__calls *calls = calls_new();

	CALLS_END(calls, 9, 1, 0, 100);
	CALLS_BEGIN(calls, 10, 0, 0, 900);
	CALLS_BEGIN(calls, 11, 1, 0, 800);
	CALLS_END(calls, 14, 0, 0, 900);
	CALLS_BEGIN(calls, 15, 0, 0, 900);
	calls_done(calls, 20, "-b 0 8/8 no start\n+a 0\n+b 1\n-b 1 3/3 no end\n-a 0 4/1\n+a 0\n-a 0 5/5 no end\n");
}

/* Levels of what began, in order. */
static unsigned calls_level[8], calls_n_levels;

static int calls_keep_level(void *context, const struct ktr__call *call)
{
	(void)context;
	CU_ASSERT_FATAL(calls_n_levels < 8);
	calls_level[calls_n_levels++] = call->level;
	return 0;
}

/* What began within a call stays above where it was, and what begins then lies in it, whose engine is another's. */
static void levels_stay(void)
{
	static const struct ktr__calls_hooks hooks = { calls_keep_level, NULL };
	struct ktr__span outer = { .kind = KTR_KIND_START, .group = "scope", .site = &calls_site[0][0],
				   .thread = &calls_threads[0].thread };
	struct ktr__span inner = outer, next = outer, other = outer;
	struct ktr__calls *calls;

	calls_n_levels = 0;
	other.thread = &calls_threads[1].thread;
	CU_ASSERT_FATAL(ktr__calls_within(&calls, &hooks, NULL) == 0);
	CU_ASSERT(ktr__calls_begun(calls, &outer) == 0);
	CU_ASSERT(ktr__calls_begun(calls, &inner) == 0);
	CU_ASSERT(ktr__calls_begun(calls, &other) == 0);
	CU_ASSERT(ktr__calls_ended(calls, &outer) == 0);
	CU_ASSERT(ktr__calls_begun(calls, &next) == 0);
	CU_ASSERT(ktr__calls_ended(calls, &next) == 0);
	CU_ASSERT(ktr__calls_ended(calls, &inner) == 0);
	CU_ASSERT(ktr__calls_begun(calls, &next) == 0);
	CU_ASSERT_EQUAL(calls_n_levels, 5);
	CU_ASSERT(calls_level[0] == 0 && calls_level[1] == 1 && calls_level[2] == 0);
	CU_ASSERT_EQUAL(calls_level[3], 2);
	CU_ASSERT_EQUAL(calls_level[4], 0);
	ktr__calls_free(calls);
}

/* A coroutine's call goes on when the one that it was resumed in has returned. */
static void what_goes_on_is_less_deep(void)
{
	struct ktr__calls *calls = calls_new();

	CALLS_BEGIN(calls, 10, 0, 0, 900000);
	CALLS_BEGIN(calls, 12, 1, 0, 800000);
	CALLS_END(calls, 14, 0, 0, 900000);
	CU_ASSERT(ktr__calls_depth(calls, &calls_threads[0].thread) == 1);
	CALLS_END(calls, 19, 1, 0, 800000);
	calls_done(calls, 30, "+a 0\n+b 1\n-a 0 4/4\n-b 0 7/7\n");
}

static void other_spans_are_no_calls(void)
{
	struct ktr__calls *calls = calls_new();

	CU_ASSERT(calls_at(calls, 10, &calls_other, 0, 1) == 0);
	calls_done(calls, 30, "");
}

static void a_hook_may_end_the_walk(void)
{
	struct ktr__calls *calls = calls_new();

	calls_answer = -ECANCELED;
	CU_ASSERT(calls_at(calls, 10, &calls_site[0][0], 0, 900) == -ECANCELED);
	ktr__calls_free(calls);
}

SUITE(calls, TEST(time_within_is_not_its_own), TEST(recursion_is_told), TEST(recursion_may_be_through_two_sites),
      TEST(threads_have_calls_of_their_own),
      TEST(what_lacks_an_end_says_so), TEST(what_goes_on_is_less_deep), TEST(other_spans_are_no_calls),
      TEST(a_hook_may_end_the_walk), TEST(levels_stay));
