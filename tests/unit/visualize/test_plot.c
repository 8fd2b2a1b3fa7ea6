/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Charts: what their scripts say, that gnuplot draws them, and what is said where there is nothing
 * to draw. Where gnuplot is not installed the scripts are still compared, and the drawing is left
 * out.
 */
#include "tests/unit/suite.h"
#include "picture.h"

#include "visualize/chart/chart_timeline.h"
#include "visualize/chart/plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct picture picture;
static struct ktr__plot plot;
static char dir[64];

static void enter(void)
{
	strcpy(dir, "/tmp/ktr-plot-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
}

static void leave(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	CU_ASSERT_EQUAL(system(command), 0);
}

static const char *in_dir(const char *name)
{
	static char path[2][128];
	static int which;

	which = !which;
	snprintf(path[which], sizeof(path[which]), "%s/%s", dir, name);
	return path[which];
}

static int have_gnuplot(void)
{
	static int have = -1;

	if (have < 0)
		have = system("command -v gnuplot >/dev/null") == 0;
	if (!have)
		printf("(no gnuplot: not drawn) ");
	return have;
}

/* A file as a string, the caller's to free; NULL where there is none. */
static char *contents(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (f != NULL) {
		if (getdelim(&text, &size, '\0', f) < 0) {
			free(text);
			text = NULL;
		}
		fclose(f);
	}
	return text;
}

/* Width and height of a PNG, out of its IHDR chunk (RFC 2083, 11.2.1). */
static void expect_png(const char *path, unsigned width, unsigned height)
{
	unsigned char head[24] = { 0 };
	FILE *f = fopen(path, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(fread(head, 1, sizeof(head), f), sizeof(head));
	CU_ASSERT_EQUAL(memcmp(head, "\x89PNG\r\n\x1a\n", 8), 0);
	CU_ASSERT_EQUAL(head[18] << 8 | head[19], (int)width);
	CU_ASSERT_EQUAL(head[22] << 8 | head[23], (int)height);
	fclose(f);
}

/* Feeds a kind with a made-up trace and draws. Returns what ktr__plot_draw() did. */
static int draw(const char *kind, const struct ktr__plot_options *options,
		void (*tell)(struct picture *), struct ktr_error *err)
{
	struct ktr__plot_options o = *options;
	int rc;

	o.width = o.width ? o.width : KTR__CHART_WIDTH;
	o.height = o.height ? o.height : KTR__CHART_HEIGHT;
	o.command = "ktr plot";
	picture_open(&picture, 10000);
	rc = ktr__plot_init(&plot, ktr__plot_find(kind), &picture.info, &o, err);
	if (rc == 0) {
		picture.sink = &plot.sink;
		tell(&picture);
		CU_ASSERT_EQUAL(picture.result, 0);
		rc = ktr__plot_draw(&plot, err);
	}
	ktr__plot_free(&plot);
	picture_close(&picture);
	return rc;
}

/* The script of a chart; the caller's to free. */
static char *script(const char *kind, struct ktr__plot_options options,
		    void (*tell)(struct picture *))
{
	struct ktr_error err = KTR_ERROR_NONE;
	char path[128], *text;

	snprintf(path, sizeof(path), "%s", in_dir("chart.gp"));
	options.file = path;
	CU_ASSERT_EQUAL(draw(kind, &options, tell, &err), 0);
	if (err.code != 0)
		printf("\n%s: %s\n", kind, err.text);
	text = contents(path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	return text;
}

static void expect_text(const char *text, const char *part)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
	if (strstr(text, part) == NULL)
		printf("\nnot there: %s\n", part);
}

static void latency_says_percentiles(void)
{
	char *text;

	enter();
	text = script("latency", (struct ktr__plot_options){ .span = "lock wait" },
		      picture_indexer);
	/* 100 waits of 80 ms and 10 of 1 ms. */
	expect_text(text, "lock wait: half of those recorded took up to 80.0 ms, 99 of 100 up to 80.0 ms (p99), ");
	expect_text(text, "\"p99 80.0 ms\"");
	CU_ASSERT_PTR_NULL(strstr(text, "\"p99.9 "));
	expect_text(text, "by worker 4 at +10.0 ms");
	expect_text(text, "12,345 events were lost");
	expect_text(text, "made by: ktr plot");
	expect_text(text, "/usr/bin/indexer -o /tmp/index /usr/include on testhost");
	free(text);
	/* A state can be timed as well. */
	text = script("latency", (struct ktr__plot_options){ .span = "waiting*" }, picture_indexer);
	expect_text(text, "worker: waiting for lock: half of those recorded took up to 80.0 ms");
	free(text);
	leave();
}

static void other_titles(void)
{
	static const struct {
		const char *kind, *part;
	} expected[] = {
		{ "states", "worker 4 is \\042waiting for lock\\042 at least 78 % of the time" },
		{ "counters", "files queued runs from 0 to 50, as far as recorded, and was last 1" },
		{ "heatmap",
		  "lock wait over time: the longest that is certain took 80.0 ms (worker 4, from +10.0 ms)" },
		{ "rate", "444 events/s recorded on average" },
		{ "load", "worker 3 (103) has most of the recorded events: 28 %" },
		{ "gaps", "The longest silence that is certain was 100 ms: " },
	};

	enter();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		char *text = script(expected[i].kind, (struct ktr__plot_options){ 0 },
				    picture_indexer);

		expect_text(text, expected[i].part);
		expect_text(text, "12,345 events were lost");
		expect_text(text, "made by: ktr plot");
		free(text);
	}
	leave();
}

/* Numbers of the field "value" of made-up counters stand for an argument. */
static void tell_parabola(struct picture *p)
{
	for (int i = 0; i < 30000; i++)
		picture_counter(p, i / 3.0, 1, "g", "n", (i - 15000) / 100 * ((i - 15000) / 100));
}

static void scatter_of_points_and_cells(void)
{
	char *text;

	enter();
	text = script("scatter", (struct ktr__plot_options){ .y = "value" }, tell_parabola);
	expect_text(text, "value against time: from 0 to 22500");
	expect_text(text, "30,000 values");
	expect_text(text, "values per point");
	free(text);
	text = script("scatter", (struct ktr__plot_options){ .y = "value", .x = "value" },
		      picture_indexer);
	expect_text(text, "correlation 1.00");
	free(text);
	leave();
}

/* Plain events of one thread, 1 ms apart: from one to the next. */
static void tell_steps(struct picture *p)
{
	for (int i = 0; i < 101; i++)
		picture_event(p, i, 1, 0);
}

static void pairs_of_sites(void)
{
	char *text;

	enter();
	text = script("latency",
		      (struct ktr__plot_options){ .pair = &(struct ktr__pair){ "*", "*", "thread" } },
		      tell_steps);
	expect_text(text, "* to * by thread: half took up to 1.00 ms");
	expect_text(text, "durations of 100 spans");
	expect_text(text, "1 of * to * by thread had not ended");
	free(text);
	leave();
}

static void every_format_is_drawn(void)
{
	static const char *const name[] = { "a.png", "a.svg", "a.pdf" };
	struct ktr__plot_options options = { 0 };
	struct ktr_error err = KTR_ERROR_NONE;

	enter();
	for (unsigned i = 0; have_gnuplot() && i < 3; i++) {
		struct stat is = { 0 };

		options.file = in_dir(name[i]);
		CU_ASSERT_EQUAL(draw("latency", &options, picture_indexer, &err), 0);
		CU_ASSERT_EQUAL(stat(options.file, &is), 0);
		CU_ASSERT_TRUE(is.st_size > 5000);
	}
	if (have_gnuplot())
		expect_png(in_dir("a.png"), 1200, 800);
	leave();
}

#define STATES_HEIGHT 576u /* [pixels] */

static void scripts_run_alone(void)
{
	char command[256];

	enter();
	for (unsigned i = 0; have_gnuplot() && ktr__plot_kinds[i] != NULL; i++) {
		if (ktr__plot_kinds[i]->n_traces > 1)
			continue;
		free(script(ktr__plot_kinds[i]->name, (struct ktr__plot_options){ .y = "value" },
			    picture_indexer));
		/* Without a locale gnuplot says that it cannot have a degree sign. */
		snprintf(command, sizeof(command),
			 "cd '%s' && LC_ALL=C.UTF-8 gnuplot -d chart.gp 2>&1 | grep .", dir);
		CU_ASSERT_NOT_EQUAL(system(command), 0);
		/* Seven rows of states need no more. */
		expect_png(in_dir("chart.png"), 1200, strcmp(ktr__plot_kinds[i]->name, "states") == 0 ? STATES_HEIGHT : 800);
		CU_ASSERT_EQUAL(unlink(in_dir("chart.png")), 0);
	}
	leave();
}

static void compare_two_traces(void)
{
	struct ktr__plot other;
	struct picture second;
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__plot_options o = {
		.width = 1200, .height = 800, .command = "", .span = "lock wait"
	};
	char *text;

	enter();
	o.file = in_dir("compare.gp");
	picture_open(&picture, 10000);
	picture_open(&second, 10000);
	CU_ASSERT_EQUAL(ktr__plot_init(&plot, ktr__plot_find("compare"), &picture.info, &o, &err),
			0);
	CU_ASSERT_EQUAL(ktr__plot_init(&other, ktr__plot_find("compare"), &second.info, &o, &err),
			0);
	picture.sink = &plot.sink;
	picture_indexer(&picture);
	second.sink = &other.sink;
	picture_start(&second, 1, 1, "lock wait", "worker 1", 1);
	picture_stop(&second, 5, 1, "lock wait", "worker 1", 1);
	plot.other = &other;
	CU_ASSERT_EQUAL(ktr__plot_draw(&plot, &err), 0);
	text = contents(o.file);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	expect_text(text,
		    "p50 80.0 ms in A, 4.00 ms in B, as far as recorded\"");
	/* 110 of A and one of B: shares of each, not numbers. */
	expect_text(text, "set ylabel 'share of its spans (log scale)'");
	expect_text(text, "\"A: lock wait (110)\"");
	expect_text(text, "\"B: lock wait (1)\"");
	expect_text(text, "$bins_0 << EOD\n1e+06 1.12202e+06 9.09091\n");
	expect_text(text, " 100\nEOD\n");
	free(text);
	ktr__plot_free(&plot);
	ktr__plot_free(&other);
	picture_close(&picture);
	picture_close(&second);
	leave();
}

static void tell_nothing(struct picture *p)
{
	(void)p;
}

static void tell_open(struct picture *p)
{
	picture_start(p, 100, 1, "lock wait", "worker 1", 1);
}

static const struct ktr__pair pair = { "a", "b", "" };

static void says_why_there_is_nothing(void)
{
	static const struct {
		const char *kind;
		struct ktr__plot_options options;
		void (*tell)(struct picture *);
		const char *text;
	} expected[] = {
		{ "rate",
		  { 0 },
		  tell_nothing,
		  "no events between 0 ns and 10.0 s of a trace of 10.0 s" },
		{ "latency",
		  { .span = "nope" },
		  picture_indexer,
		  "no span or state matches 'nope' among 4,442 events; 12,345 events were lost" },
		{ "latency",
		  { 0 },
		  tell_open,
		  "none of 1 spans of lock wait ended among 1 events" },
		{ "latency",
		  { .pair = &pair },
		  picture_indexer,
		  "no pair of 'a' and 'b' with the same thread" },
		{ "heatmap", { .group = "x*" }, picture_indexer, "no group matches 'x*'" },
		{ "states",
		  { .group = "queue" },
		  picture_indexer,
		  "no KTR_STATE of a group called queue" },
		{ "counters",
		  { .group = "x" },
		  picture_indexer,
		  "no KTR_COUNTER of a group called x" },
		{ "gaps", { .site = "x.c:1" }, picture_indexer, "no site matches 'x.c:1'" },
		{ "scatter", { 0 }, picture_indexer, "--y NAME says which argument; there are" },
		{ "scatter",
		  { .y = "nope" },
		  picture_indexer,
		  "no site has these arguments; there are" },
	};

	enter();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct ktr_error err = KTR_ERROR_NONE;
		struct ktr__plot_options options = expected[i].options;

		options.file = in_dir("none.png");
		CU_ASSERT_EQUAL(draw(expected[i].kind, &options, expected[i].tell, &err), -ENODATA);
		CU_ASSERT_EQUAL(strncmp(err.text, "nothing to draw: ", 17), 0);
		expect_text(err.text, expected[i].text);
		CU_ASSERT_NOT_EQUAL(access(options.file, F_OK), 0);
	}
	leave();
}

