/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a timeline: who has one, what is known of each, which are drawn and what stands out. */
#include "tests/unit/suite.h"
#include "picture.h"

#include "visualize/model/frame.h"
#include "visualize/model/palette.h"
#include "visualize/model/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct picture picture;
static struct ktr__timeline timeline;

static void begin(double ms, struct ktr__timeline_options options)
{
	if (options.n_columns == 0)
		options.n_columns = 100;
	picture_open(&picture, ms);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_init(&timeline, &picture.info, &options), 0);
	picture.sink = &timeline.sink;
}

static void end(void)
{
	CU_ASSERT_EQUAL(picture.result, 0);
	CU_ASSERT_EQUAL(ktr__timeline_end(&timeline), 0);
}

static void drop(void)
{
	ktr__timeline_free(&timeline);
	picture_close(&picture);
}

static const struct ktr__row *row_of(const char *group, const char *name)
{
	for (unsigned i = 0; i < timeline.rows.n_rows; i++)
		if (strcmp(timeline.rows.row[i]->group, group) == 0 &&
		    strcmp(timeline.rows.row[i]->name, name) == 0)
			return timeline.rows.row[i];
	CU_FAIL_FATAL("no such row");
	return NULL;
}

static const struct ktr__stay *stay_of(const struct ktr__row *row, const char *state)
{
	for (unsigned i = 0; i < row->n_stays; i++)
		if (strcmp(timeline.rows.label[row->stay[i].label], state) == 0)
			return &row->stay[i];
	return NULL;
}

static void totals_of_states(void)
{
	const struct ktr__row *row;

	begin(100, (struct ktr__timeline_options){ 0 });
	picture_state(&picture, 10, 1, "worker", "a", "busy");
	picture_state(&picture, 30, 1, "worker", "a", "busy");
	picture_state(&picture, 40, 1, "worker", "a", "idle");
	picture_state(&picture, 45, 1, "worker", "a", "busy");
	picture_state(&picture, 50, 1, "worker", "a", "idle");
	end();
	row = row_of("worker", "a");
	CU_ASSERT_EQUAL(stay_of(row, "busy")->total_ns, 35000000);
	CU_ASSERT_EQUAL(stay_of(row, "busy")->n, 2);
	CU_ASSERT_EQUAL(stay_of(row, "busy")->longest_ns, 30000000);
	CU_ASSERT_EQUAL(stay_of(row, "busy")->longest_from_ns, PICTURE_BEGIN_NS + 10000000);
	CU_ASSERT_FALSE(stay_of(row, "busy")->open);
	CU_ASSERT_EQUAL(stay_of(row, "idle")->total_ns, 55000001);
	CU_ASSERT_TRUE(stay_of(row, "idle")->open);
	CU_ASSERT_PTR_EQUAL(row->thread, &picture_thread(&picture, 1)->thread);
	drop();
}

static void same_name_in_two_groups(void)
{
	begin(100, (struct ktr__timeline_options){ 0 });
	picture_state(&picture, 1, 1, "worker", "a", "x");
	picture_state(&picture, 2, 2, "shard", "a", "y");
	picture_state(&picture, 3, 2, "worker", "a", "z");
	end();
	CU_ASSERT_PTR_NOT_EQUAL(row_of("worker", "a"), row_of("shard", "a"));
	CU_ASSERT_PTR_NULL(row_of("worker", "a")->thread);
	CU_ASSERT_PTR_NOT_NULL(row_of("shard", "a")->thread);
	drop();
}

static void state_from_before_the_window(void)
{
	const struct ktr__row *row;

	begin(100, (struct ktr__timeline_options){ .from_ns = PICTURE_BEGIN_NS + 50000000,
						   .to_ns = PICTURE_BEGIN_NS + 60000000 });
	picture_state(&picture, 1, 1, "worker", "a", "idle");
	picture_state(&picture, 2, 1, "worker", "a", "busy");
	picture_counter(&picture, 3, 1, "queue", "q", 7);
	picture_counter(&picture, 80, 1, "queue", "q", 9);
	end();
	row = row_of("worker", "a");
	CU_ASSERT_EQUAL(stay_of(row, "busy")->total_ns, 10000000);
	CU_ASSERT_EQUAL(stay_of(row, "idle")->n, 0);
	CU_ASSERT_EQUAL(row->lane.cell[0].covered, 255);
	CU_ASSERT_EQUAL(row->lane.cell[99].covered, 255);
	row = row_of("queue", "q");
	CU_ASSERT_EQUAL(row->area.cell[0].last, 7);
	CU_ASSERT_EQUAL(row->area.cell[99].greatest, 7);
	CU_ASSERT_EQUAL(timeline.n_events, 0);
	drop();
}

