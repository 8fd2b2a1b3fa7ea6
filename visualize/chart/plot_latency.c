/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long spans take, for one trace or two: latency draws the series with the most time, gaps the
 * time between consecutive events of each thread, compare the same series of two traces.
 */
#include "visualize/chart/distribution.h"
#include "visualize/chart/durations.h"
#include "visualize/chart/plots.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <string.h>

static void latency_series(const struct ktr__plot *plot, const struct ktr__duration_series *s,
			   struct ktr__distribution *to)
{
	to->name = s->name;
	to->histogram = &s->histogram;
	snprintf(to->remark, sizeof(to->remark), "by %.60s at +%s", s->longest.who,
		 ktr__frame_since(plot->info, s->longest.from_ns).text);
}

/* ", 99 of 100 up to 1.01 s", where there are so many; between two texts. */
static void latency_p99(const struct ktr__histogram *h, const char *before, const char *after, char *text,
			size_t size)
{
	uint64_t ns;

	text[0] = '\0';
	if (ktr__histogram_tell(h, 0.99, &ns))
		snprintf(text, size, "%s%s%s", before, ktr__label_duration(ns).text, after);
}

/* A name as a sentence has room for it. */
#define LATENCY_NAME 80 /* [columns] */
struct latency_name {
	char text[4 * LATENCY_NAME];
};

static struct latency_name latency_name(const char *name)
{
	struct latency_name fit;

	ktr__label_fit(fit.text, sizeof(fit.text), name, LATENCY_NAME, 0);
	return fit;
}

/*
 * What else has to be said of a series: those in which events were lost, for two may look like one, and one that
 * has been open for longer than all others took.
 */
static void latency_but(const struct ktr__duration_series *s, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	if (s->n_unsure > 0)
		used = (size_t)snprintf(text, size, "; %s of %s may be two, with a loss between",
					ktr__label_count(s->n_unsure).text, ktr__label_count(s->histogram.n).text);
	if (s->n_open > 0 && s->open_longest_ns > s->histogram.max)
		snprintf(text + used, size - used, "; one was open for %s and had not ended",
			 ktr__label_duration(s->open_longest_ns).text);
}

/* One sentence about the first series, which has the most time of all; what was lost may have taken longer. */
static void latency_title(struct ktr__plot *plot, const struct ktr__duration_series *s)
{
	const struct ktr__histogram *h = &s->histogram;
	int lost = ktr__losses_missing(&plot->losses, plot->info) > 0;
	char p99[80], longest[80] = "", but[160];

	latency_p99(h, ", 99 of 100 up to ", " (p99)", p99, sizeof(p99));
	latency_but(s, but, sizeof(but));
	if (s->sure.n > 0)
		snprintf(longest, sizeof(longest), ", the longest%s %s",
			 lost || s->n_unsure > 0 ? " that is certain" : "",
			 ktr__label_duration(s->sure.ns).text);
	if (h->n == 1)
		snprintf(plot->frame.title, sizeof(plot->frame.title), "%s: %s, it took %s%s",
			 latency_name(s->name).text, lost ? "one was recorded" : "there is one", ktr__label_duration(h->max).text, but);
	else
		snprintf(plot->frame.title, sizeof(plot->frame.title), "%s: half%s took up to %s%s%s%s",
			 latency_name(s->name).text, lost ? " of those recorded" : "", ktr__label_duration(ktr__histogram_quantile(h, 0.5)).text, p99,
			 longest, but);
}

static int latency_chart(struct ktr__plot *plot, const struct ktr__durations *d, const char *what,
			 struct ktr_error *err)
{
	struct ktr__distribution series[KTR__DISTRIBUTIONS];
	unsigned n = d->n_series < KTR__DISTRIBUTIONS ? d->n_series : KTR__DISTRIBUTIONS;
	struct ktr__chart chart;
	int error;

	for (unsigned i = 0; i < n; i++) {
		latency_series(plot, &d->series[i], &series[i]);
		series[i].colour = ktr__colours_name(plot->options.colours, series[i].name);
	}
	if (d->n_series > n)
		ktr__frame_note(&plot->frame, "%u of %u series shown, those with the most time", n,
				d->n_series);
	error = ktr__plot_chart(plot, &chart, err);
	if (error != 0)
		return error;
	ktr__distribution_draw(&chart, series, n, what, 0);
	return ktr__chart_end(&chart, err);
}

static int latency_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	struct ktr__durations *d = plot->state;
	uint64_t all = 0;

	if (ktr__durations_finish(d, err) != 0)
		return -err->code;
	for (unsigned i = 0; i < d->n_series; i++)
		all += d->series[i].histogram.n;
	latency_title(plot, &d->series[0]);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle),
		 "%s: durations of %s spans that ended in the window, in %u series", plot->frame.program,
		 ktr__label_count(all).text, d->n_series);
	return latency_chart(plot, d, "duration (log scale)", err);
}

static int gaps_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	struct ktr__durations *d = plot->state;
	struct ktr__duration_series *s = d->series;
	char p99[80], but[KTR__LABEL_BYTES + 64] = "";

	if (ktr__durations_finish(d, err) != 0)
		return -err->code;
	if (s->n_open > 0)
		snprintf(but, sizeof(but), "; %s was silent for %s to the end", latency_name(s->open_who).text,
			 ktr__label_duration(s->open_longest_ns).text);
	latency_p99(&s->histogram, "; 99 of 100 gaps were up to ", "", p99, sizeof(p99));
	snprintf(plot->frame.title, sizeof(plot->frame.title), "The longest silence%s was %s: %s from +%s on%s%s",
		 s->n_open == 0 ? d->n_doubted > 0 ? " that is certain" : "" :
		 d->n_doubted > 0 ? " that certainly ended" : " that ended", ktr__label_duration(s->longest.ns).text,
		 latency_name(s->longest.who).text, ktr__frame_since(plot->info, s->longest.from_ns).text, but,
		 p99);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle),
		 "%s: time between consecutive events of the same thread, %s gaps", plot->frame.program,
		 ktr__label_count(s->histogram.n).text);
	return latency_chart(plot, d, "time until the thread's next event (log scale)", err);
}

