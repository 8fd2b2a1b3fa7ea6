/* SPDX-License-Identifier: BSD-2-Clause */
/* What charts say above themselves: each on a trace where the tempting sentence would be false. */
#include "tests/unit/suite.h"
#include "picture.h"

#include "visualize/chart/plot.h"
#include "visualize/flame/flame_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct picture picture;
static struct ktr__plot plot;
static char *script;

/* Draws a kind of a made-up trace of so many milliseconds as a script; drop() is due. */
static void draw(const char *kind, double ms, void (*tell)(struct picture *), struct ktr__plot_options options)
{
	char path[] = "/tmp/ktr-titles-XXXXXX.gp";
	struct ktr_error err = KTR_ERROR_NONE;
	size_t size = 0;
	FILE *f;

	close(mkstemps(path, 3));
	options.file = path;
	options.width = KTR__CHART_WIDTH;
	options.height = KTR__CHART_HEIGHT;
	options.command = "";
	picture_open(&picture, ms);
	CU_ASSERT_EQUAL_FATAL(ktr__plot_init(&plot, ktr__plot_find(kind), &picture.info, &options, &err), 0);
	picture.sink = &plot.sink;
	tell(&picture);
	CU_ASSERT_EQUAL(picture.result, 0);
	CU_ASSERT_EQUAL(ktr__plot_draw(&plot, &err), 0);
	f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_TRUE(getdelim(&script, &size, '\0', f) > 0);
	fclose(f);
	unlink(path);
}

static void drop(void)
{
	ktr__plot_free(&plot);
	picture_close(&picture);
	free(script);
	script = NULL;
}

static void title(const char *wanted)
{
	CU_ASSERT_STRING_EQUAL(plot.frame.title, wanted);
	if (strcmp(plot.frame.title, wanted) != 0)
		printf("\n%s\ninstead of\n%s\n", plot.frame.title, wanted);
}

static unsigned n_spans;

/* Spans of 1, 2, 3... ms, but all alike where there are 110. */
static void tell_spans(struct picture *p)
{
	double at = 0;

	for (unsigned i = 0; i < n_spans; i++) {
		double ms = n_spans == 110 ? 7 : i + 1;

		picture_start(p, at, 1, "read", "disk", i);
		picture_stop(p, at + ms, 1, "read", "disk", i);
		at += ms;
	}
}

/*
 * No p99 of fewer than 100, nor any other percentile that is the greatest by another name. (One may be off by
 * 0.4 %.)
 */
static void percentiles(void)
{
	static const struct {
		unsigned n;
		const char *title;
		int p90, p99, p999;
	} cases[] = {
		{ 1, "read: there is one, it took 1.00 ms", 0, 0, 0 },
		{ 9, "read: half took up to 5.00 ms, the longest 9.00 ms", 0, 0, 0 },
		{ 99, "read: half took up to 49.9 ms, the longest 99.0 ms", 1, 0, 0 },
		{ 100, "read: half took up to 49.9 ms, 99 of 100 up to 98.8 ms (p99), the longest 100 ms", 1, 1, 0 },
		/* "1 of 100 longer than 7 ms" would be none. */
		{ 110, "read: half took up to 7.00 ms, 99 of 100 up to 7.00 ms (p99), the longest 7.00 ms", 1, 1, 0 },
		{ 1000, "read: half took up to 500 ms, 99 of 100 up to 992 ms (p99), the longest 1.00 s", 1, 1, 1 },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n_spans = cases[i].n;
		draw("latency", 1000000, tell_spans, (struct ktr__plot_options){ 0 });
		title(cases[i].title);
		CU_ASSERT_EQUAL(strstr(script, "\"p90 ") != NULL, cases[i].p90);
		CU_ASSERT_EQUAL(strstr(script, "\"p99 ") != NULL, cases[i].p99);
		CU_ASSERT_EQUAL(strstr(script, "\"p99.9 ") != NULL, cases[i].p999);
		drop();
	}
}