static void spans_that_overlap(void)
{
	const struct ktr__row *row;

	begin(100, (struct ktr__timeline_options){ 0 });
	picture_start(&picture, 10, 1, "io", "disk", 1);
	picture_start(&picture, 20, 1, "io", "disk", 2);
	picture_stop(&picture, 30, 2, "io", "disk", 1);
	picture_stop(&picture, 40, 1, "io", "disk", 2);
	picture_stop(&picture, 50, 1, "io", "disk", 3);
	end();
	row = row_of("io", "disk");
	CU_ASSERT_EQUAL(stay_of(row, "1 open")->total_ns, 20000000);
	CU_ASSERT_EQUAL(stay_of(row, "2 open")->total_ns, 10000000);
	CU_ASSERT_EQUAL(timeline.rows.n_unpaired, 1);
	CU_ASSERT_EQUAL(row->n_open, 0);
	drop();
}

/* The STOP of the first one is among what was lost: it must not stay open for good, and is mostly gap. */
static void span_whose_end_was_lost(void)
{
	begin(100, (struct ktr__timeline_options){ 0 });
	picture_start(&picture, 10, 1, "io", "disk", 1);
	picture_loss(&picture, 0, 11, 19, 3);
	picture_start(&picture, 20, 1, "io", "disk", 1);
	picture_stop(&picture, 30, 1, "io", "disk", 1);
	picture_start(&picture, 40, 1, "io", "disk", 1);
	picture_start(&picture, 50, 1, "io", "disk", 1);
	picture_stop(&picture, 60, 1, "io", "disk", 1);
	end();
	CU_ASSERT_EQUAL(stay_of(row_of("io", "disk"), "1 open")->total_ns,
			10000000 + 10000000 + 40000001);
	CU_ASSERT_EQUAL(row_of("io", "disk")->n_open, 1);
	CU_ASSERT_EQUAL(timeline.losses.n_events, 3);
	CU_ASSERT_EQUAL(ktr__losses_at(&timeline.losses, 15, -1), 255);
	CU_ASSERT_EQUAL(ktr__losses_at(&timeline.losses, 25, -1), 0);
	CU_ASSERT_EQUAL(ktr__losses_at(&timeline.losses, 15, 1), 0);
	drop();
}

/* What one ring lost is not what rows from others lost. */
static void losses_are_their_rows(void)
{
	const struct ktr__row *a, *b;

	begin(100, (struct ktr__timeline_options){ 0 });
	picture_state(&picture, 0, 1, "worker", "a", "busy");
	picture_loss(&picture, 1, 10, 90, 9);
	picture_state(&picture, 95, 1, "worker", "a", "idle");
	picture_event(&picture, 96, 2, 1);
	end();
	a = row_of("worker", "a");
	b = timeline.thread[2];
	CU_ASSERT_EQUAL(ktr__losses_of(&timeline.losses, 50, &a->rings), 0);
	CU_ASSERT_EQUAL(ktr__losses_of(&timeline.losses, 50, &b->rings), 255);
	CU_ASSERT_EQUAL(ktr__losses_of(&timeline.losses, 5, &b->rings), 0);
	drop();
}

/* Between moments [ms] a row has that label, or, of NULL, nobody knows one. Columns are a bit wider than 1 ms. */
static void expect_known(const struct ktr__row *row, unsigned from, unsigned to, const char *label)
{
	for (unsigned c = from; c + 1 < to; c++) {
		const struct ktr__cell *cell = &row->lane.cell[c];

		CU_ASSERT_STRING_EQUAL(timeline.rows.label[cell->first], label != NULL ? label : "");
		CU_ASSERT_EQUAL(cell->unknown >= 254, label == NULL);
		CU_ASSERT_EQUAL(ktr__row_lost(row, &timeline.losses, c) >= 254,
				label == NULL);
	}
}

