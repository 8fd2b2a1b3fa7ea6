/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws distributions of durations. Both panels share a logarithmic time axis. The upper one
 * counts, on a logarithmic scale, since the few long ones matter most; where traces are compared, which may be of
 * different lengths, it tells which share of each trace's own spans took so long. The lower one says which
 * share took at most so long, on a scale that is stretched towards 100 %: each step from p90 to p99
 * to p99.9 has the same height, where a plain scale would show all of them as one line.
 */
#include "visualize/chart/distribution.h"

#include "visualize/chart/chart_time.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"

#include <inttypes.h>
#include <math.h>

#define DISTRIBUTION_LEFT  110.0
#define DISTRIBUTION_RIGHT 30.0
#define DISTRIBUTION_ROW   20.0 /* [pixels] of the table */
#define DISTRIBUTION_FLOOR 0.6  /* of a single one: where bars begin */
#define DISTRIBUTION_BINS  1024u

struct distribution_mark {
	const char *name;
	double share;
	uint32_t colour;
};

static const struct distribution_mark distribution_marks[] = { { "p50", 0.5, KTR__BLUE },
							       { "p90", 0.9, KTR__GREEN },
							       { "p99", 0.99, KTR__VERMILLION },
							       { "p99.9", 0.999, KTR__PURPLE } };
#define DISTRIBUTION_MARKS (sizeof(distribution_marks) / sizeof(distribution_marks[0]))

/* [share of the width] The last mark is not farther right, so that its text has room after it. */
#define DISTRIBUTION_LAST  0.86

/* What all series span, widened so that nothing touches the edges. [ns] */
static void distribution_range(const struct ktr__distribution *series, unsigned n, double *low,
			       double *high)
{
	const struct distribution_mark *mark = &distribution_marks[DISTRIBUTION_MARKS - 1];
	double last = 0;

	uint64_t min = UINT64_MAX, max = 1, at;

	for (unsigned i = 0; i < n; i++) {
		min = series[i].histogram->min < min ? series[i].histogram->min : min;
		max = series[i].histogram->max > max ? series[i].histogram->max : max;
	}
	for (; mark >= distribution_marks && last <= 0; mark--)
		if (ktr__histogram_tell(series[0].histogram, mark->share, &at))
			last = (double)at;
	*low = (double)(min > 0 ? min : 1) / 1.3;
	*high = (double)max * 1.3;
	if (*high / *low < 10) { /* at least a decade, or ticks would be far apart */
		double middle = sqrt(*low * *high);

		*low = middle / 3.2;
		*high = middle * 3.2;
	}
	if (n == 1 && last > *low)
		*high = fmax(*high, *low * pow(last / *low, 1 / DISTRIBUTION_LAST));
}

/* Counts per bin, ten or twenty to a decade, as a table named $bins_I. Returns the greatest. */
static double distribution_bins(struct ktr__chart *chart, const struct ktr__distribution *series,
				unsigned i, double low, double high, int as_shares)
{
	unsigned per_decade = high / low < 200 ? 20 : 10, at = 0;
	uint64_t bin[DISTRIBUTION_BINS] = { 0 }, first, last, count;
	double most = 0, unit = as_shares ? 100 / (double)series->histogram->n : 1;

	while (ktr__histogram_next(series->histogram, &at, &first, &last, &count)) {
		double middle = first > 0 ? ((double)first + (double)last) / 2 : 1;
		unsigned k = (unsigned)floor(log10(middle) * per_decade);

		bin[k < DISTRIBUTION_BINS ? k : DISTRIBUTION_BINS - 1] += count;
	}
	fprintf(chart->to, "# from, to [ns], %s\n$bins_%u << EOD\n", as_shares ? "share [%]" : "number", i);
	for (unsigned k = 0; k < DISTRIBUTION_BINS; k++) {
		if (bin[k] == 0)
			continue;
		most = fmax(most, unit * (double)bin[k]);
		fprintf(chart->to, "%.6g %.6g %.6g\n", pow(10, (double)k / per_decade),
			pow(10, (double)(k + 1) / per_decade), unit * (double)bin[k]);
	}
	fputs("EOD\n", chart->to);
	return most;
}

