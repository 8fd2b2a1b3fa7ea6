/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns that a chart shows are found by their names, which are those of the questions' files. What stands in
 * an answer is a text of somebody else's: it is made clean before it is a label.
 */
#include "tools/fleet/answer_chart.h"

#include "tools/fleet/utc.h"
#include "visualize/chart/chart.h"
#include "visualize/model/label.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_CHART_ROW    28u	 /* [pixels] */
#define ANSWER_CHART_LEFT   430u /* [pixels] where the labels end */
#define ANSWER_CHART_LINES  560u /* [pixels] of a chart over time, without its legend */
#define ANSWER_CHART_SERIES 12u
#define ANSWER_CHART_TITLE  380 /* [bytes] of a name in it */

enum answer_chart_form { ANSWER_BARS, ANSWER_DOTS, ANSWER_LINES };

static const struct answer_chart_kind {
	const char *question, *title;
	enum answer_chart_form form;
	const char *label[4]; /* columns that name a row, or a series */
	const char *value[2];
	const char *side[2]; /* what the values are called */
} answer_chart_kinds[] = {
	{ "top", "The busiest call sites, by events", ANSWER_BARS, { "class", "site" }, { "events" }, { NULL } },
	{ "slow", "The slowest spans", ANSWER_BARS, { "host", "grp", "id", "at" }, { "dur_ns" }, { NULL } },
	{ "losses", "Events that were lost, by host", ANSWER_BARS, { "host", "why" }, { "lost" }, { NULL } },
	{ "hosts", "Events that were lost, of each host's traces", ANSWER_BARS, { "host" }, { "events_lost" },
	  { NULL } },
	{ "diff", "99th percentile of each span", ANSWER_DOTS, { "grp", "id" }, { "p99_a_ns", "p99_b_ns" },
	  { NULL } },
	{ "span", "Median and 99th percentile by minute", ANSWER_LINES, { "host", "build", "grp", "id" },
	  { "p50_ns", "p99_ns" }, { "median", "99th percentile" } },
};

/* What is drawn of one row. */
struct answer_mark {
	char label[KTR__LABEL_BYTES];
	double value[2], at; /* [ns] or a number; [s] of UTC */
	unsigned series;     /* of a chart over time */
};

struct answer_picture {
	const struct answer_chart *how;
	const struct answer_chart_kind *kind;
	struct answer_mark *mark; /* owned */
	unsigned n, n_series, n_left; /* rows of series that are not drawn */
	char series[ANSWER_CHART_SERIES][KTR__LABEL_BYTES];
	double low, high; /* of what is above 0 */
	int is_time;	  /* the values are durations */
};

static const struct answer_chart_kind *answer_chart_kind(const char *question)
{
	for (unsigned i = 0; i < sizeof(answer_chart_kinds) / sizeof(*answer_chart_kinds); i++)
		if (strcmp(answer_chart_kinds[i].question, question) == 0)
			return &answer_chart_kinds[i];
	return NULL;
}

int answer_chart_check(const struct answer_chart *chart, struct ktr_error *err)
{
	enum ktr__gnuplot_format format;
	int rc;

	if (!answer_chart_kind(chart->question))
		return ktr_error_set(err, EINVAL, "there is no chart of %s", chart->question);
	rc = ktr__gnuplot_format_of(chart->path, &format, err);
	if (!rc && format == KTR__GNUPLOT_TEXT)
		return ktr_error_set(err, EINVAL, "a chart's file is called .png, .svg, .pdf or .gp");
	return rc;
}

/* ---- what there is to draw ---- */

static int answer_column(const struct answer_table *table, const char *name)
{
	for (unsigned c = 0; name && c < table->n_columns; c++)
		if (strcmp(table->cell[c], name) == 0)
			return (int)c;
	return -1;
}

static const char *answer_cell(const struct answer_table *table, unsigned row, const char *name)
{
	int c = answer_column(table, name);

	return c < 0 ? "" : table->cell[(row + 1) * table->n_columns + (unsigned)c];
}

