/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of counters over time, one panel each: a band from the least to the greatest value of
 * each column, and a line at the last.
 */
#include "visualize/chart/plot_rows.h"
#include "visualize/chart/plots.h"
#include "visualize/model/counter.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <math.h>

#define COUNTERS_SHOWN 6u
#define COUNTERS_TICK  28.0 /* [pixels] between ticks, at least */

static int counters_begin(struct ktr__plot *plot, struct ktr_error *err)
{
	return ktr__plot_rows_begin(plot, KTR_KIND_COUNTER, 3 * KTR__PLOT_COLUMNS, err);
}

static void counters_end(struct ktr__plot *plot)
{
	struct ktr__plot_rows *s = plot->state;

	ktr__timeline_free(&s->timeline);
}

/* The rows with the most changes, in the order of their names. Returns how many. */
static unsigned counters_choose(const struct ktr__plot_rows *s, const struct ktr__row **chosen)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->timeline.rows.n_rows; i++) {
		const struct ktr__row *row = s->timeline.rows.row[i];
		unsigned at;

		if (row->area.cell == NULL)
			continue;
		at = n < COUNTERS_SHOWN ? n++ : COUNTERS_SHOWN;
		for (; at > 0 && chosen[at - 1]->area.n < row->area.n; at--)
			if (at < COUNTERS_SHOWN)
				chosen[at] = chosen[at - 1];
		if (at < COUNTERS_SHOWN)
			chosen[at] = row;
	}
	return n;
}

static void counters_words(struct ktr__plot *plot, const struct ktr__plot_rows *s,
			   const struct ktr__row *first, unsigned n)
{
	const struct ktr__area *area = &first->area;
	int lost = ktr__losses_missing(&plot->losses, plot->info) > 0;
	unsigned n_all = 0;

	for (unsigned i = 0; i < s->timeline.rows.n_rows; i++)
		n_all += s->timeline.rows.row[i]->area.cell != NULL;
	if (area->least == area->greatest)
		snprintf(plot->frame.title, sizeof(plot->frame.title), "%s is %s%s", first->name,
			 ktr__number_value(area->last).text, lost ? " wherever it was recorded" : " throughout");
	else
		snprintf(plot->frame.title, sizeof(plot->frame.title), "%s runs from %s to %s%s %s",
			 first->name, ktr__number_value(area->least).text, ktr__number_value(area->greatest).text,
			 lost ? ", as far as recorded, and was last" : " and ends at",
			 ktr__number_value(area->last).text);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle),
		 "%s: counters over time, %s changes; band: least and greatest, line: last value",
		 plot->frame.program, ktr__label_count(s->timeline.n_events).text);
	if (n < n_all)
		ktr__frame_note(&plot->frame, "%u of %u counters shown, those that changed most", n,
				n_all);
}

static int counters_same(const struct ktr__area_cell *a, const struct ktr__area_cell *b)
{
	return a->least == b->least && a->greatest == b->greatest && a->last == b->last;
}

static void counters_table(struct ktr__chart *chart, const struct ktr__chart_time *time,
			   const struct ktr__area *area, unsigned i)
{
	fprintf(chart->to, "# time, least, greatest, last\n$counter_%u << EOD\n", i);
	for (unsigned c = area->from; c < area->n_filled; c++) {
		const struct ktr__area_cell *cell = &area->cell[c];

		/* A line of nothing ends the curve. */
		if (isnan(cell->last)) {
			fputs("\n", chart->to);
			continue;
		}
		/* What does not change is told by its ends. */
		if (c > area->from && c + 1 < area->n_filled &&
		    counters_same(cell, &area->cell[c - 1]) &&
		    counters_same(cell, &area->cell[c + 1]))
			continue;
		fprintf(chart->to, "%.12g %.15g %.15g %.15g\n",
			ktr__chart_time_x(time, c), cell->least, cell->greatest, cell->last);
	}
	fputs("EOD\n", chart->to);
}