/* The series of that name in the other trace, or NULL. */
static const struct ktr__duration_series *compare_find(const struct ktr__durations *d,
						       const char *name)
{
	for (unsigned i = 0; i < d->n_series; i++)
		if (strcmp(d->series[i].name, name) == 0)
			return &d->series[i];
	return NULL;
}

static void compare_title(struct ktr__plot *plot, const struct ktr__duration_series *a,
			  const struct ktr__duration_series *b)
{
	const struct ktr__histogram *h[2] = { &a->histogram, &b->histogram };
	int lost = ktr__losses_missing(&plot->losses, plot->info) > 0 ||
		   ktr__losses_missing(&plot->other->losses, plot->other->info) > 0;
	char words[160] = "", p99[120] = "";
	uint64_t ns[2];

	if (plot->verdict != NULL)
		plot->verdict(plot->verdict_context, a->name, words, sizeof(words));
	if (ktr__histogram_tell(h[0], 0.99, &ns[0]) && ktr__histogram_tell(h[1], 0.99, &ns[1]))
		snprintf(p99, sizeof(p99), "; p99 %s in A, %s in B", ktr__label_duration(ns[0]).text,
			 ktr__label_duration(ns[1]).text);
	snprintf(plot->frame.title, sizeof(plot->frame.title), "%s: %s%sp50 %s in A, %s in B%s%s",
		 latency_name(a->name).text, words,
		 words[0] ? ": " : "", ktr__label_duration(ktr__histogram_quantile(h[0], 0.5)).text,
		 ktr__label_duration(ktr__histogram_quantile(h[1], 0.5)).text, p99,
		 lost ? ", as far as recorded" : "");
}

/* A name for the table that says which trace it is of. */
static void compare_pair(const struct ktr__plot *a, const struct ktr__plot *b,
			 const struct ktr__duration_series *of_a,
			 const struct ktr__duration_series *of_b, struct ktr__distribution *to,
			 char (*name)[2 * KTR__LABEL_BYTES + 24])
{
	const struct ktr__duration_series *s[2] = { of_a, of_b };
	const struct ktr__plot *plot[2] = { a, b };

	for (unsigned i = 0; i < 2; i++) {
		latency_series(plot[i], s[i], &to[i]);
		snprintf(name[i], sizeof(name[i]), "%c: %s", 'A' + (int)i, s[i]->name);
		to[i].name = name[i];
		to[i].colour = i == 0 ? KTR__VERMILLION : KTR__BLUE;
	}
}

static int compare_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	struct ktr__durations *a = plot->state, *b = plot->other->state;
	const struct ktr__duration_series *s = NULL, *t = NULL;
	struct ktr__distribution series[2];
	char name[2][2 * KTR__LABEL_BYTES + 24];
	struct ktr__chart chart;
	int error;

	if (ktr__durations_finish(a, err) != 0 || ktr__durations_finish(b, err) != 0)
		return -err->code;
	for (unsigned i = 0; i < a->n_series && t == NULL; i++) {
		s = &a->series[i];
		t = compare_find(b, s->name);
	}
	if (t == NULL)
		return ktr_error_set(
			err, ENODATA,
			"nothing to compare: the traces have no span of the same name (the first"
			" has '%.60s')",
			a->series[0].name);
	compare_title(plot, s, t);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle), "A: %.240s\nB: %.240s",
		 plot->frame.source, plot->other->frame.source);
	plot->frame.source[0] = '\0';
	ktr__frame_lost(&plot->other->frame, plot->other->info, &plot->other->losses,
			plot->other->n_events);
	if (plot->other->frame.lost[0] != '\0')
		ktr__frame_note(&plot->frame, "B: %s", plot->other->frame.lost);
	compare_pair(plot, plot->other, s, t, series, name);
	error = ktr__plot_chart(plot, &chart, err);
	if (error != 0)
		return error;
	ktr__distribution_draw(&chart, series, 2, "duration (log scale)", 1);
	return ktr__chart_end(&chart, err);
}

const struct ktr__plot_kind ktr__plot_latency = {
	.name = "latency",
	.help = "how long spans take: histogram, percentiles (--span, --group, --pair)",
	.n_traces = 1,
	.as_text = 1,
	KTR__DURATIONS_KIND,
	.event = ktr__durations_event,
	.draw = latency_draw,
	.filter = KTR__DURATIONS_FILTER,
};

const struct ktr__plot_kind ktr__plot_gaps = {
	.name = "gaps",
	.help = "time between consecutive events of a thread; the longest silence (--site, --group)",
	.n_traces = 1,
	.as_text = 1,
	KTR__DURATIONS_KIND,
	.event = ktr__durations_gap,
	.draw = gaps_draw,
};

const struct ktr__plot_kind ktr__plot_compare = {
	.name = "compare",
	.help = "how long the same spans take in two traces (--span, --group, --pair)",
	.n_traces = 2,
	.as_text = 1,
	KTR__DURATIONS_KIND,
	.event = ktr__durations_event,
	.draw = compare_draw,
	.filter = KTR__DURATIONS_FILTER,
};