/* Of 50 ms each; the STOP of one and the START of the next are among what was lost, and so is the end of all. */
static void tell_unsure(struct picture *p)
{
	picture_start(p, 0, 1, "read", "disk", 7);
	picture_stop(p, 50, 1, "read", "disk", 7);
	picture_start(p, 100, 1, "read", "disk", 7);
	picture_loss(p, 0, 140, 360, 9);
	picture_stop(p, 400, 1, "read", "disk", 7);
}

/* Two spans that look like one are no longest one. */
static void two_that_look_like_one(void)
{
	draw("latency", 1000, tell_unsure, (struct ktr__plot_options){ 0 });
	title("read: half of those recorded took up to 50.0 ms, the longest that is certain 50.0 ms; 1 of 2 may be two, with a loss between");
	drop();
	draw("heatmap", 1000, tell_unsure, (struct ktr__plot_options){ 0 });
	title("read over time: the longest that is certain took 50.0 ms (disk, from +0 ns)");
	drop();
}

static void tell_spans_and_loss(struct picture *p)
{
	tell_spans(p);
	picture_loss(p, 0, 900, 950, 1000);
}

/* What was lost may have been longer, and may have been many. */
static void lost_may_be_longer(void)
{
	n_spans = 9;
	draw("latency", 1000, tell_spans_and_loss, (struct ktr__plot_options){ 0 });
	title("read: half of those recorded took up to 5.00 ms, the longest that is certain 9.00 ms");
	drop();
	draw("heatmap", 1000, tell_spans_and_loss, (struct ktr__plot_options){ 0 });
	title("read over time: the longest that is certain took 9.00 ms (disk, from +36.0 ms)");
	drop();
	n_spans = 1;
	draw("latency", 1000, tell_spans_and_loss, (struct ktr__plot_options){ 0 });
	title("read: one was recorded, it took 1.00 ms");
	drop();
}

static void tell_open(struct picture *p)
{
	for (unsigned i = 0; i < 3; i++) {
		picture_start(p, 10 * i, 1, "read", "disk", i);
		picture_stop(p, 10 * i + 5, 1, "read", "disk", i);
	}
	picture_start(p, 30, 1, "read", "disk", 3);
}

/* The longest that ended is not the longest that there was. */
static void longest_is_open(void)
{
	draw("latency", 900, tell_open, (struct ktr__plot_options){ 0 });
	title("read: half took up to 5.00 ms, the longest 5.00 ms; one was open for 870 ms and had not ended");
	drop();
	draw("heatmap", 900, tell_open, (struct ktr__plot_options){ 0 });
	title("read over time: the longest took 5.00 ms (disk, from +0 ns); one was open for 870 ms and had not ended");
	drop();
}

static unsigned n_events;

static void tell_events(struct picture *p)
{
	for (unsigned i = 0; i < n_events; i++)
		picture_event(p, 840000.0 * i, 1 + i % 2, i % 2);
}

static void tell_lossy(struct picture *p)
{
	tell_events(p);
	picture_loss(p, 0, 840000.0 * (n_events - 1), 840000.0 * n_events, 980);
}

