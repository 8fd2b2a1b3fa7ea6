/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline as a chart: one row per line of the view, bars from the row's floor up.
 *
 * A column in which several labels were is cut by their shares, always in the order of their
 * numbers, so that a row that alternates fast becomes quiet layers. Columns that look the same are
 * one box; of scopes, each call of more than a few columns, with a border to the next and its name. Data
 * go into the script as three tables: bars, gaps, and counters with marks; each box
 * has its own colour as a number, which gnuplot calls "rgb variable".
 */
#include "visualize/chart/chart_timeline.h"

#include "visualize/chart/chart_counter.h"
#include "visualize/chart/chart_time.h"
#include "visualize/model/legend.h"
#include "visualize/model/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIMELINE_LEFT     200.0 /* [pixels] of row labels */
#define TIMELINE_RIGHT    220.0 /* [pixels] of remarks */
#define TIMELINE_AXIS     58.0  /* [pixels] of ticks and label below the rows */
#define TIMELINE_TICK     4u    /* [columns] of the numbers at a counter's axis */
#define TIMELINE_LEVELS   16u   /* heights that are told apart */
#define TIMELINE_SHORT    3u    /* of them, for what is there at all */
#define TIMELINE_EARLIER  1.0   /* [columns] */
#define TIMELINE_BORDER   1.0   /* [columns] that a scope leaves to the next one */
#define TIMELINE_BORDERED 4u    /* [columns] least width of a scope that does */
#define TIMELINE_NAMED    28.0  /* [pixels] least width of a scope that has its name in it */
#define TIMELINE_MOST     191u  /* [1/255 of a column] of a name that is written across columns of many calls */
#define TIMELINE_LINE     15u   /* [pixels] least height of a line */
#define TIMELINE_LINE_MAX 40u
#define TIMELINE_COUNTER  60u /* [pixels] greatest height of a line where counters have their axes */
#define TIMELINE_LEVEL    22u /* [pixels] greatest height of a line where scopes lie in each other */
#define TIMELINE_FOOT     170u /* [pixels] kept for axis and legends */
#define TIMELINE_HEAD     110u /* [pixels] kept for title, notes and caption */

struct timeline_chart {
	struct ktr__chart *chart;
	const struct ktr__view *view;
	struct ktr__chart_time time;
};

unsigned ktr__chart_timeline_columns(unsigned width)
{
	return width > TIMELINE_LEFT + TIMELINE_RIGHT + 100
		       ? width - (unsigned)(TIMELINE_LEFT + TIMELINE_RIGHT)
		       : 100;
}

unsigned ktr__chart_timeline_lines(unsigned height)
{
	unsigned used = TIMELINE_FOOT + TIMELINE_HEAD;

	return height > used + 5 * TIMELINE_LINE ? (height - used) / TIMELINE_LINE : 5;
}

static void timeline_bar(const struct timeline_chart *c, unsigned first, unsigned end, double low,
			 double high, uint32_t colour)
{
	/* A single column also begins earlier, over the bar before, so that one pixel is all its own. */
	double earlier = end - first == 1 && first > 0 ? TIMELINE_EARLIER * c->time.per_column : 0;

	/* A third of a column more, under the next bar: else anti-aliasing shows a seam between. */
	if (end > first && high > low)
		fprintf(c->chart->to, "%.12g %.12g %.4g %.4g %u\n",
			ktr__chart_time_x(&c->time, first) - earlier,
			ktr__chart_time_x(&c->time, end) + c->time.per_column / 3, low, high,
			colour);
}

/* What a column looks like: two layers and a remainder, in steps of TIMELINE_LEVELS. */
struct timeline_look {
	uint16_t lower, upper;
	uint8_t lower_top, upper_top, rest_top;
};

static unsigned timeline_level(unsigned share)
{
	return share == 0 ? 0 : (share * TIMELINE_LEVELS + 127) / 255;
}

/* Heights of n parts of a column: what is there has TIMELINE_SHORT at least, at the cost of the largest part. */
static void timeline_heights(unsigned covered, const unsigned *share, int *height, unsigned n)
{
	unsigned n_parts = 0, largest = 0;
	int left = (int)timeline_level(covered);

	for (unsigned i = 0; i < n; i++) {
		n_parts += share[i] > 0;
		if (share[i] > share[largest])
			largest = i;
	}
	if (left < (int)(n_parts * TIMELINE_SHORT))
		left = (int)(n_parts * TIMELINE_SHORT);
	for (unsigned i = 0; i < n; i++) {
		height[i] = (int)timeline_level(share[i]);
		if (share[i] > 0 && height[i] < (int)TIMELINE_SHORT)
			height[i] = (int)TIMELINE_SHORT;
		left -= height[i];
	}
	height[largest] += left;
}

