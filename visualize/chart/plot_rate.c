/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events per second over time, stacked by class: how much is going on, and what kind of it. What was lost stands on
 * top, a bar of its own: where there are losses the others are only what was recorded.
 */
#include "conf/kit/array.h"
#include "visualize/chart/plots.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE_SERIES 128u /* different classes; the last takes all that come later */
#define RATE_SHOWN  8u
#define RATE_LOST   KTR__VERMILLION /* no class has it */

struct rate_series {
	char name[KTR__LABEL_BYTES];
	uint64_t n;
	uint32_t *column; /* owned */
	uint32_t colour;
};

struct rate {
	struct rate_series series[RATE_SERIES];
	unsigned n_series;
	double *lost; /* owned; events by column; NULL: none */
	uint16_t *site; /* owned; by id: 1 + its series */
	uint32_t n_sites;
};

static void rate_end(struct ktr__plot *plot)
{
	struct rate *rate = plot->state;

	for (unsigned i = 0; i < rate->n_series; i++)
		free(rate->series[i].column);
	free(rate->lost);
	free(rate->site);
}

static int rate_series(struct ktr__plot *plot, const struct ktr_reader_site *site, uint16_t *out)
{
	struct rate *rate = plot->state;
	char name[KTR__LABEL_BYTES];
	unsigned i = 0;

	ktr__label_clean(name, sizeof(name), site->class_name, strlen(site->class_name));
	while (i < rate->n_series && strcmp(rate->series[i].name, name) != 0)
		i++;
	if (i == RATE_SERIES) {
		i--;
		strcpy(rate->series[i].name, "all others");
	} else if (i == rate->n_series) {
		rate->series[i].column = calloc(plot->grid.n_columns, sizeof(uint32_t));
		if (rate->series[i].column == NULL)
			return -ENOMEM;
		strcpy(rate->series[i].name, name);
		rate->n_series++;
	}
	*out = (uint16_t)(i + 1);
	return 0;
}

static int rate_event(struct ktr__plot *plot, const struct ktr_event *event)
{
	struct rate *rate = plot->state;
	const struct ktr_reader_site *site = event->site;
	struct rate_series *series;

	if (event->time_ns < plot->grid.from_ns)
		return 0;
	if (ktr__array_grow(&rate->site, &rate->n_sites, site->id, sizeof(*rate->site)) != 0)
		return -ENOMEM;
	if (rate->site[site->id] == 0 && rate_series(plot, site, &rate->site[site->id]) != 0)
		return -ENOMEM;
	series = &rate->series[rate->site[site->id] - 1];
	series->n++;
	series->column[ktr__grid_at(&plot->grid, event->time_ns)]++;
	return 0;
}

/* Nobody knows when in their gap events were lost: they are spread over it, and the gaps are hatched at the top. */
static void rate_loss(struct ktr__plot *plot, const struct ktr_loss *loss)
{
	struct rate *rate = plot->state;
	const struct ktr__grid *grid = &plot->grid;
	uint64_t from = loss->from_ns > 0 ? loss->from_ns : plot->info->first_ns;
	uint64_t to = loss->to_ns > 0 ? loss->to_ns : plot->info->last_ns + 1;
	unsigned c;

	if (loss->from_ns == 0 && plot->info->kind != KTR_SOURCE_TRACE)
		return; /* made room */
	if (to <= from)
		to = from + 1;
	if (to <= grid->from_ns || from >= grid->to_ns)
		return;
	if (rate->lost == NULL)
		rate->lost = calloc(grid->n_columns, sizeof(*rate->lost));
	for (c = ktr__grid_column(grid, from); rate->lost != NULL && c < grid->n_columns; c++) {
		uint64_t begin = ktr__grid_border(grid, c), end = ktr__grid_border(grid, c + 1);

		if (begin >= to)
			break;
		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		rate->lost[c] += (double)loss->n_events * (double)(end - begin) / (double)(to - from);
	}
}

static int rate_by_number(const void *a, const void *b)
{
	const struct rate_series *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->name, y->name);
}

