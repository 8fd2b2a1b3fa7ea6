/* SPDX-License-Identifier: BSD-2-Clause */
/* STARTs and STOPs, states and losses, in every order that makes trouble. */
#include "tests/unit/suite.h"

#include "analyze/spans/spans.h"
#include "analyze/read/tables.h"
#include "ktr/session/kernel_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ktr_reader_site spans_start = {
	.kind = KTR_KIND_START, .group = "disk", .value_arg = 1, .n_args = 2
};
static struct ktr_reader_site spans_stop = {
	.kind = KTR_KIND_STOP, .group = "disk", .value_arg = 1, .n_args = 2
};
static struct ktr_reader_site spans_state = {
	.kind = KTR_KIND_STATE, .group = "cpu", .value_arg = 1, .n_args = 2
};
static struct ktr_reader_site spans_plain = { .kind = KTR_KIND_EVENT, .value_arg = -1 };
static struct ktr_reader_site spans_open_a = {
	.kind = KTR_KIND_START, .group = "scope", .ident = "a", .n_args = 1
};
static struct ktr_reader_site spans_close_a = {
	.kind = KTR_KIND_STOP, .group = "scope", .ident = "a", .n_args = 1
};
static struct ktr_reader_site spans_open_b = {
	.kind = KTR_KIND_START, .group = "scope", .ident = "b", .n_args = 1
};

static struct ktr_reader_site spans_close_b = {
	.kind = KTR_KIND_STOP, .group = "scope", .ident = "b", .n_args = 1
};
static struct ktr_reader_site spans_enter = {
	.kind = KTR_KIND_START, .group = "scope", .ident = "f", .n_args = 1, .class_name = "fbt"
};
static struct ktr_reader_site spans_return = {
	.kind = KTR_KIND_STOP, .group = "scope", .ident = "f", .n_args = 1, .class_name = "fbt"
};
static struct ktr_reader_site spans_kernel = {
	.kind = KTR_KIND_STATE, .group = "thread", .file = KTR_KERNEL_FILE, .value_arg = 1, .n_args = 2
};

/* The third has the first one's pid, on another machine; the last one is of the first one's process. */
static struct ktr__thread spans_thread[4] = {
	{ .thread = { .id = 1, .tid = 10, .pid = 10 }, .process_key = 100 },
	{ .thread = { .id = 2, .tid = 20, .pid = 20 }, .process_key = 200 },
	{ .thread = { .id = 3, .tid = 10, .pid = 10 }, .process_key = 300 },
	{ .thread = { .id = 4, .tid = 11, .pid = 10 }, .process_key = 100 },
};

/* What was handed out, as text: "pid/group:id[=state] key from-to flags". */
static char spans_text[4096];
static int spans_answer;

static int spans_print(void *context, const struct ktr__span *span)
{
	size_t n = strlen(spans_text);

	CU_ASSERT_PTR_EQUAL(context, spans_text);
	snprintf(spans_text + n, sizeof(spans_text) - n, "%u/%s:%.*s%s%.*s %d %d-%d%s%s%s%s%s%s\n",
		 span->pid, span->group, (int)span->ident.n_bytes, span->ident.bytes,
		 span->kind == KTR_KIND_STATE ? "=" : "", (int)span->state.n_bytes,
		 span->state.bytes, (int)span->key, (int)span->from_ns, (int)span->to_ns,
		 span->flags & KTR__SPAN_NO_START ? " no start" : "",
		 span->flags & KTR__SPAN_NO_END ? " no end" : "",
		 span->flags & KTR__SPAN_MISSING ? " missing" : "", span->flags & KTR__SPAN_LEFT ? " left" : "",
		 span->flags & KTR__SPAN_UNSURE ? " unsure" : "", span->depth ? " inner" : "");
	return spans_answer;
}

static struct ktr__spans *spans_new(void)
{
	struct ktr__spans *spans;

	spans_text[0] = '\0';
	CU_ASSERT_FATAL(ktr__spans_new(&spans, 1, spans_print, spans_text) == 0);
	return spans;
}