static void tell_attack(struct picture *p)
{
	picture_state(p, 1, 1, "g'`touch owned`", "'; system('touch owned') #\n",
		      "$(touch owned)\\n\"{/:Bold x}");
	picture_state(p, 5000, 1, "g'`touch owned`", "'; system('touch owned') #\n", "@owned ^x_y");
	picture_counter(p, 5001, 1, "'\nsystem 'touch owned'\n", "EOD\nsystem 'touch owned'", 3);
	picture_start(p, 5002, 1, "s'\"", "x", 1);
	picture_stop(p, 6002, 1, "s'\"", "x", 1);
}

/* No name in a trace becomes a command of gnuplot or of a shell. */
static void names_are_no_commands(void)
{
	char before[256];

	enter();
	CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof(before)));
	CU_ASSERT_EQUAL_FATAL(chdir(dir), 0);
	for (unsigned i = 0; have_gnuplot() && ktr__plot_kinds[i] != NULL; i++) {
		struct ktr__plot_options options = { .y = "value" };

		if (ktr__plot_kinds[i]->n_traces > 1)
			continue;
		free(script(ktr__plot_kinds[i]->name, options, tell_attack));
		CU_ASSERT_EQUAL(system("gnuplot -d chart.gp"), 0);
		CU_ASSERT_NOT_EQUAL(access("owned", F_OK), 0);
	}
	CU_ASSERT_EQUAL(chdir(before), 0);
	leave();
}