static struct timeline_look timeline_look(const struct ktr__cell *cell)
{
	struct timeline_look look = { 0, 0, 0, 0, 0 };
	int swap = cell->second != 0 && cell->second < cell->first;
	unsigned share[3] = { swap ? cell->rest : cell->share, swap ? cell->share : cell->rest, 0 };
	int height[3];

	if (cell->first == 0)
		return look;
	if (cell->covered > share[0] + share[1])
		share[2] = cell->covered - share[0] - share[1];
	timeline_heights(cell->covered, share, height, 3);
	look.lower = swap ? cell->second : cell->first;
	look.upper = swap ? cell->first : cell->second;
	look.lower_top = (uint8_t)height[0];
	look.upper_top = (uint8_t)(height[0] + height[1]);
	look.rest_top = (uint8_t)(height[0] + height[1] + height[2]);
	return look;
}

/* One call of a scope, if it has a few columns at least; its end, or the column itself. */
static unsigned timeline_scope(const struct timeline_chart *c, const struct ktr__cell *cell, unsigned from,
			       double y)
{
	unsigned n = c->view->timeline->rows.grid.n_columns, end = ktr__lane_bar(cell, from, n, 255);
	double border = 0;

	if (end - from < TIMELINE_BORDERED)
		return from;
	/* Its own last moments may have a part of the next column. */
	if (end < n && cell[end].first != 0 && (cell[end].n > 1 || cell[end].first != cell[from].first))
		border = TIMELINE_BORDER;
	fprintf(c->chart->to, "%.12g %.12g %.4g %.4g %u\n", ktr__chart_time_x(&c->time, from),
		ktr__chart_time_x(&c->time, end) - border * c->time.per_column, y - 0.5, y + 0.42,
		ktr__view_entry(c->view, cell[from].first).colour);
	return end;
}

/* Columns that look the same, from the row's floor up. */
static void timeline_layers(const struct timeline_chart *c, unsigned first, unsigned end, double floor_y,
			    double unit, const struct timeline_look *look)
{
	if (look->lower == 0)
		return;
	timeline_bar(c, first, end, floor_y, floor_y + unit * look->lower_top,
		     ktr__view_entry(c->view, look->lower).colour);
	timeline_bar(c, first, end, floor_y + unit * look->lower_top, floor_y + unit * look->upper_top,
		     ktr__view_entry(c->view, look->upper).colour);
	timeline_bar(c, first, end, floor_y + unit * look->upper_top, floor_y + unit * look->rest_top, KTR__GREY);
}

/* Levels of scopes lie closer than rows do. */
static void timeline_lane(const struct timeline_chart *c, const struct ktr__line *line, double y)
{
	const struct ktr__cell *cell = line->row->lane.cell;
	int is_level = line->row->nest != NULL;
	unsigned n = c->view->timeline->rows.grid.n_columns, end, first_end = 0;
	struct timeline_look first = timeline_look(&cell[0]);
	double unit = (is_level ? 0.92 : 0.8) / TIMELINE_LEVELS, floor_y = y - (is_level ? 0.5 : 0.4);

	for (unsigned i = 0; i < n; i = end) {
		struct timeline_look look = timeline_look(&cell[i]), next;

		end = is_level ? timeline_scope(c, cell, i, y) : i;
		if (end > i)
			continue;
		for (end = i + 1; end < n; end++) {
			next = timeline_look(&cell[end]);
			if (memcmp(&next, &look, sizeof(look)) != 0 || (is_level && cell[end].n > 0))
				break;
		}
		timeline_layers(c, i, end, floor_y, unit, &look);
		first_end = i == 0 ? end : first_end;
	}
	/* The first column has none before it that it could begin in: it goes over the next one. */
	if (first_end == 1 && n > 1)
		timeline_layers(c, 0, 2, floor_y, unit, &first);
}

/* How many events a column has, on a log scale: a strip below bars, or the row's whole height. */
static void timeline_marks(const struct timeline_chart *c, const struct ktr__row *row, double y,
			   double height)
{
	unsigned n = c->view->timeline->rows.grid.n_columns, end;
	uint32_t most = 0;

	for (unsigned i = 0; i < n; i++)
		most = row->marks[i] > most ? row->marks[i] : most;
	for (unsigned i = 0; i < n; i = end) {
		double level = ceil(TIMELINE_LEVELS * (0.35 + 0.65 * log1p(row->marks[i]) / log1p(most)));

		for (end = i + 1; end < n && row->marks[end] == row->marks[i];)
			end++;
		if (row->marks[i] > 0)
			timeline_bar(c, i, end > 1 || n == 1 ? end : 2, y - 0.4,
				     y - 0.4 + height * level / TIMELINE_LEVELS, KTR__FAINT);
	}
}