static int spans_at(struct ktr__spans *spans, uint64_t ns, const struct ktr_reader_site *site,
		    unsigned thread, const char *id, uint64_t key, const char *state)
{
	struct ktr_event event = { .time_ns = ns, .site = site, .thread = &spans_thread[thread].thread };

	event.arg[site->value_arg < 0 ? 0 : site->value_arg] = key;
	event.str[0] = (struct ktr_event_bytes){ id, (uint32_t)strlen(id), 0, 0 };
	event.str[1] = (struct ktr_event_bytes){ state, (uint32_t)strlen(state), 0, 0 };
	return ktr__spans_event(spans, &event);
}

static void spans_end(struct ktr__spans *spans, uint64_t ns, const char *expected)
{
	CU_ASSERT(ktr__spans_finish(spans, ns) == 0);
	CU_ASSERT_STRING_EQUAL(spans_text, expected);
	if (strcmp(spans_text, expected) != 0)
		fprintf(stderr, "\n%s", spans_text);
	ktr__spans_free(spans);
}

static void pairs_nest_and_interleave_by_key(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 11, &spans_start, 0, "x", 2, "");
	spans_at(spans, 12, &spans_plain, 0, "x", 1, "");
	spans_at(spans, 13, &spans_start, 0, "x", 1, "");
	spans_at(spans, 14, &spans_start, 0, "y", 1, "");
	spans_at(spans, 15, &spans_stop, 0, "x", 1, "");
	spans_at(spans, 16, &spans_stop, 0, "x", 2, "");
	spans_at(spans, 17, &spans_stop, 0, "y", 1, "");
	spans_at(spans, 18, &spans_stop, 0, "x", 1, "");
	spans_end(
		spans, 20,
		"10/disk:x 1 13-15 inner\n10/disk:x 2 11-16\n10/disk:y 1 14-17\n10/disk:x 1 10-18\n");
}

static void ends_that_are_missing_are_told(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_stop, 0, "x", 1, "");
	spans_at(spans, 11, &spans_start, 0, "x", 1, "");
	spans_at(spans, 12, &spans_start, 0, "x", 1, "");
	spans_end(
		spans, 20,
		"10/disk:x 1 1-10 no start\n10/disk:x 1 11-20 no end\n10/disk:x 1 12-20 no end inner\n");
}

static struct ktr_reader_site spans_late_a = {
	.kind = KTR_KIND_START, .group = "scope", .ident = "a", .n_args = 2,
	.arg = { { .name = "key" }, { .name = "late_ns" } }
};
static struct ktr_reader_site spans_late_b = {
	.kind = KTR_KIND_START, .group = "scope", .ident = "b", .n_args = 2,
	.arg = { { .name = "key" }, { .name = "late_ns" } }
};

static void spans_late_at(struct ktr__spans *spans, uint64_t ns, const struct ktr_reader_site *site, uint64_t key,
			  uint64_t late_ns)
{
	struct ktr_event event = { .time_ns = ns, .site = site, .thread = &spans_thread[0].thread,
				   .arg = { key, late_ns } };

	CU_ASSERT(ktr__spans_event(spans, &event) == 0);
}

/* What is told of late began so long before; what is around it, no later; a loss before that is none in it. */
static void what_is_told_late_began_before(void)
{
	const struct ktr_loss loss = { .cpu = 0, .n_events = 1, .from_ns = 40, .to_ns = 41 };
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 5, &spans_plain, 0, "", 0, "");
	ktr__spans_loss(spans, &loss);
	spans_late_at(spans, 50, &spans_late_a, 900, 20);
	spans_late_at(spans, 51, &spans_late_b, 800, 30);
	spans_at(spans, 52, &spans_close_b, 0, "", 800, "");
	spans_at(spans, 60, &spans_close_a, 0, "", 900, "");
	spans_late_at(spans, 70, &spans_late_a, 900, 1000);
	spans_at(spans, 71, &spans_close_a, 0, "", 900, "");
	spans_end(spans, 80, "10/scope:b 800 21-52\n10/scope:a 900 21-60\n10/scope:a 900 70-71\n");
}