/* Draws a timeline into a file of the directory. */
static int draw_timeline(const char *file, enum ktr__timeline_by by, void (*tell)(struct picture *),
			 struct ktr_error *err)
{
	static struct ktr__timeline timeline;
	struct ktr__timeline_options o = { .by = by,
					   .n_columns = ktr__chart_timeline_columns(1200) };
	struct ktr__view view;
	struct ktr__frame frame;
	int rc;

	picture_open(&picture, 10000);
	CU_ASSERT_EQUAL_FATAL(ktr__timeline_init(&timeline, &picture.info, &o), 0);
	picture.sink = &timeline.sink;
	tell(&picture);
	CU_ASSERT_EQUAL(ktr__timeline_end(&timeline), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__view_init(&view, &timeline, ktr__chart_timeline_lines(800)), 0);
	ktr__frame_init(&frame, &picture.info, "ktr timeline");
	ktr__frame_timeline(&frame, &view);
	rc = ktr__chart_timeline(file, 1200, 800, &view, &frame, err);
	ktr__view_free(&view);
	ktr__timeline_free(&timeline);
	picture_close(&picture);
	return rc;
}

static void tell_many_threads(struct picture *p)
{
	for (unsigned i = 0; i < 10000; i++)
		picture_event(p, i, 1 + i, i % 2);
}

