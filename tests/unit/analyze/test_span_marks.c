/* SPDX-License-Identifier: BSD-2-Clause */
/* Scopes told by marks, by events, or by either, are the same spans, whatever happens to them. */
#include "tests/unit/suite.h"

#include "analyze/read/tables.h"
#include "analyze/spans/spans.h"

#include <stdlib.h>
#include <string.h>

#define MARKS_STEPS   40000
#define MARKS_THREADS 6
#define MARKS_NAMES   6
#define MARKS_DEPTH   12
#define MARKS_WAYS    3 /* events, marks, either */

#define MARKS_SITE(n, a_kind, a_group, an_ident, a_class) \
	{ .id = n, .kind = a_kind, .group = a_group, .ident = an_ident, .n_args = 1, .class_name = a_class }
#define MARKS_PAIR(n, group, ident, class_name) \
	{ MARKS_SITE(2 * n, KTR_KIND_START, group, ident, class_name), \
	  MARKS_SITE(2 * n + 1, KTR_KIND_STOP, group, ident, class_name) }

/* Scopes, two of them with one name; functions; and a pair that is no scope. */
static const struct ktr_reader_site marks_site[MARKS_NAMES][2] = {
	MARKS_PAIR(1, "scope", "a", "gen"), MARKS_PAIR(2, "scope", "bc", "gen"), MARKS_PAIR(3, "scope", "a", "gen"),
	MARKS_PAIR(4, "scope", "f", "fbt"), MARKS_PAIR(5, "scope", "g", "fbt"),  MARKS_PAIR(6, "disk", "a", "gen"),
};

/* The third one has the first one's stack, in another process; the last two end, one of them early. */
static struct ktr__thread marks_thread[MARKS_THREADS] = {
	{ .thread = { .id = 1, .tid = 10, .pid = 10 }, .process_key = 100 },
	{ .thread = { .id = 2, .tid = 11, .pid = 10 }, .process_key = 100 },
	{ .thread = { .id = 3, .tid = 20, .pid = 20 }, .process_key = 200 },
	{ .thread = { .id = 9, .tid = 21, .pid = 20 }, .process_key = 200 },
	{ .thread = { .id = 4, .tid = 12, .pid = 10, .exit_ns = 50000 }, .process_key = 100 },
	{ .thread = { .id = 70, .tid = 30, .pid = 30, .exit_ns = 150000 }, .process_key = 300 },
};

static const uint64_t marks_stack[MARKS_THREADS] = { 0x10000, 0x20000, 0x10000, 0x14000, 0x30000, 0x30000 };

/* A thread as it is: its frames, and which names have begun in them. */
struct marks_stack {
	uint64_t key[MARKS_DEPTH];
	unsigned name[MARKS_DEPTH], depth;
};

struct marks_span {
	struct ktr__span span;
	char ident[8];
};

struct marks {
	struct ktr__spans *spans;
	struct marks_span *span;
	unsigned n, room;
};

static uint64_t marks_seed;

static unsigned marks_random(unsigned n)
{
	marks_seed ^= marks_seed << 13;
	marks_seed ^= marks_seed >> 7;
	marks_seed ^= marks_seed << 17;
	return (unsigned)(marks_seed >> 20) % n;
}

static int marks_take(void *context, const struct ktr__span *span)
{
	struct marks *marks = context;
	struct marks_span *to;

	if (marks->n == marks->room) {
		marks->room = marks->room ? marks->room * 2 : 1024;
		marks->span = realloc(marks->span, marks->room * sizeof(*marks->span));
	}
	to = &marks->span[marks->n++];
	memset(to, 0, sizeof(*to));
	to->span = *span;
	memcpy(to->ident, span->ident.bytes, span->ident.n_bytes < 8 ? span->ident.n_bytes : 8);
	return 0;
}

static void marks_tell(struct marks *marks, const struct ktr_event *event, int by_mark)
{
	const struct ktr__span_source source = { event->thread, event->cpu, event->keep };
	const struct ktr__span_mark mark = { event->time_ns, event->site, event->arg[0], &source };

	CU_ASSERT_EQUAL(by_mark ? ktr__spans_mark(marks->spans, &mark) : ktr__spans_event(marks->spans, event), 0);
}

/* One begins or ends, on some ring, mostly that of its thread. */
static void marks_at(struct marks *marks, uint64_t ns, unsigned thread, unsigned name, int is_stop, uint64_t key)
{
	const struct ktr_event event = { .time_ns = ns,
					 .site = &marks_site[name][is_stop],
					 .thread = &marks_thread[thread].thread,
					 .arg = { key },
					 .cpu = marks_random(20) ? thread % 3 : marks_random(200),
					 .keep = marks_random(50) == 0 };

	marks_tell(&marks[0], &event, 0);
	marks_tell(&marks[1], &event, 1);
	marks_tell(&marks[2], &event, marks_random(2) != 0);
}

static void marks_loss(struct marks *marks, uint64_t ns)
{
	const struct ktr_loss loss = { .cpu = marks_random(4),
				       .keep = marks_random(10) == 0,
				       .n_events = marks_random(4),
				       .from_ns = ns + marks_random(8),
				       .to_ns = marks_random(500) ? ns + 8 + marks_random(40) : 0 };

	for (unsigned i = 0; i < MARKS_WAYS; i++)
		ktr__spans_loss(marks[i].spans, &loss);
}