/* A scope that told of itself at once, and ends after: it is within. */
static void what_is_told_late_may_be_around_what_was_told(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 40, &spans_open_b, 0, "", 800, "");
	spans_late_at(spans, 50, &spans_late_a, 900, 20);
	spans_at(spans, 60, &spans_close_a, 0, "", 900, "");
	spans_end(spans, 80, "10/scope:b 800 40-60 no end missing\n10/scope:a 900 30-60\n");
}

static void processes_are_apart(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 11, &spans_stop, 1, "x", 1, "");
	spans_at(spans, 12, &spans_open_a, 0, "", 7, "");
	spans_at(spans, 13, &spans_close_a, 1, "", 7, "");
	spans_end(spans, 20,
		  "20/disk:x 1 1-11 no start\n20/scope:a 7 1-13 no start\n"
		  "10/disk:x 1 10-20 no end\n10/scope:a 7 12-20 no end\n");
}

static void processes_of_one_pid_are_apart(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 11, &spans_start, 2, "x", 1, "");
	spans_at(spans, 12, &spans_stop, 0, "x", 1, "");
	spans_at(spans, 13, &spans_stop, 2, "x", 1, "");
	spans_end(spans, 20, "10/disk:x 1 10-12\n10/disk:x 1 11-13\n");
}

static void a_scope_key_is_open_once(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_open_a, 0, "", 7, "");
	spans_at(spans, 11, &spans_open_b, 0, "", 7, ""); /* the end of a was lost */
	spans_at(spans, 12, &spans_close_a, 0, "", 7,
		 ""); /* and so was the end of b, and a start of a */
	spans_at(spans, 13, &spans_open_a, 0, "", 8, "");
	spans_at(spans, 14, &spans_close_a, 0, "", 8, "");
	spans_end(spans, 20,
		  "10/scope:a 7 10-11 no end missing\n10/scope:b 7 11-12 no end missing\n"
		  "10/scope:a 7 1-12 no start\n10/scope:a 8 13-14\n");
}

/* A START whose key is open is nested, unless its STOP may be among what was lost. */
static void an_end_that_was_lost_does_not_nest(void)
{
	const struct ktr_loss loss = { .n_events = 1, .from_ns = 12, .to_ns = 14 };
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 11, &spans_start, 0, "x", 1, "");
	ktr__spans_loss(spans, &loss);
	spans_at(spans, 14, &spans_start, 0, "x", 1, "");
	spans_at(spans, 15, &spans_stop, 0, "x", 1, "");
	spans_at(spans, 16, &spans_stop, 0, "x", 1, "");
	spans_end(spans, 20,
		  "10/disk:x 1 11-14 no end missing inner\n10/disk:x 1 14-15 inner\n10/disk:x 1 10-16 unsure\n");
}

/* It is told where it begins, and lasts: what begins meanwhile on another ring may lose its end to it. */
static void a_loss_counts_where_it_reaches(void)
{
	const struct ktr_loss early = { .n_events = 1, .from_ns = 9, .to_ns = 12 },
			      late = { .n_events = 1, .from_ns = 16, .to_ns = 18 };
	struct ktr__spans *spans = spans_new();

	ktr__spans_loss(spans, &early);
	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 12, &spans_start, 0, "x", 2, "");
	spans_at(spans, 15, &spans_stop, 0, "x", 1, "");
	ktr__spans_loss(spans, &late);
	spans_at(spans, 16, &spans_stop, 0, "x", 2, "");
	spans_end(spans, 20, "10/disk:x 1 10-15 unsure\n10/disk:x 2 12-16\n");
}

/* One that ends behind a loss ends those within it, whatever rings their thread is known to have recorded to. */
static void scopes_end_with_the_one_around_them(void)
{
	const struct ktr_loss loss = { .cpu = 7, .n_events = 1, .from_ns = 12, .to_ns = 14 };
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_open_a, 0, "", 9, "");
	spans_at(spans, 11, &spans_open_b, 0, "", 8, "");
	spans_at(spans, 12, &spans_open_b, 3, "", 99, "");
	ktr__spans_loss(spans, &loss);
	spans_at(spans, 15, &spans_open_b, 0, "", 70000, "");
	spans_at(spans, 16, &spans_close_a, 0, "", 9, "");
	spans_at(spans, 17, &spans_close_b, 0, "", 70000, ""); /* a coroutine's */
	spans_end(spans, 20,
		  "10/scope:b 8 11-16 no end missing\n10/scope:a 9 10-16\n10/scope:b 70000 15-17\n"
		  "10/scope:b 99 12-20 no end\n");
}