/* Rates below one are no 0; one event makes no rate; what was recorded is not what happened. */
static void rates(void)
{
	n_events = 20;
	draw("rate", 16800000, tell_events, (struct ktr__plot_options){ 0 });
	title("0.00119 events/s on average, 0.0179 at the peak; all are of class gen");
	drop();
	n_events = 1;
	draw("rate", 0, tell_events, (struct ktr__plot_options){ 0 });
	title("One event, of class gen");
	drop();
	n_events = 20;
	draw("rate", 16800000, tell_lossy, (struct ktr__plot_options){ 0 });
	title("0.00119 events/s recorded on average, 0.0179 at the peak; all are of class gen");
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "\"lost in hatched gaps: 980\""));
	/* 980 events in 840 s, on top of none. */
	CU_ASSERT_PTR_NOT_NULL(strstr(script, " 0 1.16667\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "$rate using 1:3:1:2:3:4 with boxxyerror"));
	drop();
}

static int nothing(struct ktr_sink *sink, const struct ktr_event *event)
{
	(void)sink;
	(void)event;
	return 0;
}

/* Half of them are points, which are made a class of their own before the plot sees one. */
static void tell_two_classes(struct picture *p)
{
	struct ktr_sink none = { .event = nothing }, *sink = p->sink;

	p->sink = &none;
	picture_point(p, 0, 1, "g", "x");
	p->site[p->n_sites - 1].class_name = "lock";
	p->sink = sink;
	for (unsigned i = 0; i < n_events; i++) {
		picture_event(p, 10 * i, 1, 0);
		picture_point(p, 10 * i, 1, "g", "x");
	}
}

static void classes_that_tie(void)
{
	n_events = 100;
	draw("rate", 1000, tell_two_classes, (struct ktr__plot_options){ 0 });
	title("200 events/s on average, 600 at the peak; of no class there are more than 50 %");
	drop();
}

static unsigned n_threads;

static void tell_threads(struct picture *p)
{
	for (unsigned i = 0; i < 100; i++)
		for (unsigned k = 0; k < n_threads; k++)
			picture_event(p, i, k + 1, 0);
}

static void tell_three(struct picture *p)
{
	for (unsigned i = 0; i < 100; i++)
		picture_event(p, i, i < 60 ? 1 : 2 + i % 2, i < 90);
	picture_loss(p, 0, 99, 100, 5000);
}

static void tell_one_on_two(struct picture *p)
{
	for (unsigned i = 0; i < 100; i++)
		picture_event(p, i, 1, i % 2);
	picture_loss(p, 0, 99, 100, 5000);
}

/* Nobody has most where several have as much, and nobody but one is no comparison. */
static void threads_that_tie(void)
{
	n_threads = 4;
	draw("load", 100, tell_threads, (struct ktr__plot_options){ 0 });
	title("No thread has more than 25 % of the events, which several have");
	drop();
	n_threads = 1;
	draw("load", 100, tell_threads, (struct ktr__plot_options){ 0 });
	title("All events are of worker 1 (101)");
	drop();
	draw("load", 100, tell_three, (struct ktr__plot_options){ 0 });
	title("worker 1 (101) has most of the recorded events: 60 %; the busiest CPU is CPU 1 with 90 %");
	drop();
	/* Of two CPUs that have as many none is the busiest; what a lost event was of nobody knows. */
	draw("load", 100, tell_one_on_two, (struct ktr__plot_options){ 0 });
	title("All recorded events are of worker 1 (101)");
	drop();
}

/* Silent for 500 ms, of which events were lost, and for 40 ms. */
static void tell_silence(struct picture *p)
{
	for (unsigned i = 0; i < 20; i++)
		picture_event(p, i, 1, 0);
	picture_loss(p, 0, 20, 518, 777);
	for (unsigned i = 0; i < 20; i++)
		picture_event(p, 519 + i, 1, 0);
	picture_event(p, 578, 1, 0);
}

/* One is heard every ms, the other one hangs after the 20th. */
static void tell_hung(struct picture *p)
{
	for (unsigned i = 0; i < 400; i++) {
		picture_event(p, i, 1, 0);
		if (i < 20)
			picture_event(p, i, 2, 0);
	}
}

/* The same, and events of the first were lost for a while. */
static void tell_hung_and_lost(struct picture *p)
{
	for (unsigned i = 0; i < 400; i++) {
		if (i == 100)
			picture_loss(p, 0, 100, 150, 9);
		if (i < 100 || i >= 150)
			picture_event(p, i, 1, 0);
		if (i < 20)
			picture_event(p, i, 2, 1);
	}
}

/* It has ended, and is not silent. */
static void tell_ended(struct picture *p)
{
	tell_hung(p);
	p->thread[2].thread.exit_ns = p->info.first_ns + 20000000;
}

/* The longest silence that ended is not the longest that there was: who hangs is the one that is looked for. */
static void silent_to_the_end(void)
{
	draw("gaps", 400, tell_hung, (struct ktr__plot_options){ 0 });
	title("The longest silence that ended was 1.00 ms: worker 1 from +0 ns on; worker 2 was silent for 381 ms to the end"
	      "; 99 of 100 gaps were up to 1.00 ms");
	drop();
	draw("gaps", 400, tell_hung_and_lost, (struct ktr__plot_options){ 0 });
	title("The longest silence that certainly ended was 1.00 ms: worker 1 from +0 ns on; worker 2 was silent for 381 ms"
	      " to the end; 99 of 100 gaps were up to 1.00 ms");
	drop();
	draw("gaps", 400, tell_ended, (struct ktr__plot_options){ 0 });
	title("The longest silence was 1.00 ms: worker 1 from +0 ns on; 99 of 100 gaps were up to 1.00 ms");
	drop();
}

static void lost_is_not_silent(void)
{
	draw("gaps", 600, tell_silence, (struct ktr__plot_options){ 0 });
	title("The longest silence that is certain was 40.0 ms: worker 1 from +538 ms on");
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "1 gaps in which events were lost left out"));
	drop();
}

