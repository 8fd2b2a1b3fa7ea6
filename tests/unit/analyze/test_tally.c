/* SPDX-License-Identifier: BSD-2-Clause */
/* What ktr report counts, against events whose sums are known. */
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/read/tables.h"
#include "analyze/stats/tally.h"

#include <inttypes.h>

static const struct ktr__tally_row *tally_find(const struct ktr__tally *tally,
					       enum ktr_event_kind kind, const char *group,
					       const char *ident, const char *state)
{
	for (unsigned i = 0; i < tally->n_rows; i++) {
		const struct ktr__tally_row *row = tally->row[i];

		if (row->kind == kind && !row->other && strcmp(row->group, group) == 0 &&
		    row->ident.n_bytes == strlen(ident) &&
		    memcmp(row->ident.bytes, ident, strlen(ident)) == 0 &&
		    row->state.n_bytes == strlen(state) &&
		    memcmp(row->state.bytes, state, strlen(state)) == 0)
			return row;
	}
	return NULL;
}

static void tally_fill(struct made *made)
{
	uint32_t start = made_site(
		made, KTR_VFS, "t.c", 1,
		"KTRGRAPH group:\"file\", id:\"%s\", start:0x%jX, attributes: none", "i,k", 2,
		KTR_ARG_STR, KTR_ARG_U64);
	uint32_t stop = made_site(
		made, KTR_VFS | KTR_GEN, "t.c", 2,
		"KTRGRAPH group:\"file\", id:\"%s\", stop:0x%jX, attributes: none", "i,k", 2,
		KTR_ARG_STR, KTR_ARG_U64);
	uint32_t state = made_site(
		made, KTR_SCHED, "t.c", 3,
		"KTRGRAPH group:\"row\", id:\"%s\", state:\"%s\", attributes: none", "i,s", 2,
		KTR_ARG_STR, KTR_ARG_STR);
	uint32_t counter = made_site(
		made, KTR_GEN, "t.c", 4,
		"KTRGRAPH group:\"q\", id:\"%s\", counter:%d, attributes: none", "i,c", 2,
		KTR_ARG_STR, KTR_ARG_I32);
	uint32_t one = made_thread(made, 101, 100, "one"), two = made_thread(made, 102, 100, "two");

	for (uint64_t i = 0; i < 20; i++) {
		made_event(made, 0, 10000 + 1000 * i, start, one, "a", i);
		made_event(made, 0, 10000 + 1000 * i + 10 * (i + 1), stop, one, "a", i);
		made_event(made, 1, 10000 + 1000 * i + 500, state, two, "r", i % 2 ? "on" : "off");
		made_event(made, 1, 10000 + 1000 * i + 600, counter, two, "depth", i - 10);
	}
	made_event(made, 0, 40000, stop, one, "b", (uint64_t)1);
	made_event(made, 0, 40010, start, one, "b", (uint64_t)2);
}

static void everything_is_counted(void)
{
	const struct ktr__tally_row *row;
	struct ktr_reader *reader;
	struct ktr__tally *tally;
	struct ktr_sink *sink;
	struct made made;

	made_open(&made);
	tally_fill(&made);
	made_trace(&made);
	CU_ASSERT_FATAL(ktr_reader_open(made.trace, NULL, &reader, NULL) == 0);
	CU_ASSERT_FATAL(ktr__tally_new(&tally, reader, NULL) == 0);
	sink = ktr__tally_sink(tally);
	CU_ASSERT(ktr_reader_walk(reader, &sink, 1) == 0);
	CU_ASSERT(ktr__tally_finish(tally) == 0);
	CU_ASSERT(tally->n_events == 82 && tally->n_lost == 0);
	CU_ASSERT(tally->first_ns == 10000 && tally->last_ns == 40010);
	CU_ASSERT(tally->site[1] == 21 && tally->site[2] == 21 && tally->site[3] == 20 &&
		  tally->site[4] == 20);
	CU_ASSERT(tally->thread[1] == 42 && tally->thread[2] == 40);
	CU_ASSERT(tally->cpu[0].n_events == 42 && tally->cpu[1].n_events == 40);
	CU_ASSERT(ktr__tally_class(tally, 18) == 42 && ktr__tally_class(tally, 0) == 41);
	row = tally_find(tally, KTR_KIND_START, "file", "a", "");
	CU_ASSERT_FATAL(row != NULL);
	CU_ASSERT(row->durations.n == 20 && row->durations.sum == 2100 && row->thread->pid == 100);
	CU_ASSERT(row->durations.min == 10 && row->durations.max == 200);
	CU_ASSERT(ktr__histogram_quantile(&row->durations, 0.5) == 100);
	row = tally_find(tally, KTR_KIND_START, "file", "b", "");
	CU_ASSERT_FATAL(row != NULL);
	CU_ASSERT(row->durations.n == 0 && row->n_no_start == 1 && row->n_no_end == 1);
	row = tally_find(tally, KTR_KIND_STATE, "row", "r", "off");
	CU_ASSERT_FATAL(row != NULL);
	CU_ASSERT(row->durations.n == 10 && row->durations.min == 1000 &&
		  row->durations.max == 1000);
	row = tally_find(tally, KTR_KIND_STATE, "row", "r", "on");
	CU_ASSERT_FATAL(row != NULL);
	CU_ASSERT(row->durations.n == 9 && row->n_no_end == 1);
	row = tally_find(tally, KTR_KIND_COUNTER, "q", "depth", "");
	CU_ASSERT_FATAL(row != NULL);
	CU_ASSERT(row->n == 20 && row->min == -10 && row->max == 9 && row->sum == -10 &&
		  row->last == 9);
	ktr__tally_free(tally);
	ktr_reader_close(reader);
	made_close(&made);
}

