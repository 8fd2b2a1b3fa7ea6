/* SPDX-License-Identifier: BSD-2-Clause */
/* What a title says stands out: traces on which the tempting sentence would be false. */
#include "tests/unit/suite.h"
#include "picture.h"

#include "visualize/model/frame.h"
#include "visualize/model/number.h"

#include <math.h>
#include <string.h>

static struct picture picture;
static struct ktr__timeline timeline;
static struct ktr__view view;
static struct ktr__frame frame;

static void begin(void)
{
	struct ktr__timeline_options options = { .n_columns = 1000, .by = KTR__BY_IDS };

	picture_open(&picture, 1000);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_init(&timeline, &picture.info, &options), 0);
	picture.sink = &timeline.sink;
}

static void end(unsigned max_lines)
{
	CU_ASSERT_EQUAL(picture.result, 0);
	CU_ASSERT_EQUAL(ktr__timeline_end(&timeline), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, max_lines), 0);
	ktr__frame_init(&frame, &picture.info, "");
	ktr__frame_timeline(&frame, &view);
}

static void drop(void)
{
	ktr__view_free(&view);
	ktr__timeline_free(&timeline);
	picture_close(&picture);
}

/* Each row is busy for its time [ms] at the end of the second, and before that for what is left. */
static void tell(const double *busy, unsigned n)
{
	char name[24];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "row %u", i);
		picture_state(&picture, 0, i + 1, "g", name, "waiting");
	}
	/* In the order of time: the longest first. */
	for (unsigned told = 0; told < n; told++) {
		unsigned best = n;

		for (unsigned i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "row %u", i);
			if (picture.thread[i + 1].thread.exit_ns == 0 && (best == n || busy[i] > busy[best]))
				best = i;
		}
		snprintf(name, sizeof(name), "row %u", best);
		picture_state(&picture, 1000 - busy[best], best + 1, "g", name, "busy");
		picture.thread[best + 1].thread.exit_ns = 1; /* only as a mark */
	}
	for (unsigned i = 0; i < n; i++)
		picture.thread[i + 1].thread.exit_ns = 0;
}

/* Of 300 rows whose shares are spread as chance does it the first has six times the mean, and is no finding. */
static void number_of_rows(void)
{
	double busy[300];

	for (unsigned i = 0; i < 300; i++)
		busy[i] = -100 * log((i + 0.5) / 300);
	CU_ASSERT_TRUE(busy[0] > 600);
	begin();
	tell(busy, 300);
	end(1000);
	CU_ASSERT_EQUAL(view.n_findings, 0);
	CU_ASSERT_STRING_EQUAL(frame.title, "What indexer did during 1.00 s");
	drop();
	/* The same spread of three rows, and of eight. */
	for (unsigned n = 3; n <= 8; n += 5) {
		for (unsigned i = 0; i < n; i++)
			busy[i] = -300 * log((i + 0.5) / n);
		begin();
		tell(busy, n);
		end(1000);
		CU_ASSERT_EQUAL(view.n_findings, 0);
		drop();
	}
}

/* One of 300 that has a job of its own is found, has a line among few, and is marked. */
static void one_of_many(void)
{
	double busy[300];
	unsigned n_said = 0;

	for (unsigned i = 0; i < 300; i++)
		busy[i] = 30 + i % 17;
	busy[211] = 700;
	for (unsigned lines = 3; lines <= 12; lines += 9) {
		begin();
		tell(busy, 300);
		end(lines);
		CU_ASSERT_EQUAL(view.n_findings, 1);
		CU_ASSERT_EQUAL(strncmp(frame.title, "row 211 is \"busy\" 70 % of the time: 700 ms, up to 700 ms"
						     " at once, to the end (median of g: 3.8 %)", 85), 0);
		for (unsigned i = 0; i < view.n_lines; i++)
			if (view.line[i].said == 1) {
				n_said++;
				CU_ASSERT_STRING_EQUAL(view.line[i].row->name, "row 211");
			}
		drop();
	}
	CU_ASSERT_EQUAL(n_said, 2);
	/* Where no line is left for it nothing is said of it. */
	begin();
	tell(busy, 300);
	end(1);
	CU_ASSERT_EQUAL(strncmp(frame.title, "What indexer did", 16), 0);
	drop();
}