/* Adds the series that have no colour of their own to the last one that has. */
static void rate_fold(struct ktr__plot *plot, struct rate *rate)
{
	struct rate_series *last = &rate->series[RATE_SHOWN - 1];
	unsigned n = rate->n_series;

	for (unsigned i = RATE_SHOWN; i < n; i++) {
		for (unsigned c = 0; c < plot->grid.n_columns; c++)
			last->column[c] += rate->series[i].column[c];
		last->n += rate->series[i].n;
	}
	if (n > RATE_SHOWN)
		snprintf(last->name, sizeof(last->name), "%u others", n - RATE_SHOWN + 1);
}

/* [events/s] of a column that holds so many. */
static double rate_of(const struct ktr__plot *plot, unsigned column, double n)
{
	uint64_t ns = ktr__grid_border(&plot->grid, column + 1) -
		      ktr__grid_border(&plot->grid, column);

	return n * 1e9 / (double)ns;
}

/* The column in which most was recorded, -1: several. How much that is, and how high the bars are [events/s]. */
static int rate_peak(const struct ktr__plot *plot, const struct rate *rate, double *peak, double *top)
{
	double most = 0;
	int column = -1;

	*peak = *top = 0;
	for (unsigned c = 0; c < plot->grid.n_columns; c++) {
		double n = 0;

		for (unsigned i = 0; i < rate->n_series; i++)
			n += rate->series[i].column[c];
		if (n >= most)
			column = n > most ? (int)c : -1;
		most = fmax(most, n);
		*peak = fmax(*peak, rate_of(plot, c, n));
		if (rate->lost != NULL)
			n += rate->lost[c];
		*top = fmax(*top, rate_of(plot, c, n));
	}
	return column;
}

/* What class they are of: "91 % are of class index". */
static void rate_class(const struct ktr__plot *plot, const struct rate *rate, char *text, size_t size)
{
	const struct rate_series *first = &rate->series[0], *second = &rate->series[1];
	double all = (double)plot->n_events;

	if (rate->n_series == 1)
		snprintf(text, size, "all are of class %.159s", first->name);
	else if (second->n == first->n)
		snprintf(text, size, "of no class there are more than %s", ktr__number_share((double)first->n, all).text);
	else
		snprintf(text, size, "%s are of class %.159s", ktr__number_share((double)first->n, all).text, first->name);
}

static void rate_title(struct ktr__plot *plot, const struct rate *rate, double peak, int at)
{
	uint64_t span = plot->grid.to_ns - plot->grid.from_ns;
	char class[256], where[48] = "";

	rate_class(plot, rate, class, sizeof(class));
	if (at >= 0)
		snprintf(where, sizeof(where), " (+%s)",
			 ktr__frame_since(plot->info, ktr__grid_border(&plot->grid, (unsigned)at)).text);
	if (plot->n_events == 1)
		snprintf(plot->frame.title, sizeof(plot->frame.title), "One event%s, of class %.159s",
			 rate->lost != NULL ? " recorded" : "", rate->series[0].name);
	else
		snprintf(plot->frame.title, sizeof(plot->frame.title), "%s events/s%s on average, %s at the peak%s; %s",
			 ktr__number_rate((double)plot->n_events * 1e9 / (double)span).text,
			 rate->lost != NULL ? " recorded" : "", ktr__number_rate(peak).text,
			 where, class);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle),
		 "%s: events per second and class, %s events, each step is %s", plot->frame.program,
		 ktr__label_count(plot->n_events).text, ktr__label_duration(span / plot->grid.n_columns).text);
}

/*
 * The table: from, to, and the tops of the stacked series; highest last so that lower ones cover
 * it.
 */
static void rate_table(struct ktr__plot *plot, struct ktr__chart *chart,
		       const struct ktr__chart_time *time, const struct rate *rate,
		       unsigned n_series)
{
	fputs("# from, to, tops of the series from the bottom and of what was lost [events/s]\n$rate << EOD\n",
	      chart->to);
	for (unsigned c = 0; c < plot->grid.n_columns; c++) {
		double top = 0;

		fprintf(chart->to, "%.12g %.12g", ktr__chart_time_x(time, c),
			ktr__chart_time_x(time, c + 1));
		for (unsigned i = 0; i < n_series; i++) {
			top += rate->series[i].column[c];
			fprintf(chart->to, " %.6g", rate_of(plot, c, top));
		}
		fprintf(chart->to, " %.6g\n", rate_of(plot, c, top + (rate->lost != NULL ? rate->lost[c] : 0)));
	}
	fputs("EOD\n", chart->to);
}