static double timeline_y(const struct ktr__view *view, unsigned line)
{
	return view->n_lines - 0.5 - line;
}

static void timeline_rows(const struct timeline_chart *c)
{
	fputs("# from, to, floor, top, colour\n$bars << EOD\n", c->chart->to);
	for (unsigned i = 0; i < c->view->n_lines; i++) {
		const struct ktr__line *line = &c->view->line[i];
		int has_lane = line->row != NULL && line->row->lane.cell != NULL;
		double y = timeline_y(c->view, i);

		if (has_lane)
			timeline_lane(c, line, y);
		else if (line->row != NULL && line->row->area.cell != NULL)
			ktr__chart_counter_bars(c->chart, &c->time, &line->row->area, y);
		if (line->marks != NULL && line->marks->marks != NULL)
			timeline_marks(c, line->marks, y, has_lane ? 0.2 : 0.8);
	}
	/* gnuplot takes no empty table. */
	fputs("0 0 -9 -9 0\nEOD\n", c->chart->to);
}

static void timeline_gaps(const struct timeline_chart *c)
{
	const struct ktr__losses *losses = &c->view->timeline->losses;
	unsigned n = c->view->n_lines;

	fputs("# from, to, floor, top\n$gaps << EOD\n", c->chart->to);
	for (unsigned i = 0; i < n; i++) {
		const struct ktr__line *line = &c->view->line[i];
		const struct ktr__row *row = line->row != NULL ? line->row : line->marks;
		double y = timeline_y(c->view, i);

		if (row != NULL)
			ktr__chart_time_gaps(c->chart, &c->time, losses, row, y - 0.5, y + 0.5);
	}
	fputs("0 0 -9 -9\nEOD\n", c->chart->to);
}

static int timeline_is_counter(const struct ktr__line *line)
{
	return line->row != NULL && line->row->lane.cell == NULL && line->row->area.cell != NULL;
}

/* [columns] Of a line's name, where names have so many. */
static unsigned timeline_columns(const struct ktr__line *line, unsigned columns)
{
	if (line->row == NULL && line->marks == NULL)
		return 3 * columns;
	return columns - 2u * (unsigned)line->indent - (timeline_is_counter(line) ? TIMELINE_TICK : 0);
}

/* Names that differ look different. NULL without memory for that. */
static struct ktr__label_name *timeline_names(const struct ktr__view *view, unsigned columns)
{
	struct ktr__label_name *name = ktr__view_names(view);

	for (unsigned i = 0; name != NULL && i < view->n_lines; i++)
		name[i].columns = timeline_columns(&view->line[i], columns);
	if (name != NULL)
		ktr__label_fit_names(name, view->n_lines, 0);
	return name;
}

/*
 * The end of the columns that a name may be written across: those of one call, or else, up to the next call that
 * is wide enough for its own, of many that have most of each.
 */
static unsigned timeline_named(const struct ktr__cell *cell, unsigned from, unsigned n, unsigned least)
{
	unsigned end = ktr__lane_bar(cell, from, n, 255);

	if (end - from >= least)
		return end;
	for (end = from; end < n && cell[end].first == cell[from].first && cell[end].share >= TIMELINE_MOST; end++)
		if (end > from && cell[end].n > 1 && ktr__lane_bar(cell, end, n, 255) - end >= least)
			break;
	return end;
}

/* The names of scopes in their bars, of which a name takes at most what there is room for. */
static void timeline_scope_names(const struct timeline_chart *c, const struct ktr__row *row, double y,
				 unsigned size)
{
	unsigned n = c->view->timeline->rows.grid.n_columns, end;
	double per_column = (c->chart->width - TIMELINE_LEFT - TIMELINE_RIGHT) / n;
	unsigned least = (unsigned)ceil(TIMELINE_NAMED / per_column);
	const struct ktr__cell *cell = row->lane.cell;
	char fit[4 * KTR__LABEL_BYTES];

	for (unsigned i = 0; i < n; i = end > i ? end : i + 1) {
		double room;

		end = cell[i].first != 0 ? timeline_named(cell, i, n, least) : i;
		if (end - i < least || end == i)
			continue;
		room = (end - i) * per_column - 6;
		ktr__chart_fit(c->chart, fit, sizeof(fit), c->view->timeline->rows.label[cell[i].first],
			       (unsigned)(room / ktr__chart_text_width("m", size)));
		ktr__chart_text(c->chart, TIMELINE_LEFT + i * per_column + 3, y, "left", size, 0,
				ktr__palette_on(ktr__view_entry(c->view, cell[i].first).colour), fit);
	}
}