/* The words that name a row, those that are there. */
static void answer_label(const struct answer_table *table, const struct answer_chart_kind *kind, unsigned row,
			 char *label)
{
	char text[KTR__LABEL_BYTES] = "";

	for (unsigned i = 0; i < 4; i++) {
		const char *word = answer_cell(table, row, kind->label[i]);
		size_t n = strlen(text);

		if (*word)
			snprintf(text + n, sizeof(text) - n, "%s%s", n ? "  " : "", word);
	}
	ktr__label_clean(label, KTR__LABEL_BYTES, text, strlen(text));
}

/* Which series a label is of; ANSWER_CHART_SERIES: there are too many. */
static unsigned answer_series(struct answer_picture *p, const char *label)
{
	unsigned i = 0;

	while (i < p->n_series && strcmp(p->series[i], label) != 0)
		i++;
	if (i == p->n_series && i < ANSWER_CHART_SERIES)
		memcpy(p->series[p->n_series++], label, KTR__LABEL_BYTES);
	return i;
}

static void answer_mark(struct answer_picture *p, const struct answer_table *table, unsigned row)
{
	struct answer_mark *mark = &p->mark[p->n];
	int64_t at;

	answer_label(table, p->kind, row, mark->label);
	for (unsigned i = 0; i < 2; i++) {
		mark->value[i] = p->kind->value[i] ? strtod(answer_cell(table, row, p->kind->value[i]), NULL) : 0;
		if (mark->value[i] > 0) {
			p->low = fmin(p->low, mark->value[i]);
			p->high = fmax(p->high, mark->value[i]);
		}
	}
	if (p->kind->form == ANSWER_LINES) {
		mark->series = answer_series(p, mark->label);
		if (mark->series == ANSWER_CHART_SERIES) {
			p->n_left++;
			return;
		}
		if (utc_parse(answer_cell(table, row, "minute"), &at))
			return;
		mark->at = (double)(at / 1000000000);
	}
	p->n++;
}

/* ---- words ---- */

static struct ktr__label_text answer_value(const struct answer_picture *p, double value)
{
	uint64_t whole = value > 0 && value < 1e18 ? (uint64_t)value : 0;

	return p->is_time ? ktr__label_duration(whole) : ktr__label_count(whole);
}

static void answer_frame(const struct answer_picture *p, struct ktr__frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	if (*p->how->about)
		snprintf(frame->title, sizeof(frame->title), "%s: %.*s", p->kind->title, ANSWER_CHART_TITLE,
			 p->how->about);
	else
		snprintf(frame->title, sizeof(frame->title), "%s", p->kind->title);
	snprintf(frame->subtitle, sizeof(frame->subtitle), "It rests on %.490s", p->how->basis);
	if (p->n_left)
		snprintf(frame->note, sizeof(frame->note), "The first %u series are drawn; %u points of others are not.",
			 ANSWER_CHART_SERIES, p->n_left);
	snprintf(frame->command, sizeof(frame->command), "%s", p->how->command);
}

/* ---- charts ---- */

static void answer_row_labels(const struct answer_picture *p, struct ktr__chart *chart)
{
	char text[4 * KTR__LABEL_BYTES];

	for (unsigned i = 0; i < p->n; i++) {
		ktr__chart_fit(chart, text, sizeof(text), p->mark[i].label, 52);
		ktr__chart_text(chart, 20, chart->top + (i + 0.5) * ANSWER_CHART_ROW, "left", 10, 0, KTR__INK,
				text);
	}
}

static void answer_rows_area(const struct answer_picture *p, struct ktr__chart *chart)
{
	ktr__chart_area(chart, ANSWER_CHART_LEFT, chart->width - 130, chart->top,
			chart->top + p->n * ANSWER_CHART_ROW);
	fprintf(chart->to, KTR__CHART_ROWS "set yrange [%u:0]\n", p->n);
}

