/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which share of the window each row spends in which state, as stacked bars: a timeline of one
 * column.
 */
#include "visualize/chart/chart_time.h"
#include "visualize/chart/chart_timeline.h"
#include "visualize/chart/plot_rows.h"
#include "visualize/chart/plots.h"
#include "visualize/model/palette.h"
#include "visualize/model/row.h"

#include <errno.h>
#include <math.h>

struct states {
	struct ktr__plot_rows rows; /* first */
	struct ktr__view view;
};

static int states_begin(struct ktr__plot *plot, struct ktr_error *err)
{
	return ktr__plot_rows_begin(plot, KTR_KIND_STATE, KTR__PLOT_COLUMNS, err);
}

static void states_end(struct ktr__plot *plot)
{
	struct states *s = plot->state;

	ktr__view_free(&s->view);
	ktr__timeline_free(&s->rows.timeline);
}

/* One row: its states in the legend's order, then what has no colour of its own. */
static void states_row(const struct states *s, struct ktr__chart *chart,
		       const struct ktr__line *line, double y)
{
	const struct ktr__legend *legend = line->legend >= 0 ? &s->view.legend[line->legend] : NULL;
	uint64_t window = s->rows.timeline.rows.grid.to_ns - s->rows.timeline.rows.grid.from_ns, known = 0;
	double at = 0, share;

	for (unsigned i = 0; i < line->row->n_stays; i++)
		known += line->row->stay[i].total_ns;
	for (unsigned i = 0; legend != NULL && i < legend->n; i++) {
		const struct ktr__stay *stay = ktr__row_stay(line->row, legend->entry[i].label);

		if (stay == NULL || stay->total_ns == 0)
			continue;
		share = 100 * (double)stay->total_ns / (double)window;
		fprintf(chart->to, "%.6g %.6g %.4g %.4g %u ", at, at + share, y - 0.4, y + 0.4,
			legend->entry[i].colour);
		/* A number where there is room for one. */
		if (share >= 4)
			fprintf(chart->to, "\"%.0f %%\" %u\n", share,
				ktr__palette_on(legend->entry[i].colour));
		else
			fputs("\"\" 0\n", chart->to);
		at += share;
	}
	share = 100 * (double)known / (double)window;
	if (share > at + 0.01)
		fprintf(chart->to, "%.6g %.6g %.4g %.4g %u \"\" 0\n", at, share, y - 0.4, y + 0.4,
			KTR__GREY);
}

/* Behind what is known: how much of the row's time lies in gaps of its rings. */
static void states_lost(const struct states *s, struct ktr__chart *chart, const struct ktr__row *row, double y)
{
	const struct ktr__timeline *t = &s->rows.timeline;
	uint64_t window = t->rows.grid.to_ns - t->rows.grid.from_ns, known = 0;
	double lost = 0, from;

	for (unsigned i = 0; i < row->n_stays; i++)
		known += row->stay[i].total_ns;
	for (unsigned c = 0; c < t->rows.grid.n_columns; c++)
		lost += ktr__row_lost(row, &t->losses, c);
	from = 100 * (double)known / (double)window;
	lost = fmin(100 - from, 100 * lost / 255 / t->rows.grid.n_columns);
	if (lost > 0)
		fprintf(chart->to, "%.6g %.6g %.4g %.4g\n", from, from + lost, y - 0.4, y + 0.4);
}

static void states_words(struct ktr__plot *plot, const struct states *s)
{
	const struct ktr__grid *grid = &s->rows.timeline.rows.grid;

	ktr__frame_findings(&plot->frame, &s->view);
	if (plot->frame.title[0] == '\0')
		snprintf(plot->frame.title, sizeof(plot->frame.title), "How %s spends its time",
			 plot->frame.program);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle),
		 "%s: share of %s that each row spent in each state; blank: before its first state,"
		 " or after its thread ended",
		 plot->frame.program, ktr__label_duration(grid->to_ns - grid->from_ns).text);
	if (s->view.n_hidden > 0)
		ktr__frame_note(&plot->frame,
				"%u of %u rows have a line, those that stand out and the busiest",
				s->view.n_rows, s->view.n_rows + s->view.n_hidden);
}

static void states_plot(const struct states *s, struct ktr__chart *chart)
{
	fprintf(chart->to,
		"set xrange [0:100]\nset xlabel 'share of the time [%%]'\nset xtics 10\n"
		"set yrange [0:%u]\n" KTR__CHART_ROWS
		"# from, to [%%], floor, top, colour, text, colour of the text\n$shares << EOD\n",
		s->view.n_lines);
	for (unsigned i = 0; i < s->view.n_lines; i++)
		if (s->view.line[i].row != NULL)
			states_row(s, chart, &s->view.line[i], s->view.n_lines - 0.5 - i);
	fputs("0 0 -9 -9 0 \"\" 0\nEOD\n# from, to [%], floor, top: what was lost\n$gaps << EOD\n", chart->to);
	for (unsigned i = 0; i < s->view.n_lines; i++)
		if (s->view.line[i].row != NULL)
			states_lost(s, chart, s->view.line[i].row, s->view.n_lines - 0.5 - i);
	fputs("0 0 -9 -9\nEOD\n"
	      "plot $shares " KTR__CHART_BOXES "rgb variable, \\\n"
	      "     $shares using (($1+$2)/2):(($3+$4)/2):6:7 with labels tc rgb variable, \\\n     " KTR__CHART_GAPS,
	      chart->to);
}

static int states_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	struct states *s = plot->state;
	struct ktr__chart chart;

	if (s->rows.timeline.rows.n_rows == 0)
		return ktr__plot_rows_none(plot, "KTR_STATE", err);
	if (ktr__plot_rows_end(plot, err) != 0)
		return -err->code;
	if (ktr__view_init(&s->view, &s->rows.timeline, ktr__chart_timeline_lines(plot->options.height)) != 0)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	states_words(plot, s);
	plot->options.height =
		ktr__chart_timeline_height(&s->view, &plot->frame, plot->options.width, plot->options.height);
	if (ktr__plot_chart(plot, &chart, err) != 0)
		return -err->code;
	ktr__chart_timeline_frame(&chart, &s->view);
	states_plot(s, &chart);
	return ktr__chart_end(&chart, err);
}

const struct ktr__plot_kind ktr__plot_states = {
	.name = "states",
	.help = "share of the time that each row spends in each state (--group)",
	.n_traces = 1,
	.n_state = sizeof(struct states),
	.begin = states_begin,
	.event = ktr__plot_rows_event,
	.loss = ktr__plot_rows_loss,
	.draw = states_draw,
	.end = states_end,
	.filter = "kind == \"state\"",
};