/* What longjmp(3) left is gone when that ends which called it; a coroutine that it resumed goes on. */
static void scopes_end_with_the_one_that_called_them(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_open_a, 0, "", 70000, "");
	spans_at(spans, 11, &spans_open_b, 0, "", 69000, "");
	spans_at(spans, 12, &spans_open_b, 0, "", 4000, "");
	spans_at(spans, 13, &spans_close_a, 0, "", 70000, "");
	spans_at(spans, 14, &spans_close_b, 0, "", 4000, "");
	spans_end(spans, 20, "10/scope:b 69000 11-13 no end missing\n10/scope:a 70000 10-13\n10/scope:b 4000 12-14\n");
}

/* A frame further up that is entered after that is not within the one that was left. */
static void scopes_further_up_are_others(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_open_b, 0, "", 100, "");
	spans_at(spans, 11, &spans_open_a, 0, "", 200, "");
	spans_at(spans, 12, &spans_open_b, 0, "", 100, "");
	spans_at(spans, 13, &spans_close_b, 0, "", 100, "");
	spans_at(spans, 14, &spans_close_a, 0, "", 200, "");
	spans_end(spans, 20, "10/scope:b 100 10-12 no end missing\n10/scope:b 100 12-13\n10/scope:a 200 11-14\n");
}

/* Where the end of a function was lost, one that stands above it on the stack tells; not far above, nor a scope. */
static void functions_below_have_ended(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_enter, 0, "", 70000, "");
	spans_at(spans, 11, &spans_enter, 0, "", 60000, "");
	spans_at(spans, 12, &spans_enter, 0, "", 59000, "");
	spans_at(spans, 13, &spans_enter, 0, "", 59500, ""); /* the one at 59000 has returned */
	spans_at(spans, 14, &spans_return, 0, "", 60100, ""); /* entered unseen: and those at 59500 and 60000 */
	spans_at(spans, 15, &spans_open_a, 0, "", 50000, "");
	spans_at(spans, 16, &spans_enter, 0, "", 50100, ""); /* may be within that scope */
	spans_end(spans, 20,
		  "10/scope:f 59000 12-13 no end missing\n10/scope:f 59500 13-14 no end missing\n"
		  "10/scope:f 60000 11-14 no end missing\n10/scope:f 60100 1-14 no start\n"
		  "10/scope:f 70000 10-20 no end\n10/scope:a 50000 15-20 no end\n10/scope:f 50100 16-20 no end\n");
}

/* A frame that is used again is gone, and so are those that it had called. */
static void scopes_end_with_the_frame_around_them(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_open_a, 0, "", 9, "");
	spans_at(spans, 11, &spans_open_b, 0, "", 8, "");
	spans_at(spans, 12, &spans_open_a, 0, "", 9, "");
	spans_end(spans, 20, "10/scope:b 8 11-12 no end missing\n10/scope:a 9 10-12 no end missing\n"
			     "10/scope:a 9 12-20 no end\n");
}

/* In the order of time, as far as what follows tells; its stack may be another thread's afterwards. */
static void scopes_end_with_their_thread(void)
{
	struct ktr__spans *spans = spans_new();

	spans_thread[3].thread.exit_ns = 13;
	spans_at(spans, 10, &spans_open_a, 3, "", 9, "");
	spans_at(spans, 11, &spans_open_b, 3, "", 8, "");
	spans_at(spans, 12, &spans_start, 3, "x", 1, "");
	spans_at(spans, 15, &spans_open_a, 0, "", 9, "");
	spans_at(spans, 16, &spans_close_a, 0, "", 9, "");
	spans_at(spans, 17, &spans_stop, 0, "x", 1, "");
	spans_at(spans, 18, &spans_open_a, 3, "", 9, ""); /* on its way out */
	spans_end(spans, 20,
		  "10/scope:b 8 11-13 no end left\n10/scope:a 9 10-13 no end left\n10/scope:a 9 15-16\n"
		  "10/disk:x 1 12-17\n10/scope:a 9 18-18 no end left\n");
	spans_thread[3].thread.exit_ns = 0;
}