static void tell_constant(struct picture *p)
{
	for (unsigned i = 0; i < 100; i++)
		picture_counter(p, i, 1, "g", "files", -7);
}

static void tell_wide(struct picture *p)
{
	picture_counter(p, 0, 1, "g", "files", -7);
	picture_counter(p, 50, 1, "g", "files", 2000000000);
	picture_counter(p, 70, 1, "g", "files", 12);
}

static void tell_constant_and_lost(struct picture *p)
{
	tell_constant(p);
	picture_loss(p, 0, 99, 100, 5);
}

static void tell_wide_and_lost(struct picture *p)
{
	tell_wide(p);
	picture_loss(p, 0, 70, 100, 5);
}

static void counters(void)
{
	draw("counters", 100, tell_constant_and_lost, (struct ktr__plot_options){ 0 });
	title("files is -7 wherever it was recorded");
	drop();
	draw("counters", 100, tell_wide_and_lost, (struct ktr__plot_options){ 0 });
	title("files runs from -7 to 2000000000, as far as recorded, and was last 12");
	drop();
	draw("counters", 100, tell_constant, (struct ktr__plot_options){ 0 });
	title("files is -7 throughout");
	drop();
	draw("counters", 100, tell_wide, (struct ktr__plot_options){ 0 });
	title("files runs from -7 to 2000000000 and ends at 12");
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "'1G' 1000000000, '1.5G' 1500000000"));
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "set xzeroaxis"));
	drop();
}

static void tell_many(struct picture *p)
{
	for (unsigned i = 0; i < 1200; i++) {
		picture_start(p, i / 10.0, 1, "read", "disk", i);
		picture_stop(p, i / 10.0 + 0.05, 1, "read", "disk", i);
	}
	picture_start(p, 121, 1, "read", "disk", 0);
	picture_stop(p, 121.7, 1, "read", "disk", 0);
}

/* 1M, not 1000k; 50 us among the ticks; the greatest at a colour bar's end; grid lines that are lines. */
static void axes(void)
{
	draw("heatmap", 10000, tell_many, (struct ktr__plot_options){ 0 });
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "'50 us' 50000, '100 us' 100000, '200 us' 200000, '500 us' 500000"));
	/* Columns of 33 ms hold 333 or 334 of them. */
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "set cbtics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50, '100' 100,"
					      " '200' 200, '334' 334)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "set grid lt 1 "));
	drop();
	n_threads = 4;
	draw("rate", 1, tell_threads, (struct ktr__plot_options){ 0 });
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "'800k' 800000, '1M' 1000000, '1.2M' 1200000"));
	CU_ASSERT_PTR_NULL(strstr(script, "'1000k'"));
	drop();
}