/* Labels left and right of the rows, and faint bands under the headings. */
static void timeline_labels(const struct timeline_chart *c, double top, double line_height)
{
	struct ktr__chart *chart = c->chart;
	unsigned size = line_height < 17 ? 8 : 10;
	unsigned columns = (unsigned)((TIMELINE_LEFT - 40) / size / 0.75);
	unsigned right = (unsigned)((TIMELINE_RIGHT - 20) / size / 0.72);
	char fit[4 * KTR__LABEL_BYTES], remark[2 * KTR__LABEL_BYTES];
	struct ktr__label_name *names = timeline_names(c->view, columns);

	for (unsigned i = 0; i < c->view->n_lines; i++) {
		const struct ktr__line *line = &c->view->line[i];
		const char *name = names != NULL ? names[i].fit : line->text;
		double y = top + (i + 0.5) * line_height;

		if (line->row == NULL && line->marks == NULL) {
			ktr__chart_fit(chart, fit, sizeof(fit), name, 3 * columns);
			ktr__chart_text(chart, 20, y, "left", size, 1, KTR__INK, fit);
			continue;
		}
		ktr__chart_fit(chart, fit, sizeof(fit), name, timeline_columns(line, columns));
		if (timeline_is_counter(line))
			ktr__chart_counter_axis(chart, &line->row->area, TIMELINE_LEFT, y, line_height);
		ktr__chart_text(chart, line->indent < 0 ? 20 : 30 + 15 * line->indent, y, "left", size,
				line->said > 0, KTR__INK, fit);
		if (line->said > 0)
			ktr__chart_box(chart, 20, y - line_height * 0.4, 4, line_height * 0.8, KTR__VERMILLION);
		if (line->row != NULL && line->row->nest != NULL)
			timeline_scope_names(c, line->row, y, size < 9 ? size : 9);
		ktr__view_remark(c->view, line, right, 0, remark, sizeof(remark));
		ktr__chart_fit(chart, fit, sizeof(fit), remark, right);
		ktr__chart_text(chart, chart->width - TIMELINE_RIGHT + 8, y, "left", size, 0,
				KTR__FAINT, fit);
	}
	free(names);
}

/* What hatching means, where there is any. */
static void timeline_gap_legend(const struct timeline_chart *c, double y)
{
	if (c->view->timeline->losses.n_events == 0)
		return;
	fprintf(c->chart->to,
		"set object rectangle from screen %.5f, screen %.5f to screen %.5f, screen %.5f"
		" fs transparent pattern 4 border lc rgb '#000000' fc rgb '#000000'\n",
		TIMELINE_LEFT / c->chart->width, 1 - (y + 15) / c->chart->height,
		(TIMELINE_LEFT + 24) / c->chart->width, 1 - (y + 3) / c->chart->height);
	ktr__chart_text(c->chart, 20, y + 9, "left", 9, 1, KTR__INK, "gaps");
	ktr__chart_text(c->chart, TIMELINE_LEFT + 30, y + 9, "left", 9, 0, KTR__INK,
			"events were lost");
}

/* Draws or, with dry, only measures the legends. Returns the y below them. */
static double timeline_legends(const struct timeline_chart *c, double y, int dry)
{
	struct ktr__chart *chart = c->chart;
	char text[KTR__LABEL_BYTES + 16];

	for (unsigned l = 0; l < c->view->n_legends; l++) {
		const struct ktr__legend *legend = &c->view->legend[l];
		struct ktr__label_name name[KTR__LEGEND_ENTRIES];
		double x = TIMELINE_LEFT;

		ktr__legend_fit(c->view, legend, 40, 0, name);

		if (!dry) {
			ktr__chart_fit(chart, text, sizeof(text), legend->group, 22);
			ktr__chart_text(chart, 20, y + 9, "left", 9, 1, KTR__INK, text);
		}
		for (unsigned i = 0; i < legend->n + (legend->n_more > 0); i++) {
			double width;

			if (i < legend->n)
				ktr__chart_fit(chart, text, sizeof(text), name[i].fit, 40);
			else
				snprintf(text, sizeof(text), "and %u smaller ones", legend->n_more);
			width = ktr__chart_text_width(text, 9);
			if (x + width + 24 > chart->width - 20) {
				x = TIMELINE_LEFT;
				y += 18;
			}
			if (!dry) {
				if (i < legend->n)
					ktr__chart_box(chart, x, y + 3, 12, 12, legend->entry[i].colour);
				ktr__chart_text(chart, x + (i < legend->n ? 17 : 0), y + 9, "left", 9, 0, KTR__INK,
						text);
			}
			x += width + 34;
		}
		y += 19;
	}
	if (!dry)
		timeline_gap_legend(c, y);
	return y + (c->view->timeline->losses.n_events > 0 ? 19 : 0);
}