static void marks_start(struct marks *marks, struct marks_stack *stack, uint64_t ns, unsigned thread)
{
	uint64_t key = stack->depth ? stack->key[stack->depth - 1] : marks_stack[thread];
	unsigned name = marks_random(MARKS_NAMES);

	if (stack->depth == MARKS_DEPTH)
		return;
	/* Mostly a frame below the one before; a large one, or one of another stack. */
	key -= marks_random(10) ? 16 * (1 + marks_random(30)) : 4096 + 16 * marks_random(100);
	if (marks_random(100) == 0)
		key = marks_stack[marks_random(MARKS_THREADS)] - 16 * marks_random(20);
	stack->key[stack->depth] = key;
	stack->name[stack->depth++] = name;
	if (marks_random(60))
		marks_at(marks, ns, thread, name, 0, key);
}

static void marks_stop(struct marks *marks, struct marks_stack *stack, uint64_t ns, unsigned thread)
{
	/* Frames that are left, or whose ends nobody tells of. */
	if (marks_random(40) == 0)
		stack->depth -= marks_random(stack->depth + 1);
	if (!stack->depth)
		return;
	stack->depth--;
	if (marks_random(60))
		marks_at(marks, ns, marks_random(200) ? thread : marks_random(MARKS_THREADS),
			 marks_random(200) ? stack->name[stack->depth] : marks_random(MARKS_NAMES), 1,
			 stack->key[stack->depth]);
}

static int marks_same_bytes(const struct ktr_event_bytes *a, const struct ktr_event_bytes *b)
{
	return a->n_bytes == b->n_bytes && a->cut == b->cut && a->is_null == b->is_null;
}

static int marks_are_same(const struct marks_span *x, const struct marks_span *y)
{
	const struct ktr__span *a = &x->span, *b = &y->span;

	return a->kind == b->kind && a->pid == b->pid && a->process_key == b->process_key &&
	       strcmp(a->group, b->group) == 0 && marks_same_bytes(&a->ident, &b->ident) &&
	       memcmp(x->ident, y->ident, sizeof(x->ident)) == 0 && marks_same_bytes(&a->state, &b->state) &&
	       a->key == b->key && a->from_ns == b->from_ns && a->told_ns == b->told_ns && a->to_ns == b->to_ns &&
	       a->site == b->site && a->thread == b->thread && a->end_thread == b->end_thread && a->cpu == b->cpu &&
	       a->keep == b->keep && a->pair == b->pair && a->name_hash == b->name_hash && a->depth == b->depth &&
	       a->flags == b->flags && a->row == b->row && a->word == b->word && a->lane == b->lane;
}

/* What one trace of random scopes comes to, each way; returns the flags that any span had. */
static unsigned marks_trace(uint64_t seed)
{
	struct marks_stack stack[MARKS_THREADS] = { 0 };
	struct marks marks[MARKS_WAYS] = { 0 };
	unsigned flags = 0;
	uint64_t ns = 100;

	marks_seed = seed;
	for (unsigned i = 0; i < MARKS_WAYS; i++)
		CU_ASSERT_FATAL(ktr__spans_new(&marks[i].spans, 1, marks_take, &marks[i]) == 0);
	for (unsigned step = 0; step < MARKS_STEPS; step++) {
		unsigned thread = marks_random(MARKS_THREADS);
		/* An event that is earlier than the one before, now and then. */
		uint64_t at = marks_random(100) ? ns : ns - marks_random(50);

		ns += marks_random(12);
		if (marks_random(300) == 0)
			marks_loss(marks, ns);
		else if (marks_random(100) < 52)
			marks_start(marks, &stack[thread], at, thread);
		else
			marks_stop(marks, &stack[thread], at, thread);
	}
	for (unsigned i = 0; i < MARKS_WAYS; i++) {
		CU_ASSERT_EQUAL(ktr__spans_finish(marks[i].spans, ns), 0);
		CU_ASSERT_EQUAL(ktr__spans_n_untracked(marks[i].spans), 0);
		CU_ASSERT_EQUAL_FATAL(marks[i].n, marks[0].n);
		for (unsigned k = 0; k < marks[i].n; k++) {
			CU_ASSERT_FATAL(marks_are_same(&marks[0].span[k], &marks[i].span[k]));
			flags |= marks[i].span[k].span.flags;
		}
		ktr__spans_free(marks[i].spans);
	}
	CU_ASSERT(marks[0].n > MARKS_STEPS / 4);
	for (unsigned i = 0; i < MARKS_WAYS; i++)
		free(marks[i].span);
	return flags;
}

static void marks_are_as_events(void)
{
	unsigned flags = 0;

	for (uint64_t seed = 1; seed <= 8; seed++)
		flags |= marks_trace(seed * 7919);
	/* Of every kind there was one. */
	CU_ASSERT_EQUAL(flags, KTR__SPAN_NO_START | KTR__SPAN_NO_END | KTR__SPAN_UNSURE | KTR__SPAN_LEFT |
				       KTR__SPAN_MISSING);
}

SUITE(span_marks, TEST(marks_are_as_events));