/* The share that took at most so long, as a table named $share_I; y is -log10(1 - share). */
static void distribution_shares(struct ktr__chart *chart, const struct ktr__distribution *series,
				unsigned i, double low)
{
	const struct ktr__histogram *h = series->histogram;
	uint64_t first, last, count, before = 0;
	unsigned at = 0;

	fprintf(chart->to, "# at most [ns], -log10(1 - share), share\n$share_%u << EOD\n", i);
	fprintf(chart->to, "%.6g 0 0\n", low);
	while (ktr__histogram_next(h, &at, &first, &last, &count)) {
		double share = (double)(before += count) / (double)h->n;

		last = last > h->max ? h->max : last;
		/* The last one would lie at infinity: it ends where half of one is left. */
		if (before >= h->n)
			share = 1 - 0.5 / (double)h->n;
		fprintf(chart->to, "%.6g %.6g %.9g\n", last > 0 ? (double)last : 1,
			-log10(1 - share), share);
	}
	fputs("EOD\n", chart->to);
}

/* Each line ends below the text of the one before, which stands to its left: none crosses a text. */
static void distribution_mark_lines(struct ktr__chart *chart, const struct ktr__histogram *h,
				    int with_text)
{
	char text[64];

	if (chart->is_text)
		return;
	for (unsigned i = 0; i < DISTRIBUTION_MARKS; i++) {
		const struct distribution_mark *mark = &distribution_marks[i];
		uint64_t at;
		double x;

		if (!ktr__histogram_tell(h, mark->share, &at))
			break;
		x = at > 0 ? (double)at : 1;
		fprintf(chart->to,
			"set arrow from first %.6g, graph 0 to first %.6g, graph %g nohead lw 1.5"
			" dt 2 lc rgb '#%06x' front\n",
			x, x, with_text ? 0.97 - 0.085 * i : 1, mark->colour);
		if (!with_text)
			continue;
		snprintf(text, sizeof(text), "%s %s", mark->name, ktr__label_duration(at).text);
		fputs("set label ", chart->to);
		ktr__label_gnuplot(chart->to, text);
		fprintf(chart->to,
			" at first %.6g, graph %g left offset character 0.6,0 front boxed"
			" font '%s,10' tc rgb '#%06x'\n",
			x, 0.95 - 0.085 * i, ktr__chart_font(chart, 1), mark->colour);
	}
}

/* Where bars begin: below the share that one span is, or below 1, so that a single one shows. */
static double distribution_floor(const struct ktr__distribution *series, unsigned n, int as_shares)
{
	uint64_t most = 1;

	for (unsigned i = 0; as_shares && i < n; i++)
		most = series[i].histogram->n > most ? series[i].histogram->n : most;
	return DISTRIBUTION_FLOOR * (as_shares ? 100 / (double)most : 1);
}

/* Which colour is whose, in the picture's upper right corner; the table below has the whole names. */
static void distribution_legend(struct ktr__chart *chart, const struct ktr__distribution *series, unsigned n)
{
	char name[4 * KTR__LABEL_BYTES], text[5 * KTR__LABEL_BYTES];

	double x = chart->width - DISTRIBUTION_RIGHT;

	for (unsigned i = 0; i < n && n > 1 && !chart->is_text; i++) {
		double y = chart->top + 12 + 18.0 * i;

		ktr__label_fit(name, sizeof(name), series[i].name, 30, 0);
		snprintf(text, sizeof(text), "%s (%s)", name, ktr__label_count(series[i].histogram->n).text);
		ktr__chart_box(chart, x - 14, y - 6, 12, 12, series[i].colour);
		ktr__chart_text(chart, x - 22, y, "right", 9, 0, KTR__INK, text);
	}
}

