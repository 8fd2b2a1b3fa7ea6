/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An argument against time or against another argument: points while there are few, else a map of
 * how many lie where.
 */
#include "analyze/filter/pattern.h"
#include "analyze/read/ktrgraph.h"
#include "conf/kit/array.h"
#include "visualize/chart/bins.h"
#include "visualize/chart/plots.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCATTER_TIME 127 /* in place of an argument's index */
#define SCATTER_NONE (-1)
#define SCATTER_CORRELATES 10u /* values that a correlation is told of */

struct scatter {
	struct ktr__bins bins;
	struct scatter_site {
		uint8_t known;
		int8_t x, y;
	} * site; /* owned, by id */
	uint32_t n_sites;
	unsigned n_used;             /* sites */
	char used[KTR__LABEL_BYTES]; /* the first of them */
	char there[256];             /* arguments there are, for whoever asked for another one */
	uint64_t n_odd;              /* infinite, or no number */
};

static void scatter_end(struct ktr__plot *plot)
{
	struct scatter *s = plot->state;

	ktr__bins_free(&s->bins);
	free(s->site);
}

static int scatter_is_number(enum ktr_arg_type type)
{
	return type != KTR_ARG_STR && type != KTR_ARG_STACK && type != KTR_ARG_NONE;
}

static int scatter_argument(const struct ktr_reader_site *site, const char *name)
{
	if (strcmp(name, "time") == 0)
		return SCATTER_TIME;
	for (unsigned i = 0; i < site->n_args; i++)
		if (scatter_is_number(site->arg[i].type) && strcmp(site->arg[i].name, name) == 0)
			return (int)i;
	return SCATTER_NONE;
}

/* Remembers which arguments there are: "feed.c:42 n, words; ...". */
static void scatter_there(struct scatter *s, const struct ktr_reader_site *site)
{
	char name[64];
	unsigned n = 0;

	for (unsigned i = 0; i < site->n_args; i++) {
		size_t used = strlen(s->there);

		if (!scatter_is_number(site->arg[i].type) || used + 140 > sizeof(s->there))
			continue;
		if (n == 0) {
			ktr__label_clean(name, sizeof(name), site->name, strlen(site->name));
			snprintf(s->there + used, sizeof(s->there) - used, "%s%s ",
				 used ? "; " : "", name);
			used = strlen(s->there);
		}
		ktr__label_clean(name, sizeof(name), site->arg[i].name, strlen(site->arg[i].name));
		snprintf(s->there + used, sizeof(s->there) - used, "%s%s", n++ ? ", " : "", name);
	}
}

static void scatter_know(struct ktr__plot *plot, struct scatter_site *at,
			 const struct ktr_reader_site *site)
{
	struct scatter *s = plot->state;
	const struct ktr__plot_options *o = &plot->options;

	at->known = 1;
	at->x = at->y = SCATTER_NONE;
	if (o->site != NULL && !ktr__pattern_is_site(o->site, site))
		return;
	scatter_there(s, site);
	if (o->y == NULL)
		return;
	at->x = (int8_t)scatter_argument(site, o->x != NULL ? o->x : "time");
	at->y = (int8_t)scatter_argument(site, o->y);
	if (at->x != SCATTER_NONE && at->y != SCATTER_NONE && s->n_used++ == 0)
		ktr__label_clean(s->used, sizeof(s->used), site->name, strlen(site->name));
}

static unsigned scatter_wants(const struct ktr__plot *plot, const struct ktr_reader_site *site)
{
	const struct ktr__plot_options *o = &plot->options;
	int x = scatter_argument(site, o->x != NULL ? o->x : "time");
	int y = o->y != NULL ? scatter_argument(site, o->y) : SCATTER_NONE;

	if (x == SCATTER_NONE || y == SCATTER_NONE || (o->site != NULL && !ktr__pattern_is_site(o->site, site)))
		return 0;
	return (x != SCATTER_TIME ? 1u << x : 0) | (y != SCATTER_TIME ? 1u << y : 0);
}