/* A state is known up to the first gap of its rings; behind it nobody knows one until the next event. */
static void gaps_are_no_time(void)
{
	const struct ktr__row *row;

	begin(100, (struct ktr__timeline_options){ 0 });
	picture_state(&picture, 0, 1, "worker", "a", "busy");
	picture_loss(&picture, 0, 10, 14, 9);
	picture_loss(&picture, 1, 12, 15, 9);
	picture_state(&picture, 20, 1, "worker", "a", "idle");
	picture_loss(&picture, 0, 30, 90, 9);
	picture_state(&picture, 95, 1, "worker", "a", "busy");
	end();
	row = row_of("worker", "a");
	CU_ASSERT_EQUAL(stay_of(row, "busy")->total_ns, 10000000 + 5000001);
	CU_ASSERT_EQUAL(stay_of(row, "busy")->longest_ns, 10000000);
	CU_ASSERT_EQUAL(stay_of(row, "idle")->total_ns, 10000000);
	CU_ASSERT_EQUAL(stay_of(row, "idle")->longest_ns, 10000000);
	expect_known(row, 0, 10, "busy");
	expect_known(row, 10, 20, NULL);
	expect_known(row, 20, 30, "idle");
	expect_known(row, 30, 95, NULL);
	expect_known(row, 95, 100, "busy");
	drop();
}

/* A state that was told before a gap, and again behind it; and one within a gap of another ring. */
static void states_are_known_when_they_are_told(void)
{
	begin(100, (struct ktr__timeline_options){ 0 });
	picture_state(&picture, 0, 1, "worker", "a", "busy");
	picture_state(&picture, 0, 1, "worker", "b", "busy");
	picture_loss(&picture, 0, 10, 60, 9);
	picture.event.cpu = 1;
	picture_state(&picture, 20, 1, "worker", "b", "idle");
	picture.event.cpu = 0;
	picture_state(&picture, 70, 1, "worker", "a", "busy");
	picture_state(&picture, 80, 1, "worker", "a", "busy");
	end();
	expect_known(row_of("worker", "a"), 0, 10, "busy");
	expect_known(row_of("worker", "a"), 10, 70, NULL);
	expect_known(row_of("worker", "a"), 70, 100, "busy");
	CU_ASSERT_EQUAL(stay_of(row_of("worker", "a"), "busy")->total_ns, 40000001);
	expect_known(row_of("worker", "b"), 0, 10, "busy");
	expect_known(row_of("worker", "b"), 10, 20, NULL);
	CU_ASSERT_STRING_EQUAL(timeline.rows.label[row_of("worker", "b")->lane.cell[19].first], "idle");
	expect_known(row_of("worker", "b"), 20, 100, NULL);
	CU_ASSERT_EQUAL(stay_of(row_of("worker", "b"), "busy")->total_ns, 10000000);
	drop();
}

/* A gap before the window, since which nothing was told. */
static void gaps_before_the_window(void)
{
	begin(100, (struct ktr__timeline_options){ .from_ns = PICTURE_BEGIN_NS + 50000000 });
	picture_state(&picture, 0, 1, "worker", "a", "busy");
	picture_counter(&picture, 0, 1, "queue", "q", 7);
	picture_loss(&picture, 0, 10, 20, 9);
	picture_state(&picture, 75, 1, "worker", "a", "idle");
	picture_counter(&picture, 75, 1, "queue", "q", 9);
	end();
	expect_known(row_of("worker", "a"), 0, 50, NULL);
	expect_known(row_of("worker", "a"), 50, 100, "idle");
	CU_ASSERT_EQUAL(stay_of(row_of("worker", "a"), "busy")->total_ns, 0);
	CU_ASSERT_EQUAL(row_of("queue", "q")->area.from, 49);
	CU_ASSERT_EQUAL(row_of("queue", "q")->area.least, 9);
	drop();
}

