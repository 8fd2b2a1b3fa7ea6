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

SUITE(tally, TEST(everything_is_counted), TEST(rows_beyond_the_limit_are_counted_together));
