/* SPDX-License-Identifier: BSD-2-Clause */
/* Scopes of threads, in each other: which level has which name in which column, and what a view makes of them. */
#include "tests/unit/suite.h"
#include "picture.h"

#include "visualize/model/frame.h"
#include "visualize/model/legend.h"
#include "visualize/model/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct picture picture;
static struct ktr__timeline timeline;
static struct ktr__view view;

/* A trace of 100 ms in columns of one. */
static void begin(struct ktr__timeline_options options)
{
	if (options.n_columns == 0)
		options.n_columns = 100;
	if (options.to_ns == 0)
		options.to_ns = PICTURE_BEGIN_NS + 100000000;
	picture_open(&picture, 100);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_init(&timeline, &picture.info, &options), 0);
	picture.sink = &timeline.sink;
}

static void end(unsigned max_lines)
{
	CU_ASSERT_EQUAL(picture.result, 0);
	CU_ASSERT_EQUAL(ktr__timeline_end(&timeline), 0);
	CU_ASSERT_EQUAL(ktr__view_init(&view, &timeline, max_lines), 0);
}

static void drop(void)
{
	ktr__view_free(&view);
	ktr__timeline_free(&timeline);
	picture_close(&picture);
}

static const struct ktr__row *nest_of(unsigned thread)
{
	for (unsigned i = 0; i < timeline.rows.n_rows; i++)
		if (timeline.rows.row[i]->kind == KTR__ROW_NEST &&
		    timeline.rows.row[i]->thread == &picture_thread(&picture, thread)->thread)
			return timeline.rows.row[i];
	CU_FAIL_FATAL("the thread has no scopes");
	return NULL;
}

/* "main@10-20 main@30-90": the runs of columns of one name, those that it has most of. */
static const char *runs(unsigned thread, unsigned level)
{
	static char text[1024];
	const struct ktr__row *nest = nest_of(thread);
	const struct ktr__cell *cell;
	size_t n = 0;

	text[0] = '\0';
	if (level >= nest->n_levels)
		return text;
	cell = nest->level[level]->lane.cell;
	for (unsigned i = 0, k; cell != NULL && i < timeline.rows.grid.n_columns; i = k) {
		for (k = i + 1; k < timeline.rows.grid.n_columns; k++)
			if (cell[k].first != cell[i].first || cell[k].n != 1)
				break;
		if (cell[i].first != 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s@%u-%u", n > 0 ? " " : "",
					      timeline.rows.label[cell[i].first], i, k);
	}
	return text;
}

static void siblings_and_children(void)
{
	begin((struct ktr__timeline_options){ 0 });
	picture_enter(&picture, 10, 1, "main", 9000);
	picture_enter(&picture, 20, 1, "read", 8000);
	picture_leave(&picture, 30, 1, "read", 8000);
	picture_enter(&picture, 30, 1, "read", 8000);
	picture_enter(&picture, 35, 1, "parse", 7000);
	picture_leave(&picture, 40, 1, "parse", 7000);
	picture_leave(&picture, 50, 1, "read", 8000);
	picture_enter(&picture, 60, 1, "write", 8000);
	picture_leave(&picture, 70, 1, "write", 8000);
	picture_leave(&picture, 90, 1, "main", 9000);
	end(100);
	CU_ASSERT_EQUAL(nest_of(1)->n_levels, 3);
	CU_ASSERT_STRING_EQUAL(runs(1, 0), "main@10-90");
	CU_ASSERT_STRING_EQUAL(runs(1, 1), "read@20-30 read@30-50 write@60-70");
	CU_ASSERT_STRING_EQUAL(runs(1, 2), "parse@35-40");
	CU_ASSERT_EQUAL(view.n_lines, 4);
	CU_ASSERT_STRING_EQUAL(view.line[0].text, "scope");
	CU_ASSERT_STRING_EQUAL(view.line[1].text, "worker 1 (101)");
	CU_ASSERT_STRING_EQUAL(view.line[2].text, "");
	CU_ASSERT_PTR_EQUAL(view.line[3].row, nest_of(1)->level[2]);
	CU_ASSERT_EQUAL(view.n_legends, 1);
	CU_ASSERT_STRING_EQUAL(view.legend[0].group, "scopes");
	CU_ASSERT_EQUAL(view.legend[0].n, 4);
	drop();
}

/* The address of a record on the stack, of a call that is so deep. */
static uint64_t frame_at(unsigned depth)
{
	return 1000000 - 100 * depth;
}

static void recursion(unsigned depth, unsigned thread)
{
	for (unsigned i = 0; i < depth; i++)
		picture_enter(&picture, 10 + 0.5 * i, thread, "level", frame_at(i));
	for (unsigned i = depth; i-- > 0;)
		picture_leave(&picture, 90 - 0.5 * i, thread, "level", frame_at(i));
}