/* A picture without rows, of a window before the first of them, has room for one. */
static unsigned timeline_n_lines(const struct ktr__view *view)
{
	return view->n_lines > 0 ? view->n_lines : 1;
}

static void timeline_plot(const struct timeline_chart *c)
{
	fprintf(c->chart->to,
		"set yrange [0:%u]\n" KTR__CHART_ROWS "set style fill solid noborder\n",
		timeline_n_lines(c->view));
	timeline_rows(c);
	timeline_gaps(c);
	fputs("plot $bars " KTR__CHART_BOXES "rgb variable, " KTR__CHART_GAPS, c->chart->to);
}

/* [pixels] How high a line is at most. */
static unsigned timeline_line_max(const struct ktr__view *view)
{
	unsigned most = TIMELINE_LINE_MAX;

	for (unsigned i = 0; i < view->n_lines; i++) {
		if (view->line[i].row != NULL && view->line[i].row->nest != NULL)
			return TIMELINE_LEVEL;
		if (timeline_is_counter(&view->line[i]))
			most = TIMELINE_COUNTER;
	}
	return most;
}

unsigned ktr__chart_timeline_height(const struct ktr__view *view, const struct ktr__frame *frame, unsigned width,
				    unsigned height)
{
	struct ktr__chart chart = { .width = width };
	struct timeline_chart c = { .chart = &chart, .view = view };
	unsigned enough = ktr__chart_frame_height(width, frame) + timeline_n_lines(view) * timeline_line_max(view) +
			  (unsigned)ceil(timeline_legends(&c, 0, 1) + TIMELINE_AXIS);

	return height < enough ? height : enough;
}

void ktr__chart_timeline_frame(struct ktr__chart *chart, const struct ktr__view *view)
{
	struct timeline_chart c = { .chart = chart, .view = view };
	double legends = timeline_legends(&c, 0, 1) + TIMELINE_AXIS;
	double line_height = (chart->bottom - chart->top - legends) / timeline_n_lines(view);

	if (line_height > timeline_line_max(view))
		line_height = timeline_line_max(view);
	ktr__chart_area(chart, TIMELINE_LEFT, chart->width - TIMELINE_RIGHT, chart->top,
			chart->top + line_height * timeline_n_lines(view));
	timeline_labels(&c, chart->top, line_height);
	timeline_legends(&c, chart->top + line_height * timeline_n_lines(view) + TIMELINE_AXIS, 0);
}

/* What heights mean, where there are any. */
static void timeline_explain(struct ktr__frame *frame, const struct ktr__view *view)
{
	int has_lanes = 0, has_marks = 0;

	for (unsigned i = 0; i < view->n_lines; i++) {
		const struct ktr__line *line = &view->line[i];

		has_lanes = has_lanes || (line->row != NULL && line->row->lane.cell != NULL);
		has_marks = has_marks || (line->marks != NULL && line->marks->marks != NULL);
	}
	if (has_lanes)
		ktr__frame_note(frame, "heights in a bar are shares of the time, at least 3/16 for what is short;"
				       " grey above two colours: further ones");
	if (has_marks)
		ktr__frame_note(frame, "dark heights are numbers of events, on a log scale");
}

int ktr__chart_timeline(const char *path, unsigned width, unsigned height,
			const struct ktr__view *view, const struct ktr__frame *frame,
			struct ktr_error *err)
{
	struct ktr__chart chart;
	struct timeline_chart c = { .chart = &chart, .view = view };
	struct ktr__frame explained = *frame;

	timeline_explain(&explained, view);
	height = ktr__chart_timeline_height(view, &explained, width, height);
	if (ktr__chart_begin(&chart, path, width, height, err) != 0)
		return -err->code;
	ktr__chart_frame(&chart, &explained);
	ktr__chart_style(&chart);
	ktr__chart_timeline_frame(&chart, view);
	ktr__chart_time_axis(&chart, &c.time, &view->timeline->rows.grid, view->timeline->info);
	timeline_plot(&c);
	return ktr__chart_end(&chart, err);
}