static void answer_bars(const struct answer_picture *p, struct ktr__chart *chart)
{
	double most = p->high > 0 ? p->high : 1, unit = 1;
	const char *name = "";

	if (p->is_time)
		unit = most >= 1e9 ? (name = "s", 1e9) : most >= 1e6 ? (name = "ms", 1e6)
		       : most >= 1e3 ? (name = "us", 1e3) : (name = "ns", 1);
	answer_row_labels(p, chart);
	for (unsigned i = 0; i < p->n; i++) {
		double bar = p->mark[i].value[0] / most * (chart->width - 130 - ANSWER_CHART_LEFT);

		ktr__chart_text(chart, ANSWER_CHART_LEFT + 8 + bar, chart->top + (i + 0.5) * ANSWER_CHART_ROW,
				"left", 9, 0, KTR__FAINT, answer_value(p, p->mark[i].value[0]).text);
	}
	answer_rows_area(p, chart);
	ktr__chart_numbers(chart, 'x', 0, most / unit, 8);
	if (*name)
		fprintf(chart->to, "set xlabel '%s'\n", name);
	fputs("# row, value\n$rows << EOD\n", chart->to);
	for (unsigned i = 0; i < p->n; i++)
		fprintf(chart->to, "%u %.12g\n", i, p->mark[i].value[0] / unit);
	fprintf(chart->to,
		"EOD\nplot $rows using (0):($1+0.5):(0):2:($1+0.18):($1+0.82) with boxxyerror fs solid noborder"
		" lc rgb '#%06x'\n",
		KTR__BLUE);
}

/* A log axis of durations, with a name at each power of ten. */
static void answer_log(const struct answer_picture *p, struct ktr__chart *chart, char axis)
{
	double low = p->low < p->high ? p->low : p->high > 0 ? p->high / 2 : 1, high = p->high > 0 ? p->high : 10;
	double power = pow(10, floor(log10(low / 1.3)));
	int n = 0;

	fprintf(chart->to, "set logscale %c\nset %crange [%.6g:%.6g]\nset %ctics (", axis, axis, low / 1.3, high * 1.3,
		axis);
	for (; power <= high * 1.3; power *= 10)
		for (unsigned i = 1; i < 10; i++) {
			int named = i == 1 || (high / low < 20 && (i == 2 || i == 5));

			if (power * i < low / 1.3 || power * i > high * 1.3)
				continue;
			fprintf(chart->to, "%s'%s' %.6g %d", n++ ? ", " : "",
				named ? ktr__label_duration((uint64_t)(power * i)).text : "", power * i,
				named ? 0 : 1);
		}
	fputs(")\n", chart->to);
}

static void answer_legend(struct ktr__chart *chart, double x, double y, uint32_t colour, const char *words)
{
	char text[4 * KTR__LABEL_BYTES];

	ktr__chart_fit(chart, text, sizeof(text), words, 60);
	ktr__chart_box(chart, x, y - 6, 12, 12, colour);
	ktr__chart_text(chart, x + 18, y, "left", 9, 0, KTR__INK, text);
}

static void answer_dots(const struct answer_picture *p, struct ktr__chart *chart)
{
	static const uint32_t colours[] = { KTR__SKY, KTR__BLUE };
	const char *and = strstr(p->how->about, " and ");
	char side[KTR__LABEL_BYTES];

	answer_row_labels(p, chart);
	for (unsigned i = 0; i < 2 && and; i++) {
		snprintf(side, sizeof(side), "%.*s", i ? (int)strlen(and + 5) : (int)(and - p->how->about),
			 i ? and + 5 : p->how->about);
		answer_legend(chart, ANSWER_CHART_LEFT + 330.0 * i, chart->top + p->n * ANSWER_CHART_ROW + 50,
			      colours[i], side);
	}
	answer_rows_area(p, chart);
	answer_log(p, chart, 'x');
	fputs("# row, one side, the other [ns]; 0: it has none\n$rows << EOD\n", chart->to);
	for (unsigned i = 0; i < p->n; i++)
		fprintf(chart->to, "%u %.12g %.12g\n", i, p->mark[i].value[0], p->mark[i].value[1]);
	fprintf(chart->to,
		"EOD\nplot $rows using ($2>0&&$3>0?$2:1/0):($1+0.5):($3-$2):(0) with vectors nohead lw 2"
		" lc rgb '#%06x', "
		"$rows using ($2>0?$2:1/0):($1+0.5) with points pt 7 ps 2.3 lc rgb '#%06x', "
		"$rows using ($3>0?$3:1/0):($1+0.5) with points pt 7 ps 1.6 lc rgb '#%06x'\n",
		KTR__PALE, colours[0], colours[1]);
}