/* Open spans go on behind a gap: their ends will tell. A counter's number does not. */
static void spans_and_counters_in_gaps(void)
{
	const struct ktr__area *area;

	begin(100, (struct ktr__timeline_options){ 0 });
	picture_start(&picture, 0, 1, "io", "disk", 1);
	picture_counter(&picture, 5, 1, "queue", "q", 7);
	picture_loss(&picture, 0, 10, 20, 9);
	picture_loss(&picture, 0, 30, 40, 9);
	picture_counter(&picture, 50, 1, "queue", "q", 9);
	picture_stop(&picture, 60, 1, "io", "disk", 1);
	picture_loss(&picture, 0, 70, 80, 9);
	end();
	expect_known(row_of("io", "disk"), 0, 10, "1 open");
	expect_known(row_of("io", "disk"), 10, 20, NULL);
	expect_known(row_of("io", "disk"), 20, 30, "1 open");
	expect_known(row_of("io", "disk"), 30, 40, NULL);
	expect_known(row_of("io", "disk"), 40, 60, "1 open");
	CU_ASSERT_EQUAL(stay_of(row_of("io", "disk"), "1 open")->total_ns, 40000000);
	area = &row_of("queue", "q")->area;
	for (unsigned c = 5; c < 100; c++) {
		int known = (c < 10 || c >= 49) && c < 70;

		CU_ASSERT_EQUAL(isnan(area->cell[c].last), !known);
		CU_ASSERT_TRUE(known || ktr__row_lost(row_of("queue", "q"), &timeline.losses, c) == 255);
		CU_ASSERT_TRUE(!known || area->cell[c].last == (c < 49 ? 7 : 9));
	}
	drop();
}

static void time_that_runs_backwards(void)
{
	begin(100, (struct ktr__timeline_options){ 0 });
	picture_state(&picture, 50, 1, "worker", "a", "busy");
	picture_state(&picture, 10, 1, "worker", "a", "idle");
	picture_state(&picture, 70, 1, "worker", "a", "busy");
	end();
	CU_ASSERT_EQUAL(timeline.n_backwards, 1);
	CU_ASSERT_EQUAL(stay_of(row_of("worker", "a"), "busy")->total_ns, 30000001);
	CU_ASSERT_EQUAL(stay_of(row_of("worker", "a"), "idle")->total_ns, 20000000);
	drop();
}

static void names_of_any_bytes(void)
{
	struct ktr__view view;

	begin(100, (struct ktr__timeline_options){ 0 });
	picture_state(&picture, 1, 1, "wor\033[2Jker", "a\nb\xff", "\033]0;x\a");
	picture_state(&picture, 2, 1, "wor\033[2Jker", "", "");
	end();
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 100), 0);
	CU_ASSERT_STRING_EQUAL(view.line[0].text, "wor\\x1b[2Jker");
	CU_ASSERT_STRING_EQUAL(view.line[1].text, "(no name)");
	CU_ASSERT_STRING_EQUAL(view.line[2].text, "a\\x0ab\\xff");
	CU_ASSERT_STRING_EQUAL(timeline.rows.label[view.line[2].row->stay[0].label],
			       "\\x1b]0;x\\x07");
	ktr__view_free(&view);
	drop();
}

static void order_and_headings(void)
{
	static const char *const expected[] = { "worker",    "flusher",     "worker 1", "worker 2",
						"worker 3",  "worker 4",    "shard",    "shard 7",
						"lock wait", "worker 2",    "worker 3", "worker 4",
						"queue",     "files queued" };
	struct ktr__view view;

	begin(10000, (struct ktr__timeline_options){ .by = KTR__BY_IDS });
	picture_indexer(&picture);
	end();
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 100), 0);
	for (unsigned i = 0; i < view.n_lines; i++)
		if (strcmp(view.line[i].text, "worker 2") == 0)
			CU_ASSERT_PTR_NOT_NULL(view.line[i].row);
	CU_ASSERT_EQUAL(view.n_hidden, 0);
	for (unsigned i = 0, k = 0; i < view.n_lines; i++, k++) {
		while (k < sizeof(expected) / sizeof(expected[0]) &&
		       strcmp(view.line[i].text, expected[k]) != 0)
			k++;
		CU_ASSERT_FATAL(k < sizeof(expected) / sizeof(expected[0]));
	}
	ktr__view_free(&view);
	drop();
}