/* What the kernel tells of a thread is one row, whatever the thread is called then. */
static void the_kernels_rows_are_threads(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_kernel, 0, "old name", 0, "running");
	spans_at(spans, 11, &spans_kernel, 3, "old name", 0, "running");
	spans_at(spans, 12, &spans_kernel, 0, "new name", 0, "off");
	spans_end(spans, 20,
		  "10/thread:old name=running 1 10-12\n10/thread:old name=running 4 11-20 no end\n"
		  "10/thread:new name=off 1 12-20 no end\n");
}

/* Who follows sees each beginning once, and what it leaves in a span is there at its end. */
static uint64_t spans_followed;

static int spans_follow(void *context, struct ktr__span *span)
{
	CU_ASSERT_PTR_EQUAL(context, spans_text);
	CU_ASSERT(span->word == 0 && span->row == NULL && span->lane == 0);
	span->word = ++spans_followed;
	return 0;
}

static int spans_check(void *context, const struct ktr__span *span)
{
	size_t n = strlen(context);

	snprintf((char *)context + n, sizeof(spans_text) - n, "%d ", (int)span->word);
	return 0;
}

static void beginnings_can_be_followed(void)
{
	struct ktr__spans *spans;

	spans_text[0] = '\0';
	spans_followed = 0;
	CU_ASSERT_FATAL(ktr__spans_new(&spans, 1, spans_check, spans_text) == 0);
	ktr__spans_follow(spans, spans_follow);
	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 11, &spans_state, 0, "t", 0, "idle");
	spans_at(spans, 12, &spans_stop, 0, "x", 2, "");
	spans_at(spans, 13, &spans_state, 0, "t", 0, "busy");
	spans_at(spans, 14, &spans_stop, 0, "x", 1, "");
	spans_at(spans, 15, &spans_start, 0, "x", 1, "");
	spans_end(spans, 20, "0 2 1 3 4 ");
}

static void a_state_lasts_until_the_next_of_its_row(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_state, 0, "t1", 0, "idle");
	spans_at(spans, 11, &spans_state, 0, "t2", 0, "busy");
	spans_at(spans, 12, &spans_state, 1, "t1", 0, "other");
	spans_at(spans, 15, &spans_state, 0, "t1", 0, "a much longer state");
	spans_at(spans, 16, &spans_state, 0, "t1", 0, "a much longer state");
	spans_end(spans, 20,
		  "10/cpu:t1=idle 0 10-15\n10/cpu:t1=a much longer state 0 15-16\n"
		  "10/cpu:t2=busy 0 11-20 no end\n20/cpu:t1=other 0 12-20 no end\n"
		  "10/cpu:t1=a much longer state 0 16-20 no end\n");
}

static void losses_of_other_rings_do_not(void)
{
	struct ktr_loss other = { .cpu = 7, .n_events = 3 }, keep = { .keep = 1, .n_events = 3 };
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 11, &spans_state, 0, "t", 0, "idle");
	ktr__spans_loss(spans, &other);
	ktr__spans_loss(spans, &keep);
	spans_at(spans, 14, &spans_stop, 0, "x", 1, "");
	spans_at(spans, 15, &spans_state, 0, "t", 0, "busy");
	spans_end(spans, 20,
		  "10/disk:x 1 10-14\n10/cpu:t=idle 0 11-15\n"
		  "10/cpu:t=busy 0 15-20 no end\n");
}

static void losses_make_pairs_unsure(void)
{
	struct ktr_loss loss = { .n_events = 3, .from_ns = 11, .to_ns = 12 }, none = { 0 };
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 11, &spans_state, 0, "t", 0, "idle");
	ktr__spans_loss(spans, &loss);
	spans_at(spans, 12, &spans_start, 0, "x", 2, "");
	ktr__spans_loss(spans, &none);
	spans_at(spans, 13, &spans_stop, 0, "x", 2, "");
	spans_at(spans, 14, &spans_stop, 0, "x", 1, "");
	spans_at(spans, 15, &spans_state, 0, "t", 0, "busy");
	spans_end(spans, 20,
		  "10/disk:x 2 12-13\n10/disk:x 1 10-14 unsure\n10/cpu:t=idle 0 11-15 unsure\n"
		  "10/cpu:t=busy 0 15-20 no end\n");
}