#define TALLY_PLAIN 600u /* events */

/* Runs of plain events of two threads on two CPUs, strings among them, and a span now and then. */
static void tally_fill_plain(struct made *made)
{
	uint32_t start = made_site(made, KTR_VFS, "t.c", 1,
				   "KTRGRAPH group:\"file\", id:\"%s\", start:0x%jX, attributes: none", "i,k", 2,
				   KTR_ARG_STR, KTR_ARG_U64);
	uint32_t stop = made_site(made, KTR_VFS, "t.c", 2,
				  "KTRGRAPH group:\"file\", id:\"%s\", stop:0x%jX, attributes: none", "i,k", 2,
				  KTR_ARG_STR, KTR_ARG_U64);
	uint32_t word = made_site(made, KTR_NET, "t.c", 3, "%d %s %u", "a,b,c", 3, KTR_ARG_I32, KTR_ARG_STR,
				  KTR_ARG_U32);
	uint32_t tick = made_site(made, KTR_GEN, "t.c", 4, "tick", "", 0);
	uint32_t one = made_thread(made, 101, 100, "one"), two = made_thread(made, 102, 100, "two");

	for (uint64_t i = 0; i < TALLY_PLAIN; i++) {
		uint64_t ns = 1000 + 100 * i;

		if (i % 50 == 7)
			made_event(made, (unsigned)i % 2, ns + 10, i % 100 == 7 ? start : stop, one, "f",
				   (uint64_t)1);
		if (i % 3)
			made_event(made, (unsigned)i % 2, ns + 20, word, i % 16 < 9 ? one : two, i,
				   i % 7 ? "text" : "a longer text than that", i);
		else
			made_event(made, (unsigned)i % 2, ns + 20, tick, i % 16 < 9 ? one : two);
	}
}

struct tally_seen {
	struct ktr_sink sink;
	uint64_t n;
};

static int tally_see(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct tally_seen *seen = (struct tally_seen *)(void *)sink;

	(void)event;
	seen->n++;
	return 0;
}

/* A tally of the trace, or of a window of it; NULL where something is wrong. */
static struct ktr__tally *tally_walk(struct ktr_reader *reader, int counts, uint64_t from, uint64_t to,
				     uint64_t *n_seen)
{
	struct tally_seen seen = { .sink.event = tally_see };
	struct ktr__tally *tally;
	struct ktr_sink *sinks[2];

	CU_ASSERT_FATAL(ktr__tally_new(&tally, reader, NULL) == 0);
	sinks[0] = ktr__tally_sink(tally);
	sinks[1] = &seen.sink;
	CU_ASSERT(ktr_reader_window(reader, from, to) == 0);
	if (counts)
		ktr__tally_count_only(tally, reader);
	CU_ASSERT(ktr_reader_walk(reader, sinks, 2) == 0);
	CU_ASSERT(ktr__tally_finish(tally) == 0);
	*n_seen = seen.n;
	return tally;
}