/* Two points lie on a line, and a constant on every one. */
static void correlations(void)
{
	draw("scatter", 100, tell_wide, (struct ktr__plot_options){ .y = "value" });
	title("value against time: from -7 to 2000000000, 6.667e+08 on average");
	CU_ASSERT_PTR_NULL(strstr(plot.frame.subtitle, "correlation"));
	drop();
	draw("scatter", 100, tell_constant, (struct ktr__plot_options){ .y = "value" });
	title("value against time: always -7");
	CU_ASSERT_PTR_NULL(strstr(plot.frame.subtitle, "correlation"));
	drop();
	draw("scatter", 100, tell_wide_and_lost, (struct ktr__plot_options){ .y = "value" });
	title("value against time: from -7 to 2000000000, 6.667e+08 on average, as far as recorded");
	drop();
	draw("scatter", 100, tell_constant_and_lost, (struct ktr__plot_options){ .y = "value" });
	title("value against time: always -7, as far as recorded");
	drop();
}

/* 90 of 100 ms are in a gap: nobody knows that it was busy then. */
static void tell_gap(struct picture *p)
{
	picture_state(p, 0, 1, "worker", "a", "busy");
	picture_loss(p, 0, 5, 95, 1000);
	picture_state(p, 96, 1, "worker", "a", "idle");
}

static void states_are_not_known_in_gaps(void)
{
	draw("states", 100, tell_gap, (struct ktr__plot_options){ 0 });
	CU_ASSERT_PTR_NULL(strstr(script, "\"96 %\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "$gaps using"));
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "\"events were lost\""));
	drop();
}

/* What frames are of. */
enum flame { SPANS, STACKS, SAMPLES };

/* Frames below the root: nanoseconds for themselves, or how many stacks, on both sides. */
static void flame_title(const char *wanted, enum flame of, const uint64_t self[][2], unsigned n, int diff,
			uint64_t n_lost)
{
	struct ktr__flame_walk first = { .last_ns = 1000, .n_stacks = of == STACKS, .n_samples = of == SAMPLES };
	struct ktr__flame_walk walk[2] = { first, { .last_ns = 1000 } };
	struct ktr__flame_pair trees = { 0 };
	struct ktr__flame *tree = of == SPANS ? &trees.spans : of == STACKS ? &trees.stacks : &trees.samples;
	struct ktr__flame_view view;
	char name[16];
	uint32_t node;

	CU_ASSERT_EQUAL_FATAL(ktr__flame_init(&trees.spans), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__flame_init(&trees.stacks), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__flame_init(&trees.samples), 0);
	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		CU_ASSERT_EQUAL_FATAL(ktr__flame_child(tree, 0, name, strlen(name), &node), 0);
		tree->node[node].self[0] = self[i][0];
		tree->node[node].self[1] = self[i][1];
	}
	CU_ASSERT_EQUAL(ktr__flame_end(tree), 0);
	picture_open(&picture, 1);
	CU_ASSERT_EQUAL(ktr__flame_view_init(&view, &trees, walk, diff ? KTR__FLAME_SUMS : KTR__FLAME_ALONE,
					     &picture.info, "", n_lost),
			0);
	CU_ASSERT_STRING_EQUAL(view.frame.title, wanted);
	if (strcmp(view.frame.title, wanted) != 0)
		printf("\n%s\ninstead of\n%s\n", view.frame.title, wanted);
	picture_close(&picture);
	ktr__flame_free(&trees.spans);
	ktr__flame_free(&trees.stacks);
	ktr__flame_free(&trees.samples);
}

