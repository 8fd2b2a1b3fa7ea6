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
	snprintf(to->remark, sizeof(to->remark), "by %.60s at +%s", s->longest_who,
		 ktr__frame_since(plot->info, s->longest_from_ns).text);
}

/* One sentence about the first series, which has the most time of all. */
static void latency_title(struct ktr__plot *plot, const struct ktr__duration_series *s)
{
	snprintf(plot->frame.title, sizeof(plot->frame.title),
		 "%s: half took up to %s, 1 of 100 longer than %s (p99), the longest %s", s->name,
		 ktr__label_duration(ktr__histogram_quantile(&s->histogram, 0.5)).text,
		 ktr__label_duration(ktr__histogram_quantile(&s->histogram, 0.99)).text,
		 ktr__label_duration(s->histogram.max).text);
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
		series[i].colour = n == 1   ? KTR__SKY
				   : i == 0 ? KTR__VERMILLION
					    : ktr__palette(i - 1);
	}
	if (d->n_series > n)
		ktr__frame_note(&plot->frame, "%u of %u series shown, those with the most time", n,
				d->n_series);
	error = ktr__plot_chart(plot, &chart, err);
	if (error != 0)
		return error;
	ktr__distribution_draw(&chart, series, n, what);
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

	if (ktr__durations_finish(d, err) != 0)
		return -err->code;
	snprintf(plot->frame.title, sizeof(plot->frame.title),
		 "The longest silence was %s: %s from +%s on; 99 %% of gaps were up to %s",
		 ktr__label_duration(s->longest_ns).text, s->longest_who,
		 ktr__frame_since(plot->info, s->longest_from_ns).text,
		 ktr__label_duration(ktr__histogram_quantile(&s->histogram, 0.99)).text);
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
	struct ktr__label_text from[2], to[2];
	char words[160] = "";

	if (plot->verdict != NULL)
		plot->verdict(plot->verdict_context, a->name, words, sizeof(words));
	for (int i = 0; i < 2; i++) {
		double share = i == 0 ? 0.5 : 0.99;

		from[i] = ktr__label_duration(ktr__histogram_quantile(&a->histogram, share));
		to[i] = ktr__label_duration(ktr__histogram_quantile(&b->histogram, share));
	}
	snprintf(plot->frame.title, sizeof(plot->frame.title), "%s: %s%sp50 %s in A, %s in B; p99 %s in A, %s in B",
		 a->name, words, words[0] ? ": " : "", from[0].text, to[0].text, from[1].text, to[1].text);
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
	ktr__distribution_draw(&chart, series, 2, "duration (log scale)");
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
