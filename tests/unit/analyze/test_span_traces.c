/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random traces of spans, states and scopes, for tests/cli/show/spans.sh, which compares what all tools make of
 * them: threads that move between two CPUs, processes of one pid, keys that nest and interleave, ends on other
 * threads, threads and processes that end in the middle of things, and losses. KTR_SPANS_TO: the folder for them;
 * KTR_SPANS and KTR_SPANS_SEED: how many, and of which seeds on. Beside each trace stands who is who.
 */
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include <inttypes.h>
#include <stdlib.h>

#define TRACE_ACTIONS 500
#define TRACE_THREADS 6
#define TRACE_DEPTH   5

enum { SITE_IO = 0, SITE_NET, SITE_SCOPES, SITE_PAIRS = SITE_SCOPES + 3 };

struct trace_thread {
	uint32_t id, tid;
	unsigned process; /* row */
	unsigned cpu;
	uint64_t stack; /* address of its frames: the same in processes that forked */
	unsigned depth;
	unsigned name[TRACE_DEPTH]; /* of its open scopes */
	uint64_t exit_ns;
	int lives;
};

struct trace {
	struct made made;
	uint64_t seed;
	uint64_t now;
	uint32_t start[SITE_PAIRS], stop[SITE_PAIRS], state, filler;
	struct trace_thread thread[TRACE_THREADS]; /* the first one fills rings and does nothing else */
	uint64_t process_exit_ns[4];
};

/* Addresses of frames tell threads of one process apart. The last one is the one before, after that has ended. */
static const struct {
	unsigned process;
	uint32_t tid;
	uint64_t stack;
} trace_threads[TRACE_THREADS] = {
	{ 1, 90, 0 },	   { 1, 100, 0x8000 }, { 1, 101, 0x9000 },
	{ 2, 100, 0x8000 }, { 3, 200, 0x8000 }, { 3, 200, 0x8000 },
};

static unsigned trace_random(struct trace *t, unsigned n)
{
	return (unsigned)(image_random(&t->seed) >> 11) % n;
}

static void trace_sites(struct trace *t)
{
	static const char *const scopes[][2] = {
		{ "KTRGRAPH group:\"scope\", id:\"outer\", start:0x%jX, attributes: none",
		  "KTRGRAPH group:\"scope\", id:\"outer\", stop:0x%jX, attributes: none" },
		{ "KTRGRAPH group:\"scope\", id:\"middle\", start:0x%jX, attributes: none",
		  "KTRGRAPH group:\"scope\", id:\"middle\", stop:0x%jX, attributes: none" },
		{ "KTRGRAPH group:\"scope\", id:\"inner\", start:0x%jX, attributes: none",
		  "KTRGRAPH group:\"scope\", id:\"inner\", stop:0x%jX, attributes: none" },
	};
	static const char *const pairs[][2] = {
		{ "KTRGRAPH group:\"io\", id:\"%s\", start:0x%jX, attributes: none",
		  "KTRGRAPH group:\"io\", id:\"%s\", stop:0x%jX, attributes: none" },
		{ "KTRGRAPH group:\"net\", id:\"%s\", start:0x%jX, attributes: none",
		  "KTRGRAPH group:\"net\", id:\"%s\", stop:0x%jX, attributes: none" },
	};

	for (unsigned i = 0; i < 2; i++) {
		t->start[i] = made_site(&t->made, KTR_GEN, "pairs.c", 10 + i, pairs[i][0], "id,key", 2, KTR_ARG_STR,
					KTR_ARG_U64);
		t->stop[i] = made_site(&t->made, KTR_GEN, "pairs.c", 20 + i, pairs[i][1], "id,key", 2, KTR_ARG_STR,
				       KTR_ARG_U64);
	}
	for (unsigned i = 0; i < 3; i++) {
		t->start[SITE_SCOPES + i] = made_site(&t->made, KTR_GEN, "scopes.c", 10 + i, scopes[i][0], "key", 1,
						      KTR_ARG_U64);
		t->stop[SITE_SCOPES + i] = made_site(&t->made, KTR_GEN, "scopes.c", 20 + i, scopes[i][1], "key", 1,
						     KTR_ARG_U64);
	}
	t->state = made_site(&t->made, KTR_GEN, "states.c", 10,
			     "KTRGRAPH group:\"life\", id:\"%s\", state:\"%s\", attributes: none", "id,state", 2,
			     KTR_ARG_STR, KTR_ARG_STR);
	t->filler = made_site(&t->made, KTR_GEN, "filler.c", 1, "nothing", "", 0);
}