static double scatter_value(const struct ktr__plot *plot, const struct ktr_event *event, int arg)
{
	if (arg == SCATTER_TIME)
		return (double)event->time_ns - (double)plot->info->first_ns;
	if (event->site->arg[arg].type == KTR_ARG_PTR)
		return (double)event->arg[arg];
	return ktr__event_number(event, (unsigned)arg);
}

static int scatter_event(struct ktr__plot *plot, const struct ktr_event *event)
{
	struct scatter *s = plot->state;
	struct scatter_site *at;
	double x, y;

	if (event->time_ns < plot->grid.from_ns)
		return 0;
	if (ktr__array_grow(&s->site, &s->n_sites, event->site->id, sizeof(*s->site)) != 0)
		return -ENOMEM;
	at = &s->site[event->site->id];
	if (!at->known)
		scatter_know(plot, at, event->site);
	if (at->x == SCATTER_NONE || at->y == SCATTER_NONE)
		return 0;
	x = scatter_value(plot, event, at->x);
	y = scatter_value(plot, event, at->y);
	if (!isfinite(x) || !isfinite(y)) {
		s->n_odd++;
		return 0;
	}
	return ktr__bins_add(&s->bins, x, y);
}

static void scatter_words(struct ktr__plot *plot, const struct scatter *s, const char *x,
			  const char *y)
{
	const char *recorded = ktr__losses_missing(&plot->losses, plot->info) > 0 ? ", as far as recorded" : "";
	char more[32] = "", correlation[32] = "";

	if (s->bins.y.least == s->bins.y.greatest)
		snprintf(plot->frame.title, sizeof(plot->frame.title), "%.190s against %.190s: always %s%s", y, x,
			 ktr__number_value(s->bins.y.least).text, recorded);
	else
		snprintf(plot->frame.title, sizeof(plot->frame.title), "%.190s against %.190s: from %s to %s, %.4g on average%s", y, x,
			 ktr__number_value(s->bins.y.least).text, ktr__number_value(s->bins.y.greatest).text,
			 s->bins.mean_y, recorded);
	/* Two points always lie on a line, and a constant has no correlation with anything. */
	if (s->bins.n >= SCATTER_CORRELATES && s->bins.var_x > 0 && s->bins.var_y > 0)
		snprintf(correlation, sizeof(correlation), "; correlation %.2f",
			 trunc(ktr__bins_correlation(&s->bins) * 100 + copysign(1e-7, s->bins.covar)) / 100);
	if (s->n_used > 1)
		snprintf(more, sizeof(more), " and %u more sites", s->n_used - 1);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle), "%s: %s values from %s%s%s",
		 plot->frame.program, ktr__label_count(s->bins.n).text, s->used, more, correlation);
	if (s->n_odd > 0)
		ktr__frame_note(&plot->frame, "%s values that are not finite left out",
				ktr__label_count(s->n_odd).text);
}

/* The points, or the cells' middles and counts, as a table named $points. */
static uint32_t scatter_table(const struct scatter *s, struct ktr__chart *chart, double unit)
{
	const struct ktr__bins *b = &s->bins;
	uint32_t most = 1;

	fputs("# x, y, number\n$points << EOD\n", chart->to);
	for (uint64_t i = 0; b->cell == NULL && i < b->n; i++)
		fprintf(chart->to, "%.12g %.12g 1\n", b->point[i][0] / unit, b->point[i][1]);
	for (unsigned i = 0; b->cell != NULL && i < b->x.n * b->y.n; i++) {
		if (b->cell[i] == 0)
			continue;
		most = b->cell[i] > most ? b->cell[i] : most;
		fprintf(chart->to, "%.12g %.12g %" PRIu32 "\n",
			(b->x.low + (i % b->x.n + 0.5) * b->x.step) / unit,
			b->y.low + (i / b->x.n + 0.5) * b->y.step, b->cell[i]);
	}
	fputs("EOD\n", chart->to);
	return most;
}