static void the_callback_may_end_the_walk(void)
{
	struct ktr__spans *spans = spans_new();

	spans_at(spans, 10, &spans_start, 0, "x", 1, "");
	spans_at(spans, 11, &spans_start, 0, "y", 1, "");
	spans_answer = 5;
	CU_ASSERT(spans_at(spans, 12, &spans_stop, 0, "x", 1, "") == 5);
	CU_ASSERT(spans_at(spans, 12, &spans_stop, 0, "z", 1, "") == 5);
	CU_ASSERT(ktr__spans_finish(spans, 20) == 5);
	spans_answer = 0;
	ktr__spans_free(spans);
}

/* Random pairs against a plain array of what is open. */
static int spans_count(void *context, const struct ktr__span *span)
{
	unsigned *n = context;

	n[span->flags & (KTR__SPAN_NO_START | KTR__SPAN_NO_END)]++;
	return 0;
}

static void random_pairs_agree_with_brute_force(void)
{
	unsigned open[8] = { 0 }, n[4] = { 0 }, expected[4] = { 0 };
	struct ktr__spans *spans;

	srandom(11);
	CU_ASSERT_FATAL(ktr__spans_new(&spans, 0, spans_count, n) == 0);
	for (int i = 0; i < 200000; i++) {
		unsigned key = (unsigned)random() % 8;
		int start = random() % 100 < 51;

		spans_at(spans, (uint64_t)i, start ? &spans_start : &spans_stop, 0, "x", key, "");
		if (start) {
			open[key]++;
		} else {
			expected[open[key] ? 0 : KTR__SPAN_NO_START]++;
			open[key] -= open[key] > 0;
		}
	}
	ktr__spans_finish(spans, 200000);
	for (int key = 0; key < 8; key++)
		expected[KTR__SPAN_NO_END] += open[key];
	CU_ASSERT(memcmp(n, expected, sizeof(n)) == 0);
	CU_ASSERT(ktr__spans_n_untracked(spans) == 0);
	ktr__spans_free(spans);
}

static void open_spans_are_bounded(void)
{
	unsigned n[4] = { 0 };
	struct ktr__spans *spans;

	CU_ASSERT_FATAL(ktr__spans_new(&spans, 0, spans_count, n) == 0);
	for (uint64_t key = 0; key < KTR__SPANS_OPEN_MAX + 10; key++)
		spans_at(spans, key, &spans_start, 0, "x", key, "");
	CU_ASSERT(ktr__spans_n_untracked(spans) == 10);
	CU_ASSERT(ktr__spans_finish(spans, UINT64_MAX) == 0);
	CU_ASSERT(n[KTR__SPAN_NO_END] == KTR__SPANS_OPEN_MAX);
	ktr__spans_free(spans);
}

SUITE(spans, TEST(pairs_nest_and_interleave_by_key), TEST(ends_that_are_missing_are_told),
      TEST(what_is_told_late_began_before), TEST(what_is_told_late_may_be_around_what_was_told),
      TEST(processes_are_apart), TEST(processes_of_one_pid_are_apart),
      TEST(a_scope_key_is_open_once), TEST(an_end_that_was_lost_does_not_nest),
      TEST(a_loss_counts_where_it_reaches),
      TEST(scopes_end_with_the_one_around_them), TEST(scopes_end_with_the_frame_around_them),
      TEST(scopes_end_with_the_one_that_called_them), TEST(scopes_further_up_are_others),
      TEST(functions_below_have_ended),
      TEST(scopes_end_with_their_thread), TEST(the_kernels_rows_are_threads), TEST(beginnings_can_be_followed),
      TEST(a_state_lasts_until_the_next_of_its_row), TEST(losses_make_pairs_unsure),
      TEST(losses_of_other_rings_do_not),
      TEST(the_callback_may_end_the_walk), TEST(random_pairs_agree_with_brute_force),
      TEST(open_spans_are_bounded));