static void worker_that_stands_out(void)
{
	struct ktr__view view;
	struct ktr__frame frame;

	begin(10000, (struct ktr__timeline_options){ 0 });
	picture_indexer(&picture);
	end();
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 100), 0);
	CU_ASSERT_PTR_EQUAL(view.finding[0].row, row_of("worker", "worker 4"));
	CU_ASSERT_STRING_EQUAL(timeline.rows.label[view.finding[0].label], "waiting for lock");
	CU_ASSERT_DOUBLE_EQUAL(view.finding[0].share, 0.784, 0.001);
	ktr__frame_init(&frame, &picture.info, "ktr timeline ktr.out");
	ktr__frame_timeline(&frame, &view);
	CU_ASSERT_STRING_EQUAL(frame.title,
			       "worker 4 is \"waiting for lock\" at least 78 % of the time: 7.84 s,"
			       " 80.0 ms of it at once (median of worker: at most 2.3 %)");
	CU_ASSERT_EQUAL(timeline.n_backwards, 0);
	CU_ASSERT_EQUAL(strncmp(frame.lost, "12,345 events were lost (", 25), 0);
	ktr__view_free(&view);
	drop();
}

/* What a window or a choice of groups shows of a trace has the colours and letters of the whole. */
static void colours_stay(void)
{
	static const char *const group[] = { "shard" };
	static const struct ktr__timeline_options part[] = {
		{ 0 },
		{ .from_ns = PICTURE_BEGIN_NS + 9700000000, .to_ns = PICTURE_BEGIN_NS + 9705000000 },
		{ .to_ns = PICTURE_BEGIN_NS + 12000000 },
		{ .group = group, .n_groups = 1 },
		{ .by = KTR__BY_THREADS, .n_columns = 7 },
	};
	static const char *const name[] = { "flusher", "worker 4", "writing", "waiting for lock", "cutting" };
	uint32_t colour[5] = { 0 };
	char letter[5] = { 0 };
	unsigned n_seen = 0;

	for (size_t p = 0; p < sizeof(part) / sizeof(part[0]); p++) {
		struct ktr__view view;

		begin(10000, part[p]);
		picture_indexer(&picture);
		end();
		CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 100), 0);
		for (unsigned e = 0; e < view.n_legends * KTR__LEGEND_ENTRIES; e++) {
			const struct ktr__legend *legend = &view.legend[e / KTR__LEGEND_ENTRIES];
			const struct ktr__legend_entry *entry = &legend->entry[e % KTR__LEGEND_ENTRIES];

			for (unsigned i = 0; i < 5 && e % KTR__LEGEND_ENTRIES < legend->n; i++) {
				if (strcmp(timeline.rows.label[entry->label], name[i]) != 0)
					continue;
				CU_ASSERT_TRUE(p == 0 || entry->colour == colour[i]);
				CU_ASSERT_TRUE(p == 0 || entry->letter == letter[i]);
				colour[i] = entry->colour;
				letter[i] = entry->letter;
				n_seen++;
			}
		}
		ktr__view_free(&view);
		drop();
	}
	CU_ASSERT_TRUE(n_seen >= 12);
}

/* Numbers are no categories: one hue, and neither a state's colour nor its letter. */
static void numbers_are_a_ramp(void)
{
	struct ktr__view view;

	begin(100, (struct ktr__timeline_options){ 0 });
	for (unsigned i = 1; i <= 31; i++)
		picture_start(&picture, 2 * i, 1, "call", "recursion", i);
	picture_state(&picture, 70, 1, "state", "a", "2 open");
	for (unsigned i = 31; i >= 1; i--)
		picture_stop(&picture, 101 - i, 1, "call", "recursion", i);
	end();
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 100), 0);
	CU_ASSERT_EQUAL(view.n_legends, 2);
	CU_ASSERT_EQUAL(view.legend[0].n, 1);
	for (unsigned l = 1; l <= 31; l++)
		CU_ASSERT_EQUAL(timeline.rows.label_colour[timeline.rows.depth_label[l]], ktr__palette_ramp(l));
	for (unsigned i = 1; i < view.legend[1].n; i++)
		CU_ASSERT_TRUE(view.legend[1].entry[i].label > view.legend[1].entry[i - 1].label);
	CU_ASSERT_EQUAL(timeline.rows.label_letter[timeline.rows.depth_label[9]], '9');
	CU_ASSERT_EQUAL(timeline.rows.label_letter[timeline.rows.depth_label[10]], 'a');
	CU_ASSERT_EQUAL(view.legend[0].entry[0].letter, '2');
	CU_ASSERT_NOT_EQUAL(view.legend[0].entry[0].label, timeline.rows.depth_label[2]);
	ktr__view_free(&view);
	drop();
}