/* From the least to the greatest with a margin, and wide enough to be a range. */
static void scatter_range(struct ktr__chart *chart, char axis, const struct ktr__bins_axis *range)
{
	double margin = (range->greatest - range->least) * 0.04;

	if (margin <= 0)
		margin = fmax(fabs(range->least), 1) * 0.1;
	ktr__chart_numbers(chart, axis, range->least - margin, range->greatest + margin, 8);
}

static void scatter_axes(struct ktr__plot *plot, struct ktr__chart *chart,
			 struct ktr__chart_time *time, const char *x, const char *y)
{
	const struct scatter *s = plot->state;

	if (strcmp(x, "time") == 0) {
		ktr__chart_time_axis(chart, time, &plot->grid, plot->info);
	} else {
		scatter_range(chart, 'x', &s->bins.x);
		fputs("set xlabel ", chart->to);
		ktr__label_gnuplot(chart->to, x);
		putc('\n', chart->to);
	}
	scatter_range(chart, 'y', &s->bins.y);
	fputs("set ylabel ", chart->to);
	ktr__label_gnuplot(chart->to, y);
	putc('\n', chart->to);
}

static int scatter_nothing(struct ktr__plot *plot, struct ktr_error *err)
{
	const struct scatter *s = plot->state;
	const struct ktr__plot_options *o = &plot->options;

	if (plot->n_events > 0 && s->there[0] != '\0')
		return ktr_error_set(err, ENODATA,
				     "nothing to draw: %s; there are, for example: %.150s",
				     o->y == NULL ? "--y NAME says which argument"
						  : "no site has these arguments",
				     s->there);
	return ktr__plot_nothing(plot, err, "%s",
				 o->site ? "no such site, or none with numbers"
					 : "no event with a number");
}

static int scatter_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	const struct scatter *s = plot->state;
	const char *x_name = plot->options.x != NULL ? plot->options.x : "time";
	char x[KTR__LABEL_BYTES], y[KTR__LABEL_BYTES];
	struct ktr__chart chart;
	struct ktr__chart_time time = { .axis = { .unit_ns = 1 } };
	uint32_t most;

	if (s->bins.n == 0)
		return scatter_nothing(plot, err);
	ktr__label_clean(x, sizeof(x), x_name, strlen(x_name));
	ktr__label_clean(y, sizeof(y), plot->options.y, strlen(plot->options.y));
	scatter_words(plot, s, x, y);
	if (ktr__plot_chart(plot, &chart, err) != 0)
		return -err->code;
	ktr__chart_area(&chart, 110, chart.width - (s->bins.cell ? 130 : 30), chart.top,
			chart.bottom - 55);
	scatter_axes(plot, &chart, &time, x, y);
	most = scatter_table(s, &chart, time.axis.unit_ns);
	if (s->bins.cell == NULL) {
		fprintf(chart.to,
			"plot $points using 1:2 with points pt 7 ps 0.5 lc rgb '#80%06x'\n",
			KTR__BLUE);
	} else {
		ktr__chart_colours(&chart, chart.width - 105, chart.top, chart.bottom - 55, 1, most,
				   "values per point");
		fputs("plot $points using 1:2:3 with points pt 5 ps 0.3 lc palette z\n", chart.to);
	}
	return ktr__chart_end(&chart, err);
}

const struct ktr__plot_kind ktr__plot_scatter = {
	.name = "scatter",
	.help = "an argument against time or another one (--y NAME, --x NAME, --site)",
	.n_traces = 1,
	.as_text = 1,
	.n_state = sizeof(struct scatter),
	.event = scatter_event,
	.draw = scatter_draw,
	.end = scatter_end,
	.wants = scatter_wants,
};