/* No 100 % where others have some, no 0 %, no most among equals, and what was lost is not counted. */
static void flames(void)
{
	static const uint64_t most[][2] = { { 996, 996 }, { 4, 0 } }, ties[][2] = { { 500, 0 }, { 500, 0 } };
	uint64_t many[300][2];

	for (unsigned i = 0; i < 300; i++)
		many[i][0] = many[i][1] = i == 7 ? 1001 : 1000;
	many[8][1] = 900;
	flame_title("f0 had most time for itself: 99.6 % of 1.00 us", SPANS, most, 2, 0, 0);
	flame_title("f0 had most time for itself: 99.6 % of 1.00 us, as far as recorded", SPANS, most, 2, 0, 3);
	flame_title("f7 had most time for itself: 0.3 % of 300 us", SPANS, many, 300, 0, 0);
	flame_title("no frame has most for itself: 1.00 us in all", SPANS, ties, 2, 0, 0);
	flame_title("f0 was innermost in 99.6 % of 1,000 stacks", STACKS, most, 2, 0, 0);
	flame_title("f0 was innermost in 99.6 % of 1,000 stacks, as far as recorded", STACKS, most, 2, 0, 3);
	flame_title("no frame has most for itself: 1,000 stacks in all", STACKS, ties, 2, 0, 0);
	flame_title("f0 had most time for itself: 99.6 % of 1.00 us", SAMPLES, most, 2, 0, 0);
	flame_title("no frame has most for itself: 1.00 us in all", SAMPLES, ties, 2, 0, 0);
	flame_title("f1 changed most: 4 ns more for itself", SPANS, most, 2, 1, 0);
	flame_title("f8 changed most: 100 ns more for itself, as far as recorded", SPANS, many, 300, 1, 5);
}

static void tell_few_of_b(struct picture *p)
{
	n_spans = 99;
	tell_spans(p);
}

static void tell_few_and_loss(struct picture *p)
{
	tell_few_of_b(p);
	picture_loss(p, 0, 900000, 950000, 1000);
}

/* The title of 1000 spans against those of another trace. */
static void compare_title(void (*tell_second)(struct picture *), const char *wanted)
{
	struct ktr__plot_options o = { .width = KTR__CHART_WIDTH, .height = KTR__CHART_HEIGHT, .command = "" };
	char path[] = "/tmp/ktr-titles-XXXXXX.gp";
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__plot other;
	struct picture second;

	close(mkstemps(path, 3));
	o.file = path;
	picture_open(&picture, 1000000);
	picture_open(&second, 1000000);
	CU_ASSERT_EQUAL(ktr__plot_init(&plot, ktr__plot_find("compare"), &picture.info, &o, &err), 0);
	CU_ASSERT_EQUAL(ktr__plot_init(&other, ktr__plot_find("compare"), &second.info, &o, &err), 0);
	picture.sink = &plot.sink;
	n_spans = 1000;
	tell_spans(&picture);
	second.sink = &other.sink;
	tell_second(&second);
	plot.other = &other;
	CU_ASSERT_EQUAL(ktr__plot_draw(&plot, &err), 0);
	title(wanted);
	unlink(path);
	ktr__plot_free(&plot);
	ktr__plot_free(&other);
	picture_close(&second);
	picture_close(&picture);
}

/* No p99 of two where one has no hundred; and of what was lost nothing is known. */
static void comparisons(void)
{
	compare_title(tell_few_of_b, "read: p50 500 ms in A, 49.9 ms in B");
	compare_title(tell_few_and_loss, "read: p50 500 ms in A, 49.9 ms in B, as far as recorded");
}

SUITE(titles, TEST(percentiles), TEST(rates), TEST(classes_that_tie), TEST(threads_that_tie),
      TEST(lost_is_not_silent), TEST(silent_to_the_end), TEST(counters), TEST(axes), TEST(correlations),
      TEST(states_are_not_known_in_gaps),
      TEST(two_that_look_like_one), TEST(lost_may_be_longer), TEST(longest_is_open), TEST(flames),
      TEST(comparisons));