static void recursion_of_31(void)
{
	char want[64];

	begin((struct ktr__timeline_options){ .n_columns = 200 });
	recursion(31, 1);
	end(100);
	CU_ASSERT_EQUAL(nest_of(1)->n_levels, 31);
	CU_ASSERT_EQUAL(nest_of(1)->n_deeper, 0);
	for (unsigned i = 0; i < 31; i++) {
		snprintf(want, sizeof(want), "level@%u-%u", 20 + i, 180 - i);
		CU_ASSERT_STRING_EQUAL(runs(1, i), want);
	}
	CU_ASSERT_EQUAL(view.n_lines, 32);
	drop();
}

/* What is too deep is cut, and said; what comes after it is where it belongs. */
static void deeper_ones_are_said(void)
{
	struct ktr__frame frame;

	begin((struct ktr__timeline_options){ 0 });
	recursion(KTR__ROWS_LEVELS + 3, 1);
	picture_enter(&picture, 95, 1, "after", 900);
	end(200);
	CU_ASSERT_EQUAL(nest_of(1)->n_levels, KTR__ROWS_LEVELS);
	CU_ASSERT_EQUAL(nest_of(1)->n_deeper, 3);
	CU_ASSERT_EQUAL(nest_of(1)->n_open, 1);
	ktr__frame_init(&frame, &picture.info, "ktr timeline");
	ktr__frame_timeline(&frame, &view);
	CU_ASSERT_PTR_NOT_NULL(strstr(frame.note, "3 scopes lie deeper than 64 levels and are left out"));
	CU_ASSERT_PTR_NOT_NULL(strstr(runs(1, 0), "after@95-100"));
	drop();
}

static void edges_of_the_window(void)
{
	begin((struct ktr__timeline_options){ .from_ns = PICTURE_BEGIN_NS + 40000000,
					      .to_ns = PICTURE_BEGIN_NS + 60000000,
					      .n_columns = 20 });
	picture_enter(&picture, 5, 1, "before", 9000);
	picture_enter(&picture, 6, 1, "deep", 8900);
	picture_leave(&picture, 7, 1, "deep", 8900);
	picture_leave(&picture, 8, 1, "before", 9000);
	picture_enter(&picture, 10, 1, "main", 9000);
	picture_enter(&picture, 20, 1, "ends", 8000);
	picture_leave(&picture, 45, 1, "ends", 8000);
	picture_enter(&picture, 55, 1, "begins", 8000);
	picture_leave(&picture, 70, 1, "begins", 8000);
	picture_leave(&picture, 90, 1, "main", 9000);
	end(100);
	CU_ASSERT_STRING_EQUAL(runs(1, 0), "main@0-20");
	CU_ASSERT_STRING_EQUAL(runs(1, 1), "ends@0-5 begins@15-20");
	drop();
}

static void two_threads(void)
{
	begin((struct ktr__timeline_options){ .by = KTR__BY_THREADS });
	picture_enter(&picture, 10, 2, "b", 9000);
	picture_enter(&picture, 11, 1, "a", 5000);
	picture_enter(&picture, 20, 2, "b inner", 8000);
	picture_state(&picture, 21, 2, "worker", "b", "busy");
	picture_leave(&picture, 30, 1, "a", 5000);
	picture_leave(&picture, 40, 2, "b inner", 8000);
	picture_start(&picture, 41, 2, "io", "disk", 1);
	picture_leave(&picture, 50, 2, "b", 9000);
	picture_stop(&picture, 51, 2, "io", "disk", 1);
	end(100);
	CU_ASSERT_STRING_EQUAL(runs(1, 0), "a@11-30");
	CU_ASSERT_EQUAL(nest_of(1)->n_levels, 1);
	CU_ASSERT_STRING_EQUAL(runs(2, 0), "b@10-50");
	CU_ASSERT_STRING_EQUAL(runs(2, 1), "b inner@20-40");
	/* The process; each thread with its state, below it its scopes, then the rest. */
	CU_ASSERT_EQUAL_FATAL(view.n_lines, 7);
	CU_ASSERT_STRING_EQUAL(view.line[1].text, "worker 1 (101)");
	CU_ASSERT_STRING_EQUAL(view.line[2].text, "scope");
	CU_ASSERT_PTR_EQUAL(view.line[2].row, nest_of(1)->level[0]);
	CU_ASSERT_STRING_EQUAL(view.line[3].text, "worker 2 (102)");
	CU_ASSERT_PTR_EQUAL(view.line[4].row, nest_of(2)->level[0]);
	CU_ASSERT_PTR_EQUAL(view.line[5].row, nest_of(2)->level[1]);
	CU_ASSERT_STRING_EQUAL(view.line[6].text, "io disk");
	drop();
}