/* What the reader counts by itself comes to what the tally would have: in all, and in windows. */
static void plain_events_are_counted_where_they_lie(void)
{
	static const uint64_t window[][2] = {
		{ 0, 0 }, { 1000, 1020 }, { 20000, 40000 }, { 20020, 20021 }, { 50000, 0 }
	};
	struct made made;

	made_open(&made);
	tally_fill_plain(&made);
	made_trace(&made);
	for (unsigned i = 0; i < sizeof(window) / sizeof(window[0]); i++) {
		struct ktr_reader *all, *some;
		struct ktr__tally *a, *b;
		uint64_t n_all, n_some;

		CU_ASSERT_FATAL(ktr_reader_open(made.trace, NULL, &all, NULL) == 0);
		CU_ASSERT_FATAL(ktr_reader_open(made.trace, NULL, &some, NULL) == 0);
		a = tally_walk(all, 0, window[i][0], window[i][1], &n_all);
		b = tally_walk(some, 1, window[i][0], window[i][1], &n_some);
		CU_ASSERT(a->n_events == n_all && a->n_events == b->n_events);
		if (!i)
			CU_ASSERT(n_all > TALLY_PLAIN && n_some < TALLY_PLAIN / 2);
		CU_ASSERT(a->first_ns == b->first_ns && a->last_ns == b->last_ns);
		CU_ASSERT(memcmp(a->site, b->site, a->n_sites * sizeof(*a->site)) == 0);
		CU_ASSERT(memcmp(a->thread, b->thread, a->n_threads * sizeof(*a->thread)) == 0);
		for (unsigned cpu = 0; cpu < a->n_cpus; cpu++)
			CU_ASSERT(a->cpu[cpu].n_events == b->cpu[cpu].n_events);
		CU_ASSERT_FATAL(a->n_rows == b->n_rows);
		for (unsigned k = 0; k < a->n_rows; k++)
			CU_ASSERT(a->row[k]->durations.n == b->row[k]->durations.n &&
				  a->row[k]->durations.sum == b->row[k]->durations.sum &&
				  a->row[k]->n_no_start == b->row[k]->n_no_start &&
				  a->row[k]->open_ns == b->row[k]->open_ns);
		/* A filter has to look at each. */
		CU_ASSERT(ktr_reader_filter(some, "a % 2 == 1", NULL) == 0);
		ktr__tally_free(b);
		b = tally_walk(some, 1, window[i][0], window[i][1], &n_some);
		CU_ASSERT(b->n_events == n_some && n_some <= n_all);
		ktr__tally_free(a);
		ktr__tally_free(b);
		ktr_reader_close(all);
		ktr_reader_close(some);
	}
	made_close(&made);
}

/* Ids without end: memory is bounded, and nothing goes uncounted. */
static void rows_beyond_the_limit_are_counted_together(void)
{
	struct ktr_reader *reader;
	struct ktr__tally *tally;
	struct ktr_reader_site site = {
		.id = 0, .kind = KTR_KIND_COUNTER, .group = "g", .value_arg = 1, .n_args = 2
	};
	struct ktr__thread thread = { .thread = { .pid = 1 }, .process_key = 1 };
	const struct ktr__tally_row *last;
	struct made made;
	uint64_t n = 0;

	made_open(&made);
	tally_fill(&made);
	made_session(&made);
	CU_ASSERT_FATAL(ktr_reader_open(made.session, NULL, &reader, NULL) == 0);
	CU_ASSERT_FATAL(ktr__tally_new(&tally, reader, NULL) == 0);
	site.arg[1].type = KTR_ARG_I32;
	for (unsigned i = 0; i < KTR__TALLY_ROWS_MAX + 1000; i++) {
		struct ktr_event event = { .site = &site, .thread = &thread.thread, .arg = { 0, i } };
		char id[16];

		snprintf(id, sizeof(id), "%u", i);
		event.str[0] = (struct ktr_event_bytes){ id, (uint32_t)strlen(id), 0, 0 };
		CU_ASSERT(tally->sink.event(&tally->sink, &event) == 0);
	}
	last = tally->row[tally->n_rows - 1];
	CU_ASSERT(tally->n_rows == KTR__TALLY_ROWS_MAX + 1);
	CU_ASSERT(last->other && last->n == 1000 && last->max == KTR__TALLY_ROWS_MAX + 999);
	for (unsigned i = 0; i < tally->n_rows; i++)
		n += tally->row[i]->n;
	CU_ASSERT(n == KTR__TALLY_ROWS_MAX + 1000);
	ktr__tally_free(tally);
	ktr_reader_close(reader);
	made_close(&made);
}

SUITE(tally, TEST(everything_is_counted), TEST(plain_events_are_counted_where_they_lie),
      TEST(rows_beyond_the_limit_are_counted_together));
