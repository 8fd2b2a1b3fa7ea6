/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What charts over time have in common. Ticks are written one by one, because we choose their unit.
 */
#include "visualize/chart/chart_time.h"

#include "visualize/model/row.h"

#define CHART_TIME_GAP 4u /* [columns] */

static void chart_time_ticks(struct ktr__chart *chart, const struct ktr__chart_time *time,
			     int with_text)
{
	char text[40];

	fputs("set xtics (", chart->to);
	for (unsigned i = 0; i < time->axis.n_ticks; i++) {
		double ns = ktr__axis_tick(&time->axis, i, text, sizeof(text));

		fprintf(chart->to, "%s'%s' %.12g", i > 0 ? ", " : "", with_text ? text : "",
			ns / time->axis.unit_ns);
	}
	fputs(")\n", chart->to);
}

void ktr__chart_time_axis(struct ktr__chart *chart, struct ktr__chart_time *time,
			  const struct ktr__grid *grid, const struct ktr_reader_info *info)
{
	uint64_t begin = info->first_ns, from = grid->from_ns > begin ? grid->from_ns - begin : 0;

	ktr__axis_fit(&time->axis, from, from + (grid->to_ns - grid->from_ns), 11);
	time->from = (double)from / time->axis.unit_ns;
	time->n_columns = grid->n_columns;
	time->per_column = (double)(grid->to_ns - grid->from_ns) / time->axis.unit_ns /
			   grid->n_columns;
	/* In an SVG gnuplot has it lower by half a line, on what comes below. */
	fprintf(chart->to, "set xlabel 'time since the trace began [%s]'%s\n", time->axis.unit,
		chart->plot.format == KTR__GNUPLOT_SVG ? " offset 0,0.5" : "");
	chart_time_ticks(chart, time, 1);
	fprintf(chart->to, "set xrange [%.12g:%.12g]\n", time->from,
		ktr__chart_time_x(time, grid->n_columns));
}

void ktr__chart_time_quiet(struct ktr__chart *chart, const struct ktr__chart_time *time)
{
	fputs("unset xlabel\n", chart->to);
	chart_time_ticks(chart, time, 0);
}

void ktr__chart_durations(struct ktr__chart *chart, char axis, double low, double high, int with_text)
{
	static const double steps[] = { 1, 2, 5 };
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	int fine = high / low < 2000;
	char label[32];

	fprintf(chart->to, "set logscale %c\nset %ctics (", axis, axis);
	for (double power = 1e-1, first = 1; power < 1e15; power *= 10) {
		for (int i = 0; i < (fine ? 3 : 1); i++) {
			double at = power * steps[i];
			size_t u = 0;

			if (at < low || at > high)
				continue;
			while (u < 3 && at < units[u].ns * (1 - 1e-9))
				u++;
			snprintf(label, sizeof(label), "%g %s", at / units[u].ns, units[u].name);
			fprintf(chart->to, "%s'%s' %g", first ? "" : ", ", with_text ? label : "", at);
			first = 0;
		}
	}
	fprintf(chart->to, ")\nset %crange [%g:%g]\n", axis, low, high);
}

double ktr__chart_time_x(const struct ktr__chart_time *time, unsigned column)
{
	return time->from + column * time->per_column;
}

static int chart_time_lost(const struct ktr__losses *losses, unsigned column, const struct ktr__row *row)
{
	return (row != NULL ? ktr__row_lost(row, losses, column) : ktr__losses_at(losses, column, -1)) > 0;
}

/* Where a gap of columns [i, end) is drawn to: in fewer than CHART_TIME_GAP hatches hardly show. */
static unsigned chart_time_seen(const struct ktr__chart_time *time, unsigned i, unsigned end)
{
	if (end - i < CHART_TIME_GAP)
		end = i + CHART_TIME_GAP;
	return end < time->n_columns ? end : time->n_columns;
}

void ktr__chart_time_gaps(struct ktr__chart *chart, const struct ktr__chart_time *time,
			  const struct ktr__losses *losses, const struct ktr__row *row, double floor, double top)
{
	for (unsigned i = 0, end; i < time->n_columns; i = end) {
		int lost = chart_time_lost(losses, i, row);

		for (end = i + 1; end < time->n_columns && chart_time_lost(losses, end, row) == lost;)
			end++;
		if (lost)
			fprintf(chart->to, "%.12g %.12g %.6g %.6g\n", ktr__chart_time_x(time, i),
				ktr__chart_time_x(time, chart_time_seen(time, i, end)), floor, top);
	}
}