static void answer_lines(const struct answer_picture *p, struct ktr__chart *chart)
{
	double first = p->mark[0].at, last = first;

	for (unsigned i = 0; i < p->n; i++) {
		first = fmin(first, p->mark[i].at);
		last = fmax(last, p->mark[i].at);
	}
	for (unsigned s = 0; s < p->n_series; s++)
		answer_legend(chart, 110 + 530.0 * (s % 2), chart->top + ANSWER_CHART_LINES - 20 + 20.0 * (s / 2),
			      ktr__palette(s), p->series[s]);
	ktr__chart_area(chart, 110, chart->width - 40, chart->top, chart->top + ANSWER_CHART_LINES - 90);
	fprintf(chart->to,
		"set xdata time\nset timefmt '%%s'\nset format x '%s'\nset xrange ['%.0f':'%.0f']\n"
		"set xlabel 'UTC: thick is the 99th percentile, thin the median'\n",
		last - first > 2 * 86400 ? "%m-%d %H:%M" : "%H:%M", first - 60, last + 60);
	answer_log(p, chart, 'y');
	for (unsigned s = 0; s < p->n_series; s++) {
		fprintf(chart->to, "# [s] of UTC, median, 99th percentile [ns]\n$series%u << EOD\n", s);
		for (unsigned i = 0; i < p->n; i++)
			if (p->mark[i].series == s)
				fprintf(chart->to, "%.0f %.12g %.12g\n", p->mark[i].at, p->mark[i].value[0],
					p->mark[i].value[1]);
		fputs("EOD\n", chart->to);
	}
	for (unsigned s = 0; s < p->n_series; s++)
		fprintf(chart->to,
			"%s$series%u using 1:2 with linespoints pt 6 ps 1 lw 1 lc rgb '#%06x', "
			"$series%u using 1:3 with linespoints pt 7 ps 1.2 lw 2.5 lc rgb '#%06x'",
			s ? ", " : "plot ", s, ktr__palette(s), s, ktr__palette(s));
	fputc('\n', chart->to);
}

static int answer_draw(const struct answer_picture *p, struct ktr_error *err)
{
	static void (*const forms[])(const struct answer_picture *, struct ktr__chart *) = {
		[ANSWER_BARS] = answer_bars, [ANSWER_DOTS] = answer_dots, [ANSWER_LINES] = answer_lines
	};
	unsigned inner = p->kind->form == ANSWER_LINES ? ANSWER_CHART_LINES + 20 * ((p->n_series + 1) / 2)
							: p->n * ANSWER_CHART_ROW + 70;
	struct ktr__chart chart;
	struct ktr__frame frame;
	int rc;

	answer_frame(p, &frame);
	rc = ktr__chart_begin(&chart, p->how->path, KTR__CHART_WIDTH,
			      inner + ktr__chart_frame_height(KTR__CHART_WIDTH, &frame), err);
	if (rc)
		return rc;
	ktr__chart_style(&chart);
	ktr__chart_frame(&chart, &frame);
	forms[p->kind->form](p, &chart);
	return ktr__chart_end(&chart, err);
}

int answer_chart_draw(const struct answer_chart *chart, const struct answer_table *table, struct ktr_error *err)
{
	struct answer_picture p = { .how = chart, .kind = answer_chart_kind(chart->question), .low = HUGE_VAL };
	size_t n = table->n_rows ? table->n_rows - 1 : 0;
	int rc;

	if (!n)
		return ktr_error_set(err, ENODATA, "%s: the answer has no rows to draw", chart->path);
	p.mark = calloc(n, sizeof(*p.mark));
	if (!p.mark)
		return ktr_error_set(err, ENOMEM, "no memory");
	p.is_time = strstr(p.kind->value[0], "_ns") != NULL;
	for (unsigned row = 0; row < n; row++)
		answer_mark(&p, table, row);
	if (!(p.low < HUGE_VAL))
		p.low = 1;
	rc = p.n ? answer_draw(&p, err)
		 : ktr_error_set(err, EPROTO, "%s: the answer makes no sense", chart->path);
	free(p.mark);
	return rc;
}