/* The bars of one series; on a terminal, which has no colours, points of different characters with a key. */
static void distribution_bars(struct ktr__chart *chart, const struct ktr__distribution *series, unsigned i,
			      unsigned n, double floor)
{
	if (chart->is_text && n > 1) {
		fprintf(chart->to, "$bins_%u using (sqrt($1*$2)):3 with points title ", i);
		ktr__label_gnuplot(chart->to, series[i].name);
	} else {
		fprintf(chart->to,
			"$bins_%u using 1:3:1:2:(%g):3 with boxxyerror fs transparent solid %s"
			" noborder fc rgb '#%06x'",
			i, floor, n == 1 ? "0.9" : "0.45", series[i].colour);
	}
}

static void distribution_histogram(struct ktr__chart *chart, const struct ktr__distribution *series,
				   unsigned n, double low, double high, int as_shares)
{
	double most = 0, floor = distribution_floor(series, n, as_shares);

	for (unsigned i = 0; i < n; i++) {
		most = fmax(most, distribution_bins(chart, &series[i], i, low, high, as_shares));
		distribution_shares(chart, &series[i], i, low);
	}
	ktr__chart_durations(chart, 'x', low, high, 0);
	fprintf(chart->to,
		"set logscale y\nset yrange [%g:%g]\nset ylabel '%s (log scale)'\n"
		"set format y '%s'\n",
		floor, n == 1 ? floor * pow(most * 1.5 / floor, 1.55) : most * 4,
		as_shares ? "share of its spans" : "number", as_shares ? "%g %%" : "%.0s%c");
	fputs("set style textbox opaque margins 0.4,0.1 noborder\n", chart->to);
	if (n == 1)
		distribution_mark_lines(chart, series[0].histogram, 1);
	if (chart->is_text && n > 1)
		fputs("set key top right\n", chart->to);
	fputs("plot ", chart->to);
	for (unsigned i = 0; i < n; i++) {
		fputs(i ? ", " : "", chart->to);
		distribution_bars(chart, series, i, n, floor);
	}
	fputs("\nunset arrow\nunset key\n", chart->to);
	/* The texts stay out of the second panel. */
	fputs("unset label\n", chart->to);
}

static void distribution_share_plot(struct ktr__chart *chart,
				    const struct ktr__distribution *series, unsigned n, double low,
				    double high, const char *what)
{
	double most = 2;

	for (unsigned i = 0; i < n; i++)
		most = fmax(most, log10((double)series[i].histogram->n) + 0.4);
	ktr__chart_durations(chart, 'x', low, high, 1);
	fprintf(chart->to,
		"unset logscale y\nset yrange [0:%g]\n"
		"set ytics ('0 %%%%' 0, '50 %%%%' 0.30103, '90 %%%%' 1, '99 %%%%' 2,"
		" '99.9 %%%%' 3, '99.99 %%%%' 4, '99.999 %%%%' 5, '99.9999 %%%%' 6)\n"
		"set ylabel 'share that took at most so long'\nset xlabel ",
		most);
	ktr__label_gnuplot(chart->to, what);
	putc('\n', chart->to);
	if (n == 1)
		distribution_mark_lines(chart, series[0].histogram, 0);
	fputs("plot ", chart->to);
	for (unsigned i = 0; i < n; i++)
		fprintf(chart->to, "%s$share_%u using 1:2 with steps lw 2 lc rgb '#%06x'",
			i ? ", " : "", i, series[i].colour);
	putc('\n', chart->to);
}

/* A percentile, or "-" where there are too few numbers for it. */
static struct ktr__label_text distribution_quantile(const struct ktr__histogram *h, double share)
{
	struct ktr__label_text none = { "-" };
	uint64_t ns;