static struct ktr_thread_row *trace_row(struct trace *t, uint32_t id)
{
	return (struct ktr_thread_row *)image_region(&t->made.image, KTR_REGION_thread) + id;
}

static struct ktr_proc_row *trace_process(struct trace *t, unsigned id)
{
	return (struct ktr_proc_row *)image_region(&t->made.image, KTR_REGION_proc) + id;
}

static void trace_thread(struct trace *t, unsigned i)
{
	struct trace_thread *thread = &t->thread[i];
	unsigned process = trace_threads[i].process;
	char name[16];

	snprintf(name, sizeof(name), "thread%u", i);
	thread->tid = trace_threads[i].tid;
	thread->process = process;
	thread->stack = trace_threads[i].stack;
	thread->id = made_thread(&t->made, thread->tid, trace_process(t, process)->pid, name);
	thread->lives = 1;
	trace_row(t, thread->id)->proc = process;
	trace_row(t, thread->id)->start_ns = trace_row(t, thread->id)->start_ticks = t->now;
}

static void trace_begin(struct trace *t, const char *to, uint64_t seed)
{
	static const uint32_t pid[] = { 0, 100, 100, 200 };

	memset(t, 0, sizeof(*t));
	t->seed = (seed + 1) * 0x9e3779b97f4a7c15u;
	t->now = 1000;
	made_open(&t->made);
	if (to)
		CU_ASSERT_FATAL((size_t)snprintf(t->made.trace, sizeof(t->made.trace), "%s/%" PRIu64, to, seed) <
				sizeof(t->made.trace));
	trace_sites(t);
	/* In other pid namespaces, so that nobody looks for them in this one. */
	for (unsigned i = 1; i < 4; i++) {
		image_process(&t->made.image, i, pid[i], 1);
		trace_process(t, i)->pid_ns = i;
		trace_process(t, i)->start_ns = t->now;
		snprintf(trace_process(t, i)->name, sizeof(trace_process(t, i)->name), "process%u", i);
	}
	for (unsigned i = 0; i < TRACE_THREADS - 1; i++)
		trace_thread(t, i);
}

/* A scope begins, ends, or is left together with those within it, of which nothing is recorded. */
static void trace_scope(struct trace *t, struct trace_thread *thread)
{
	unsigned what = trace_random(t, 20);
	uint64_t frame;

	if (thread->depth == TRACE_DEPTH || (thread->depth && what < 10)) {
		frame = thread->stack - 64 * --thread->depth;
		made_event(&t->made, thread->cpu, t->now, t->stop[SITE_SCOPES + thread->name[thread->depth]],
			   thread->id, frame);
	} else if (thread->depth && what == 19) {
		thread->depth -= 1 + trace_random(t, thread->depth);
	} else {
		frame = thread->stack - 64 * thread->depth;
		thread->name[thread->depth] = trace_random(t, 3);
		made_event(&t->made, thread->cpu, t->now, t->start[SITE_SCOPES + thread->name[thread->depth++]],
			   thread->id, frame);
	}
}

static void trace_pair(struct trace *t, const struct trace_thread *thread)
{
	static const char *const id[] = { "a", "b" };
	unsigned group = trace_random(t, 2);

	made_event(&t->made, thread->cpu, t->now, trace_random(t, 100) < 52 ? t->start[group] : t->stop[group],
		   thread->id, id[trace_random(t, 2)], (uint64_t)1 + trace_random(t, 4));
}