static void colours_differ(void)
{
	struct ktr__view view;

	begin(10000, (struct ktr__timeline_options){ 0 });
	picture_indexer(&picture);
	end();
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 100), 0);
	for (unsigned l = 0; l < view.n_legends; l++) {
		const struct ktr__legend *legend = &view.legend[l];

		for (unsigned i = 0; i < legend->n; i++) {
			for (unsigned k = 0; k < i; k++) {
				CU_ASSERT_NOT_EQUAL(legend->entry[i].colour,
						    legend->entry[k].colour);
				CU_ASSERT_NOT_EQUAL(legend->entry[i].letter,
						    legend->entry[k].letter);
			}
			if (strcmp(timeline.rows.label[legend->entry[i].label], "idle") == 0)
				CU_ASSERT_EQUAL(legend->entry[i].colour, KTR__PALE);
		}
	}
	CU_ASSERT_TRUE(view.n_legends >= 3);
	ktr__view_free(&view);
	drop();
}

static void rows_by_thread(void)
{
	struct ktr__view view;
	unsigned n_main = 0;

	begin(10000, (struct ktr__timeline_options){ .by = KTR__BY_THREADS });
	picture_indexer(&picture);
	end();
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 100), 0);
	CU_ASSERT_STRING_EQUAL(view.line[0].text, "indexer (100)");
	for (unsigned i = 0; i < view.n_lines; i++) {
		const struct ktr__line *line = &view.line[i];

		if (line->marks != NULL && line->marks->kind == KTR__ROW_THREAD) {
			n_main++;
			CU_ASSERT_TRUE(line->row == NULL ||
				       line->row->thread == line->marks->thread);
		}
	}
	CU_ASSERT_EQUAL(n_main, 6);
	CU_ASSERT_STRING_EQUAL(view.line[view.n_lines - 2].text, "counters of indexer");
	ktr__view_free(&view);
	drop();
}

static void rows_by_cpu(void)
{
	struct ktr__view view;

	begin(100, (struct ktr__timeline_options){ .by = KTR__BY_CPUS });
	for (unsigned i = 0; i < 100; i++)
		picture_event(&picture, i, i % 4 == 0 ? 1 : 2, i / 50);
	picture_loss(&picture, 1, 60, 70, 5);
	end();
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 100), 0);
	CU_ASSERT_EQUAL(view.n_lines, 3);
	CU_ASSERT_STRING_EQUAL(view.line[1].text, "CPU 0");
	CU_ASSERT_EQUAL(view.line[1].row->lane.cell[80].first, 0);
	CU_ASSERT_STRING_EQUAL(timeline.rows.label[view.line[2].row->lane.cell[81].first],
			       "worker 2 (102)");
	CU_ASSERT_EQUAL(ktr__losses_at(&timeline.losses, 65, 1), 255);
	CU_ASSERT_EQUAL(ktr__losses_at(&timeline.losses, 65, 0), 0);
	ktr__view_free(&view);
	drop();
}

static void ten_thousand_threads(void)
{
	struct ktr__view view;
	struct ktr__frame frame;

	begin(10000, (struct ktr__timeline_options){ .n_columns = 1000, .by = KTR__BY_THREADS });
	for (unsigned i = 1; i <= 10000; i++) {
		picture_event(&picture, i - 1, i, 0);
		if (i % 1000 == 0)
			picture_event(&picture, i - 1, i, 0);
	}
	end();
	CU_ASSERT_EQUAL(timeline.rows.n_rows, 10000);
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 50), 0);
	CU_ASSERT_EQUAL(view.n_lines, 50);
	CU_ASSERT_EQUAL(view.n_hidden, 9952);
	CU_ASSERT_STRING_EQUAL(view.line[view.n_lines - 2].text, "worker 10000 (10100)");
	CU_ASSERT_STRING_EQUAL(view.line[view.n_lines - 1].text, "9952 more rows");
	CU_ASSERT_EQUAL(view.line[view.n_lines - 1].marks->n_events, 10010 - 48 - 10);
	ktr__frame_init(&frame, &picture.info, "");
	ktr__frame_timeline(&frame, &view);
	CU_ASSERT_PTR_NOT_NULL(strstr(frame.note, "48 of 10000 rows have a line"));
	ktr__view_free(&view);
	drop();
}