	return ktr__histogram_tell(h, share, &ns) ? ktr__label_duration(ns) : none;
}

/* The table below: a line of headings and one per series. */
static void distribution_table(struct ktr__chart *chart, const struct ktr__distribution *series,
			       unsigned n, double y)
{
	static const double column[] = { 420, 500, 580, 660, 740, 830 };
	static const char *const heading[] = { "number", "p50", "p90", "p99", "p99.9", "longest" };
	char text[4 * KTR__LABEL_BYTES];

	for (unsigned k = 0; k < 6; k++)
		ktr__chart_text(chart, column[k], y, "right", 9, 1, KTR__INK, heading[k]);
	for (unsigned i = 0; i < n; i++) {
		const struct ktr__histogram *h = series[i].histogram;

		y += DISTRIBUTION_ROW;
		ktr__chart_box(chart, 30, y - 6, 12, 12, series[i].colour);
		ktr__label_fit(text, sizeof(text), series[i].name, 44, 0);
		ktr__chart_text(chart, 50, y, "left", 9, 0, KTR__INK, text);
		ktr__chart_text(chart, column[0], y, "right", 9, 0, KTR__INK, ktr__label_count(h->n).text);
		for (unsigned k = 0; k < DISTRIBUTION_MARKS; k++)
			ktr__chart_text(
				chart, column[1 + k], y, "right", 9, 0, KTR__INK,
				distribution_quantile(h, distribution_marks[k].share).text);
		ktr__chart_text(chart, column[5], y, "right", 9, 0, KTR__INK, ktr__label_duration(h->max).text);
		ktr__label_fit(text, sizeof(text), series[i].remark, 52, 0);
		ktr__chart_text(chart, 845, y, "left", 9, 0, KTR__FAINT, text);
	}
}

/* The same for a terminal, before the picture. */
static void distribution_lines(const struct ktr__distribution *series, unsigned n)
{
	char name[4 * KTR__LABEL_BYTES];

	printf("%-24s %10s %9s %9s %9s %9s %9s\n", "", "number", "p50", "p90", "p99", "p99.9",
	       "longest");
	for (unsigned i = 0; i < n; i++) {
		const struct ktr__histogram *h = series[i].histogram;
		unsigned used = ktr__label_fit(name, sizeof(name), series[i].name, 24, 0);

		printf("%s%*s %10" PRIu64, name, (int)(24 - used), "", h->n);
		for (unsigned k = 0; k < DISTRIBUTION_MARKS; k++)
			printf(" %9s", distribution_quantile(h, distribution_marks[k].share).text);
		printf(" %9s\n", ktr__label_duration(h->max).text);
	}
}

void ktr__distribution_draw(struct ktr__chart *chart, const struct ktr__distribution *series,
			    unsigned n, const char *what, int as_shares)
{
	double table = DISTRIBUTION_ROW * (n + 1) + 10, low, high, room, middle;

	distribution_range(series, n, &low, &high);
	if (chart->is_text) {
		distribution_lines(series, n);
		table = 40;
	}
	room = chart->bottom - chart->top - table - 60;
	middle = chart->top + room * 0.55;
	/*
	 * Screen labels belong to the first plot of a multiplot, and must be gone for the second.
	 */
	distribution_table(chart, series, n, chart->bottom - table + 15);
	distribution_legend(chart, series, n);
	fputs("set multiplot\n", chart->to);
	ktr__chart_area(chart, DISTRIBUTION_LEFT, chart->width - DISTRIBUTION_RIGHT, chart->top,
			middle);
	distribution_histogram(chart, series, n, low, high, as_shares);
	fputs("unset object\nset format y\n", chart->to);
	ktr__chart_area(chart, DISTRIBUTION_LEFT, chart->width - DISTRIBUTION_RIGHT, middle + 12,
			chart->top + room);
	distribution_share_plot(chart, series, n, low, high, what);
	fputs("unset multiplot\n", chart->to);
}