/* No row stands out where another one has the same, or the state is everybody's. */
static void ties(void)
{
	static const double two[] = { 10, 10, 10, 10, 10, 700, 700 }, all[] = { 500, 500, 500, 500, 500 };

	begin();
	tell(two, 7);
	end(100);
	CU_ASSERT_EQUAL(view.n_findings, 0);
	drop();
	begin();
	tell(all, 5);
	end(100);
	CU_ASSERT_EQUAL(view.n_findings, 0);
	drop();
}

/* Seven of eight rows are on a CPU whose ring lost nearly all: nobody knows that they waited less. */
static void losses_explain(void)
{
	char name[24];

	begin();
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "row %u", i);
		picture.event.cpu = i > 0;
		picture_state(&picture, 0.1 * i, i + 1, "g", name, "waiting");
		picture_state(&picture, 5 + 0.1 * i, i + 1, "g", name, i > 0 ? "busy" : "waiting");
	}
	picture_loss(&picture, 1, 10, 990, 98765);
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "row %u", i);
		picture.event.cpu = i > 0;
		picture_state(&picture, 991 + 0.1 * i, i + 1, "g", name, "busy");
	}
	end(100);
	CU_ASSERT_EQUAL(view.n_findings, 0);
	CU_ASSERT_EQUAL(strncmp(frame.title, "What indexer did", 16), 0);
	drop();
}

/* A part of its time is lost: what is said is a bound. */
static void at_least(void)
{
	double busy[8] = { 20, 20, 20, 20, 20, 20, 20, 700 };

	begin();
	tell(busy, 8);
	picture_loss(&picture, 0, 900, 950, 5);
	end(100);
	CU_ASSERT_EQUAL(view.n_findings, 1);
	CU_ASSERT_EQUAL(strncmp(frame.title, "row 7 is \"busy\" at least 60 % of the time: 600 ms, 600 ms of it at once", 71), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(frame.title, "(median of g: at most 7"));
	drop();
}

static void is(struct ktr__label_text text, const char *wanted)
{
	CU_ASSERT_STRING_EQUAL(text.text, wanted);
	if (strcmp(text.text, wanted) != 0)
		printf("\n%s instead of %s\n", text.text, wanted);
}

static void numbers_say_what_is_so(void)
{
	is(ktr__number_share(0, 5), "0 %");
	is(ktr__number_share(0, 0), "0 %");
	is(ktr__number_share(5, 5), "100 %");
	is(ktr__number_share(1, 3), "33 %");
	is(ktr__number_share(1, 100), "1.0 %");
	is(ktr__number_share(1, 100000), "0.001 %");
	is(ktr__number_share(1, 1e9), "below 0.0001 %");
	is(ktr__number_share(99999, 100000), "99.999 %");
	is(ktr__number_share(999999999, 1e9), "above 99.9999 %");
	is(ktr__number_share(9962, 10000), "99.6 %");
	is(ktr__number_rate(0.36), "0.36");
	is(ktr__number_rate(0.0001), "0.0001");
	is(ktr__number_rate(999.4), "999");
	is(ktr__number_rate(999.6), "1,000");
	is(ktr__number_rate(91089.2), "91,089");
	is(ktr__number_value(-7), "-7");
	is(ktr__number_value(3e9), "3000000000");
	is(ktr__number_value(0.36), "0.36");
	is(ktr__number_value(0.1 + 0.2), "0.30000000000000004");
	is(ktr__number_value(9223372036854775808.0), "9.223372036854776e+18");
	is(ktr__number_tick(1e6, 2e5), "1M");
	is(ktr__number_tick(8e5, 2e5), "800k");
	is(ktr__number_tick(1.2e6, 2e5), "1.2M");
	is(ktr__number_tick(-2e9, 1e9), "-2G");
	is(ktr__number_tick(0.35, 0.05), "0.35");
	is(ktr__number_tick(1e-17, 0.05), "0");
	is(ktr__number_tick(9e18, 1e18), "9E");
	is(ktr__number_tick(50, 10), "50");
}

SUITE(finding, TEST(number_of_rows), TEST(one_of_many), TEST(ties), TEST(losses_explain), TEST(at_least),
      TEST(numbers_say_what_is_so));