/* The first id is of one thread alone. */
static void trace_state(struct trace *t, const struct trace_thread *thread)
{
	static const char *const id[] = { "own", "one", "two" };
	static const char *const state[] = { "idle", "busy", "waiting" };
	unsigned i = 1 + trace_random(t, 2);

	if (thread->tid == 101 && trace_random(t, 2))
		i = 0;
	made_event(&t->made, thread->cpu, t->now, t->state, thread->id, id[i], state[trace_random(t, 3)]);
}

static void trace_action(struct trace *t)
{
	struct trace_thread *thread = &t->thread[1 + trace_random(t, TRACE_THREADS - 1)];
	unsigned what = trace_random(t, 100);

	t->now += trace_random(t, 4);
	if (!thread->lives)
		return;
	if (what < 12)
		thread->cpu = !thread->cpu;
	if (what < 50)
		trace_scope(t, thread);
	else if (what < 88)
		trace_pair(t, thread);
	else
		trace_state(t, thread);
}

/* What a ring got since the last round is lost but for the end. */
static void trace_lose(struct trace *t)
{
	unsigned ring = trace_random(t, 2), n = 5 + trace_random(t, 60);

	made_drain(&t->made);
	for (unsigned i = 0; i < n; i++)
		trace_action(t);
	t->now++;
	for (unsigned i = 0; i < (1u << MADE_LOG2); i++)
		made_event(&t->made, ring, t->now, t->filler, t->thread[0].id);
	t->now++;
	made_drain(&t->made);
}

static void trace_exit(struct trace *t, unsigned i)
{
	struct trace_thread *thread = &t->thread[i];

	t->now++;
	thread->lives = 0;
	thread->exit_ns = trace_row(t, thread->id)->exit_ns = t->now++;
}

static void trace_life(struct trace *t, unsigned action)
{
	if (action == TRACE_ACTIONS / 3 && trace_random(t, 4))
		trace_exit(t, 2);
	if (action == TRACE_ACTIONS / 2 && trace_random(t, 4)) {
		trace_exit(t, 4);
		trace_thread(t, 5);
	}
	if (action == TRACE_ACTIONS * 4 / 5 && trace_random(t, 4)) {
		t->thread[4].lives = t->thread[5].lives = 0;
		t->now++;
		t->process_exit_ns[3] = trace_process(t, 3)->exit_ns = t->now++;
	}
}

static void trace_who(const struct trace *t)
{
	char path[128];
	FILE *to;

	snprintf(path, sizeof(path), "%s.who", t->made.trace);
	to = fopen(path, "w");
	CU_ASSERT_FATAL(to != NULL);
	for (unsigned i = 0; i < TRACE_THREADS; i++)
		fprintf(to, "thread%u process%u %" PRIu64 " %" PRIu64 "\n", i, trace_threads[i].process,
			t->thread[i].exit_ns, t->process_exit_ns[trace_threads[i].process]);
	fclose(to);
}

static void trace_make(const char *to, uint64_t seed)
{
	static struct trace t;

	trace_begin(&t, to, seed);
	for (unsigned i = 0; i < TRACE_ACTIONS; i++) {
		trace_life(&t, i);
		trace_action(&t);
		if (i % 96 == 95 && seed % 8) /* every eighth has no losses */
			trace_lose(&t);
		else if (i % 96 == 47)
			made_drain(&t.made);
	}
	made_event(&t.made, 0, t.now + 5, t.filler, t.thread[0].id);
	made_trace(&t.made);
	if (to)
		trace_who(&t);
	made_close(&t.made);
}

static uint64_t traces_of(const char *name, uint64_t without)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : without;
}

static void traces_are_made(void)
{
	const char *to = getenv("KTR_SPANS_TO");
	uint64_t seed = traces_of("KTR_SPANS_SEED", 1), n = traces_of("KTR_SPANS", 1);

	for (uint64_t i = 0; i < n; i++)
		trace_make(to, seed + i);
}

SUITE(span_traces, TEST(traces_are_made));