static void rate_legend(const struct ktr__plot *plot, struct ktr__chart *chart, const struct rate *rate,
			unsigned n_series, double y)
{
	char text[KTR__LABEL_BYTES], line[KTR__LABEL_BYTES + 40];
	uint64_t n_lost = ktr__losses_missing(&plot->losses, plot->info);
	double x = 110;

	for (unsigned i = 0; i < n_series + (rate->lost != NULL); i++) {
		ktr__label_fit(text, sizeof(text), i < n_series ? rate->series[i].name : "lost in hatched gaps", 30,
			       0);
		snprintf(line, sizeof(line), "%s: %s", text,
			 ktr__label_count(i < n_series ? rate->series[i].n : n_lost).text);
		ktr__chart_box(chart, x, y - 6, 12, 12, i < n_series ? rate->series[i].colour : RATE_LOST);
		ktr__chart_text(chart, x + 18, y, "left", 9, 0, KTR__INK, line);
		x += 270;
		if (x > chart->width - 250) {
			x = 110;
			y += 19;
		}
	}
}

static int rate_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	struct rate *rate = plot->state;
	unsigned n = rate->n_series < RATE_SHOWN ? rate->n_series : RATE_SHOWN;
	struct ktr__chart chart;
	struct ktr__chart_time time;
	double peak, top;
	int at;

	if (plot->n_events == 0)
		return ktr__plot_nothing(plot, err, "no event");
	at = rate_peak(plot, rate, &peak, &top);
	qsort(rate->series, rate->n_series, sizeof(rate->series[0]), rate_by_number);
	rate_fold(plot, rate);
	rate_title(plot, rate, peak, at);
	if (ktr__plot_chart(plot, &chart, err) != 0)
		return -err->code;
	for (unsigned i = 0; i < n; i++)
		rate->series[i].colour = rate->n_series > RATE_SHOWN && i == RATE_SHOWN - 1
						 ? KTR__GREY
						 : ktr__colours_name(plot->options.colours, rate->series[i].name);
	ktr__chart_area(&chart, 110, chart.width - 30, chart.top, chart.bottom - 110);
	ktr__chart_time_axis(&chart, &time, &plot->grid, plot->info);
	rate_legend(plot, &chart, rate, n, chart.bottom - 40);
	rate_table(plot, &chart, &time, rate, n);
	fputs("$gaps << EOD\n", chart.to);
	ktr__chart_time_gaps(&chart, &time, &plot->losses, NULL, top * 1.02, top * 1.05);
	fputs("0 0 -9 -9\nEOD\n", chart.to);
	ktr__chart_numbers(&chart, 'y', 0, top * 1.05, 8);
	fputs("set ylabel 'events per second'\nplot ", chart.to);
	if (rate->lost != NULL)
		fprintf(chart.to,
			"$rate using 1:%u:1:2:%u:%u with boxxyerror fs solid noborder lc rgb '#%06x', ", 2 + n, 2 + n,
			3 + n, RATE_LOST);
	for (unsigned i = n; i-- > 0;)
		fprintf(chart.to,
			"$rate using 1:(0):1:2:(0):%u with boxxyerror fs solid noborder"
			" lc rgb '#%06x', ",
			3 + i, rate->series[i].colour);
	fputs(KTR__CHART_GAPS, chart.to);
	return ktr__chart_end(&chart, err);
}

const struct ktr__plot_kind ktr__plot_rate = {
	.name = "rate",
	.help = "events per second over time, by class",
	.n_traces = 1,
	.as_text = 1,
	.n_state = sizeof(struct rate),
	.event = rate_event,
	.loss = rate_loss,
	.draw = rate_draw,
	.end = rate_end,
};