/* The frames below it are left: what begins next lies in it again. */
static void left_by_longjmp(void)
{
	begin((struct ktr__timeline_options){ 0 });
	picture_enter(&picture, 10, 1, "main", 9000);
	picture_enter(&picture, 20, 1, "run", 8900);
	picture_enter(&picture, 25, 1, "throws", 8800);
	picture_enter(&picture, 40, 1, "run", 8900);
	picture_leave(&picture, 50, 1, "run", 8900);
	picture_leave(&picture, 60, 1, "main", 9000);
	end(100);
	CU_ASSERT_STRING_EQUAL(runs(1, 0), "main@10-60");
	CU_ASSERT_STRING_EQUAL(runs(1, 1), "run@20-40 run@40-50");
	CU_ASSERT_STRING_EQUAL(runs(1, 2), "throws@25-40");
	drop();
}

/* The end of "inner" is lost: it lasts until what it lies in ends, and the gap counts for nothing and hides both. */
static void end_that_was_lost(void)
{
	const struct ktr__row *level;

	begin((struct ktr__timeline_options){ 0 });
	picture_enter(&picture, 10, 1, "main", 900000);
	picture_enter(&picture, 20, 1, "inner", 800000);
	picture_loss(&picture, 0, 30, 40, 7);
	picture_leave(&picture, 50, 1, "main", 900000);
	picture_enter(&picture, 60, 1, "next", 900000);
	end(100);
	CU_ASSERT_STRING_EQUAL(runs(1, 0), "main@10-30 main@40-50 next@60-100");
	CU_ASSERT_STRING_EQUAL(runs(1, 1), "inner@20-30 inner@40-50");
	level = nest_of(1)->level[1];
	CU_ASSERT_EQUAL_FATAL(level->n_stays, 1);
	CU_ASSERT_EQUAL(level->stay[0].total_ns, 20000000);
	CU_ASSERT_EQUAL(ktr__row_lost(level, &timeline.losses, 35), 255);
	CU_ASSERT_EQUAL(ktr__row_lost(level, &timeline.losses, 45), 0);
	drop();
}

/* A row for each name, where that is asked for. */
static void by_name(void)
{
	begin((struct ktr__timeline_options){ .by = KTR__BY_NAMES });
	recursion(3, 1);
	picture_enter(&picture, 95, 1, "after", 900);
	end(100);
	CU_ASSERT_EQUAL(view.n_lines, 3);
	CU_ASSERT_STRING_EQUAL(view.line[1].text, "after");
	CU_ASSERT_STRING_EQUAL(view.line[2].text, "level");
	CU_ASSERT_EQUAL(view.line[2].row->kind, KTR__ROW_ID);
	drop();
}

/* A state that is called as a scope is another thing, and scopes take neither colours nor letters from states. */
static void names_of_scopes_are_their_own(void)
{
	uint32_t colour[2];
	char letter[2];

	for (int i = 0; i < 2; i++) {
		uint16_t busy;

		begin((struct ktr__timeline_options){ .by = i == 0 ? KTR__BY_NAMES : KTR__BY_AUTO });
		picture_enter(&picture, 5, 1, "busy", 900);
		picture_enter(&picture, 6, 1, "b", 800);
		picture_state(&picture, 10, 1, "worker", "w", "busy");
		end(100);
		CU_ASSERT_EQUAL(ktr__rows_label(&timeline.rows, "busy", 4, &busy), 0);
		CU_ASSERT_EQUAL(timeline.rows.label_scope[busy], 0);
		colour[i] = timeline.rows.label_colour[busy];
		letter[i] = timeline.rows.label_letter[busy];
		drop();
	}
	CU_ASSERT_EQUAL(colour[0], colour[1]);
	CU_ASSERT_EQUAL(letter[0], letter[1]);
}

/* Where lines are few the outer levels of all threads have them, and the rest is said. */
static void few_lines(void)
{
	struct ktr__frame frame;

	begin((struct ktr__timeline_options){ 0 });
	recursion(20, 1);
	for (unsigned t = 2; t < 5; t++)
		picture_enter(&picture, 91 + t, t, "waits", 100 * t);
	end(10);
	ktr__frame_init(&frame, &picture.info, "ktr timeline");
	ktr__frame_timeline(&frame, &view);
	CU_ASSERT_EQUAL(view.n_lines, 10);
	CU_ASSERT_EQUAL(view.n_hidden, 15);
	CU_ASSERT_EQUAL(view.n_deeper, 15);
	for (unsigned i = 1, depth = 0; i < 6; i++, depth++)
		CU_ASSERT_PTR_EQUAL(view.line[i].row, nest_of(1)->level[depth]);
	for (unsigned i = 6; i < 9; i++)
		CU_ASSERT_PTR_EQUAL(view.line[i].row, nest_of(i - 4)->level[0]);
	CU_ASSERT_PTR_NOT_NULL(strstr(frame.note, "15 deeper levels of scopes have none"));
	drop();
}

SUITE(nest, TEST(siblings_and_children), TEST(recursion_of_31), TEST(deeper_ones_are_said),
      TEST(edges_of_the_window), TEST(two_threads), TEST(left_by_longjmp), TEST(end_that_was_lost), TEST(by_name),
      TEST(names_of_scopes_are_their_own), TEST(few_lines));