/* More states than are told apart; the numbers must still add up. */
static void many_states(void)
{
	const struct ktr__row *row;
	struct ktr__view view;
	uint64_t total = 0;
	char state[24];

	begin(5000, (struct ktr__timeline_options){ 0 });
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(state, sizeof(state), "state %u", i);
		picture_state(&picture, i, 1, "worker", "a", state);
	}
	end();
	row = row_of("worker", "a");
	for (unsigned i = 0; i < row->n_stays; i++)
		total += row->stay[i].total_ns;
	CU_ASSERT_EQUAL(total, 5000000001);
	CU_ASSERT_EQUAL(row->n_stays, KTR__ROWS_STAYS);
	CU_ASSERT_EQUAL(timeline.rows.n_labels, KTR__ROWS_LABELS);
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, 50), 0);
	CU_ASSERT_TRUE(view.legend[0].n_more > 0);
	ktr__view_free(&view);
	drop();
}

static void selection_of_nothing(void)
{
	static const char *const nope[] = { "nope" };
	char why[256];

	begin(100, (struct ktr__timeline_options){ .group = nope, .n_groups = 1 });
	picture_state(&picture, 1, 1, "worker", "a", "x");
	picture_counter(&picture, 2, 1, "queue", "q", 1);
	end();
	CU_ASSERT_EQUAL(ktr__frame_empty(&timeline, why, sizeof(why)), 1);
	CU_ASSERT_STRING_EQUAL(why,
			       "nothing to draw: no group is called nope; there are worker, queue");
	drop();
	begin(100, (struct ktr__timeline_options){ .from_ns = PICTURE_BEGIN_NS + 200000000,
						   .to_ns = PICTURE_BEGIN_NS + 300000000 });
	end();
	CU_ASSERT_EQUAL(ktr__frame_empty(&timeline, why, sizeof(why)), 1);
	CU_ASSERT_STRING_EQUAL(why,
			       "nothing to draw: no events between 200 ms and 300 ms of a trace of"
			       " 100 ms");
	drop();
}

static void selection_by_pattern(void)
{
	static const char *const pattern[] = { "wor*" };

	begin(100, (struct ktr__timeline_options){ .group = pattern, .n_groups = 1 });
	picture_state(&picture, 1, 1, "worker", "a", "x");
	picture_counter(&picture, 2, 1, "queue", "q", 1);
	picture_event(&picture, 3, 1, 0);
	end();
	CU_ASSERT_EQUAL(timeline.n_events, 1);
	CU_ASSERT_EQUAL(timeline.n_seen, 3);
	CU_ASSERT_PTR_NOT_NULL(row_of("worker", "a"));
	drop();
}

static void state_ends_with_its_thread(void)
{
	begin(100, (struct ktr__timeline_options){ 0 });
	picture_state(&picture, 10, 1, "worker", "a", "busy");
	picture_state(&picture, 90, 2, "worker", "b", "busy");
	picture_thread(&picture, 1);
	picture.thread[1].thread.exit_ns = PICTURE_BEGIN_NS + 30000000;
	end();
	CU_ASSERT_EQUAL(stay_of(row_of("worker", "a"), "busy")->total_ns, 20000000);
	CU_ASSERT_FALSE(stay_of(row_of("worker", "a"), "busy")->open);
	CU_ASSERT_TRUE(stay_of(row_of("worker", "b"), "busy")->open);
	CU_ASSERT_EQUAL(row_of("worker", "a")->lane.cell[50].first, 0);
	drop();
}

SUITE(rows, TEST(totals_of_states), TEST(same_name_in_two_groups),
      TEST(state_from_before_the_window), TEST(spans_that_overlap), TEST(span_whose_end_was_lost),
      TEST(gaps_are_no_time), TEST(states_are_known_when_they_are_told), TEST(gaps_before_the_window),
      TEST(spans_and_counters_in_gaps), TEST(losses_are_their_rows), TEST(time_that_runs_backwards),
      TEST(names_of_any_bytes),
      TEST(order_and_headings), TEST(worker_that_stands_out), TEST(colours_differ), TEST(colours_stay),
      TEST(numbers_are_a_ramp),
      TEST(rows_by_thread), TEST(rows_by_cpu), TEST(ten_thousand_threads), TEST(many_states),
      TEST(selection_of_nothing), TEST(selection_by_pattern), TEST(state_ends_with_its_thread));