static void timelines_are_drawn(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char *text;

	enter();
	CU_ASSERT_EQUAL(draw_timeline(in_dir("t.gp"), KTR__BY_IDS, picture_indexer, &err), 0);
	text = contents(in_dir("t.gp"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	expect_text(text, "\"worker 4 is \\042waiting for lock\\042 at least 78 % of the time");
	expect_text(text, "\"waiting for lock 78 %\"");
	free(text);
	for (int by = KTR__BY_AUTO; have_gnuplot() && by <= KTR__BY_IDS; by++) {
		CU_ASSERT_EQUAL(draw_timeline(in_dir("t.png"), (enum ktr__timeline_by)by,
					      picture_indexer, &err),
				0);
		CU_ASSERT_EQUAL(draw_timeline(in_dir("t.svg"), (enum ktr__timeline_by)by,
					      tell_attack, &err),
				0);
	}
	if (have_gnuplot()) {
		CU_ASSERT_EQUAL(
			draw_timeline(in_dir("m.png"), KTR__BY_THREADS, tell_many_threads, &err),
			0);
		expect_png(in_dir("m.png"), 1200, 800);
	}
	CU_ASSERT_EQUAL(err.code, 0);
	leave();
}

/* Where gnuplot is missing it is said so, and an older picture stays. */
static void without_gnuplot(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__plot_options options = { 0 };
	char *path = strdup(getenv("PATH")), *text;
	FILE *f;

	enter();
	options.file = in_dir("old.png");
	f = fopen(options.file, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs("old", f);
	fclose(f);
	setenv("PATH", dir, 1);
	CU_ASSERT_EQUAL(draw("rate", &options, picture_indexer, &err), -ENOENT);
	setenv("PATH", path, 1);
	free(path);
	expect_text(err.text, "gnuplot is not installed");
	text = contents(options.file);
	CU_ASSERT_STRING_EQUAL(text, "old");
	free(text);
	leave();
}

static void files_that_cannot_be_written(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__plot_options options = { .file = "/nowhere/at/all.png" };

	CU_ASSERT_EQUAL(draw("rate", &options, picture_indexer, &err), -ENOENT);
	CU_ASSERT_STRING_EQUAL(err.file, "/nowhere/at/all.png");
	err = (struct ktr_error)KTR_ERROR_NONE;
	options.file = "picture.jpg";
	CU_ASSERT_EQUAL(draw("rate", &options, picture_indexer, &err), -EINVAL);
	expect_text(err.text, ".png, .svg, .pdf or .gp");
}

SUITE(plot, TEST(latency_says_percentiles), TEST(other_titles), TEST(scatter_of_points_and_cells),
      TEST(pairs_of_sites), TEST(every_format_is_drawn), TEST(scripts_run_alone),
      TEST(compare_two_traces), TEST(says_why_there_is_nothing), TEST(names_are_no_commands),
      TEST(timelines_are_drawn), TEST(without_gnuplot), TEST(files_that_cannot_be_written));