/* The range of a panel, and its gaps, which have to fit into it. */
static void counters_range(struct ktr__plot *plot, struct ktr__chart *chart,
			   const struct ktr__row *row, double room)
{
	const struct ktr__area *area = &row->area;
	double low = fmin(area->least, 0), high = fmax(area->greatest, 0);
	struct ktr__chart_time time;

	/* With zero in it, and room for the name above. */
	high = high > low ? high + (high - low) * 0.2 : 1;
	low -= low < 0 ? (high - low) * 0.05 : 0;
	ktr__chart_time_axis(chart, &time, &plot->grid, plot->info);
	fputs("$gaps << EOD\n", chart->to);
	ktr__chart_time_gaps(chart, &time, &plot->losses, row, low, high);
	fprintf(chart->to, "0 0 %g %g\nEOD\nset xzeroaxis lt 1 lw 1 lc rgb '#%06x'\n", low, low, KTR__FAINT);
	ktr__chart_numbers(chart, 'y', low, high, room < 8 * COUNTERS_TICK ? (unsigned)(room / COUNTERS_TICK) : 8);
}

static void counters_panel(struct ktr__plot *plot, struct ktr__chart *chart,
			   const struct ktr__row *row, unsigned i, int last, double room)
{
	const struct ktr__plot_rows *s = plot->state;
	struct ktr__chart_time time;
	char text[KTR__LABEL_BYTES];

	counters_range(plot, chart, row, room);
	ktr__chart_time_axis(chart, &time, &s->timeline.rows.grid, plot->info);
	counters_table(chart, &time, &row->area, i);
	ktr__label_fit(text, sizeof(text), ktr__counter_unit(row->name).text, 24, 0);
	fputs("set ylabel ", chart->to);
	ktr__label_gnuplot(chart->to, text);
	fprintf(chart->to, " offset 1,0 font '%s,9'\n", ktr__chart_font(chart, 0));
	ktr__label_fit(text, sizeof(text), row->name, 60, 0);
	if (i > 0)
		fputs("unset label\n", chart->to);
	if (!last)
		ktr__chart_time_quiet(chart, &time);
	fputs("set label ", chart->to);
	ktr__label_gnuplot(chart->to, text);
	fprintf(chart->to,
		" at graph 0.005, graph 0.9 left front font '%s,10' tc rgb '#%06x'\n"
		"plot $counter_%u using 1:2:3 with filledcurves lc rgb '#%06x' fs solid 0.45, "
		"'' using 1:4 with steps lw 1.2 lc rgb '#%06x', " KTR__CHART_GAPS,
		ktr__chart_font(chart, 1), KTR__INK, i, KTR__SKY, KTR__BLUE);
}

static int counters_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	struct ktr__plot_rows *s = plot->state;
	const struct ktr__row *row[COUNTERS_SHOWN];
	struct ktr__chart chart;
	double room;
	unsigned n;

	if (ktr__plot_rows_end(plot, err) != 0)
		return -err->code;
	n = counters_choose(s, row);
	if (n == 0)
		return ktr__plot_rows_none(plot, "KTR_COUNTER", err);
	counters_words(plot, s, row[0], n);
	if (ktr__plot_chart(plot, &chart, err) != 0)
		return -err->code;
	room = (chart.bottom - 50.0 - chart.top) / n;
	fputs("set multiplot\n", chart.to);
	for (unsigned i = 0; i < n; i++) {
		ktr__chart_area(&chart, 110, chart.width - 30, chart.top + i * room,
				chart.top + (i + 1) * room - 12);
		counters_panel(plot, &chart, row[i], i, i + 1 == n, room);
	}
	fputs("unset multiplot\n", chart.to);
	return ktr__chart_end(&chart, err);
}

const struct ktr__plot_kind ktr__plot_counters = {
	.name = "counters",
	.help = "values of KTR_COUNTER over time (--group)",
	.n_traces = 1,
	.as_text = 1,
	.n_state = sizeof(struct ktr__plot_rows),
	.begin = counters_begin,
	.event = ktr__plot_rows_event,
	.loss = ktr__plot_rows_loss,
	.draw = counters_draw,
	.end = counters_end,
	.filter = "kind == \"counter\"",
};
