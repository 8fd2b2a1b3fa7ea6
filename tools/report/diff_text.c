/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A comparison for people: the traces, a table of what changed and of what cannot be told, and what to make of it.
 */
#include "tools/report/diff_text.h"

#include "analyze/print/render.h"
#include "ktr/session/drop.h"
#include "tools/report/diff.h"
#include "tools/report/report_names.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* [rows] Of what cannot be told, those farthest apart; more with --all. */
#define DIFF_UNKNOWN_ROWS 10u

static void diff_text_trace(FILE *to, const char *which, const struct ktr_reader_info *info,
			    const struct ktr__blocks *blocks)
{
	char text[512];
	uint64_t n_lost = blocks->n_lost + ktr__dropped_sum(info->n_dropped);
	double active_ns = ktr__blocks_active(blocks), all_ns = (double)(blocks->to_ns - blocks->from_ns);

	ktr__label_clean(text, sizeof(text), info->path, strlen(info->path));
	fprintf(to, "%s: %s: %s events in %s", which, text, ktr__label_count(blocks->n_events).text,
		ktr__label_duration(blocks->to_ns - blocks->from_ns).text);
	if (active_ns > 0 && active_ns < 0.9 * all_ns)
		fprintf(to, ", nearly all of them in %s", ktr__label_duration((uint64_t)active_ns).text);
	if (n_lost)
		fprintf(to, ", %s lost: rates are of what was kept", ktr__label_count(n_lost).text);
	fputc('\n', to);
}

static void diff_text_traces(const struct diff_report *report, FILE *to)
{
	const struct ktr__diff *diff = report->diff;
	char which[16];

	for (unsigned i = 0; i < diff->n_runs[0] + diff->n_runs[1]; i++) {
		int side = i >= diff->n_runs[0];
		unsigned nth = side ? i - diff->n_runs[0] : i;

		snprintf(which, sizeof(which), diff->n_runs[side] > 1 ? "%c%u" : "%c", 'A' + side, nth + 1);
		diff_text_trace(to, which, report->runs->walk[i].info, diff->run[i]);
	}
}

/* Fitted when all of them are known. */
static void diff_text_name(FILE *to, const char *name)
{
	char clean[1024];

	ktr__label_clean(clean, sizeof(clean), name, strlen(name));
	fprintf(to, REPORT_NAMES_NAME "%s" REPORT_NAMES_END, clean);
}

/* "+38 %", "2.4 x" or "1/3.1 x". */
static const char *diff_text_change(char *text, size_t size, double ratio)
{
	if (isnan(ratio))
		snprintf(text, size, "-");
	else if (!isfinite(ratio))
		snprintf(text, size, "new");
	else if (ratio <= 0)
		snprintf(text, size, "gone");
	else if (ratio >= 1e6 || ratio <= 1e-6)
		snprintf(text, size, "%.0e x", ratio);
	else if (ratio >= 2)
		snprintf(text, size, "%.3g x", ratio);
	else if (ratio <= 0.5)
		snprintf(text, size, "1/%.3g x", 1 / ratio);
	else
		snprintf(text, size, "%+.1f %%", (ratio - 1) * 100);
	return text;
}

/* "-3 % to +60 %", or that there is no interval. */
static const char *diff_text_interval(char *text, size_t size, const struct ktr__diff_row *row)
{
	char low[32], high[32];

	if (isfinite(row->high))
		snprintf(text, size, "%s to %s", diff_text_change(low, sizeof(low), row->low),
			 diff_text_change(high, sizeof(high), row->high));
	else
		snprintf(text, size, "too few to tell");
	return text;
}

static const char *diff_text_of(const struct diff_report *report, const struct ktr__diff_row *row)
{
	static const char *const quantile[] = { "p50", "p90", "p99" };

	if (row->what == KTR__DIFF_DURATION)
		return "length";
	if (row->what == KTR__DIFF_TIME || row->what == KTR__DIFF_TAIL)
		return quantile[row->share];
	if (report && report->diff->options.share)
		return "of all";
	return row->is_count ? "count" : "per s";
}

const char *diff_text_verdict(char *text, size_t size, const struct ktr__diff_row *row)
{
	char more[80];

	if (ktr__diff_is_change(row))
		diff_text_change(more, sizeof(more), row->ratio);
	else
		diff_text_interval(more, sizeof(more), row);
	snprintf(text, size, "%s %s, %s", diff_text_of(NULL, row), ktr__diff_word(row), more);
	return text;
}

static const char *diff_text_value(char *text, size_t size, const struct diff_report *report,
				   const struct ktr__diff_row *row, int side)
{
	double value = row->value[side];

	if (!(value > 0))
		snprintf(text, size, "-");
	else if (row->what == KTR__DIFF_DURATION)
		snprintf(text, size, "%s", ktr__label_duration((uint64_t)(value * 1e9)).text);
	else if (row->what == KTR__DIFF_TIME || row->what == KTR__DIFF_TAIL)
		snprintf(text, size, "%s", ktr__label_duration((uint64_t)value).text);
	else if (report->diff->options.share)
		snprintf(text, size, "%.3g %%", 100 * value);
	else if (value >= 1000)
		snprintf(text, size, "%s", ktr__label_count((uint64_t)(value + 0.5)).text);
	else
		snprintf(text, size, "%.3g", value);
	return text;
}

static void diff_text_title(const struct ktr__diff_row *row, char *name, size_t size)
{
	static const char *const what[KTR__DIFF_WHATS] = { [KTR__DIFF_DURATION] = "busy time",
							   [KTR__DIFF_EVENTS] = "all events" };

	if (what[row->what])
		snprintf(name, size, "%s", what[row->what]);
	else if (row->what == KTR__DIFF_CLASS)
		snprintf(name, size, "class %s", row->name);
	else
		snprintf(name, size, "%s", row->name);
}

static void diff_text_row(const struct diff_report *report, FILE *to, const struct ktr__diff_row *row)
{
	char name[1024], text[1024], sees[32];
	const struct ktr_reader_site *site = row->site[0] ? row->site[0] : row->site[1];

	fprintf(to, "  %-11s", ktr__diff_word(row));
	diff_text_title(row, name, sizeof(name));
	diff_text_name(to, name);
	fprintf(to, " %-6s", diff_text_of(report, row));
	for (int i = 0; i < 2; i++)
		fprintf(to, " %11s", diff_text_value(text, sizeof(text), report, row, i));
	fprintf(to, " %9s  %-22s", diff_text_change(text, sizeof(text), row->ratio),
		diff_text_interval(name, sizeof(name), row));
	if (isfinite(row->sees))
		fprintf(to, " %9s", diff_text_change(sees, sizeof(sees), row->sees));
	else
		fprintf(to, " %9s", "-");
	if (site) {
		ktr__render_said_format(site, text, sizeof(text));
		ktr__label_clean(name, sizeof(name), text, strlen(text));
		if (report->width)
			ktr__label_fit(text, sizeof(text), name, 60, 0);
		fprintf(to, "  %s", report->width ? text : name);
	}
	fputc('\n', to);
}

/* Changes first, then what cannot be told, then what is the same; each the largest first. */
static int diff_text_order(const void *x, const void *y)
{
	static const int place[] = { [KTR__DIFF_SAME] = 2, [KTR__DIFF_UNKNOWN] = 1 };
	const struct ktr__diff_row *a = *(const struct ktr__diff_row *const *)x;
	const struct ktr__diff_row *b = *(const struct ktr__diff_row *const *)y;
	double far_a = isnan(a->ratio) ? 0 : fabs(log(a->ratio)), far_b = isnan(b->ratio) ? 0 : fabs(log(b->ratio));

	if (place[a->verdict] != place[b->verdict])
		return place[a->verdict] - place[b->verdict];
	if (far_a != far_b)
		return far_a < far_b ? 1 : -1;
	return (a > b) - (a < b);
}

static void diff_text_rows(const struct diff_report *report, FILE *to)
{
	const struct ktr__diff *diff = report->diff;
	const struct ktr__diff_row **order = calloc(diff->n_rows + 1, sizeof(*order));
	unsigned n_shown = 0, n_unknown = 0;

	for (unsigned i = 0; order && i < diff->n_rows; i++)
		order[i] = &diff->row[i];
	if (order)
		qsort(order, diff->n_rows, sizeof(*order), diff_text_order);
	for (unsigned i = 0; order && i < diff->n_rows; i++) {
		if (!report->all && order[i]->verdict == KTR__DIFF_SAME)
			continue;
		if (!report->all && order[i]->verdict == KTR__DIFF_UNKNOWN && n_unknown++ >= DIFF_UNKNOWN_ROWS)
			continue;
		if (!n_shown++)
			fprintf(to,
				"\n%s%-13s" REPORT_NAMES_TABLE "  what" REPORT_NAMES_END
				" %-6s %11s %11s %9s  %-22s %9s%s\n",
				report->bold ? "\033[1m" : "", "", "of", "A", "B", "change", "which may be",
				"sees from", report->bold ? "\033[0m" : "");
		diff_text_row(report, to, order[i]);
	}
	if (n_unknown > DIFF_UNKNOWN_ROWS)
		fprintf(to, "  %-12s %u more; --all lists them\n", "cannot tell", n_unknown - DIFF_UNKNOWN_ROWS);
	free(order);
}

/* How to learn more than that. */
static void diff_text_advice(const struct diff_report *report, FILE *to)
{
	const struct ktr__diff *diff = report->diff;
	int is_single = diff->n_runs[0] == 1 && diff->n_runs[1] == 1;

	if (diff->options.identical)
		return;
	if (diff->n_of[KTR__DIFF_UNKNOWN])
		fprintf(to, "What cannot be told may have changed; seen is a change of what stands below \"sees from\", or "
			    "more.\n%s",
			is_single ? "Several runs of each can decide" : "More runs of each decide more");
	else if (is_single)
		fputs("How runs differ without a change is not known from one of each. Several tell", to);
	else
		return;
	fputs(":\n  ktr diff A1 A2 A3 A4 A5 -- B1 B2 B3 B4 B5\n", to);
}

/* What was looked at, and with which result. */
static void diff_text_sum(const struct diff_report *report, FILE *to)
{
	const struct ktr__diff *diff = report->diff;
	unsigned n_changes = diff->n_of[KTR__DIFF_MORE] + diff->n_of[KTR__DIFF_LESS];

	if (diff->options.identical) {
		fputs("\nA and B are the same trace\n", to);
		return;
	}
	fprintf(to, "\nof %u numbers %u changed, %u are the same within %g %%, %u cannot be told", diff->n_rows,
		n_changes, diff->n_of[KTR__DIFF_SAME], diff->options.least * 100, diff->n_of[KTR__DIFF_UNKNOWN]);
	fprintf(to, " (%g %% risk that any of this is wrong; noise is how %s differ)\n", diff->options.alpha * 100,
		diff->n_runs[0] == 1 && diff->n_runs[1] == 1 ? "the parts of a run" : "runs");
	if (diff->n_left_out)
		fputs("some spans were left out: there are too many names\n", to);
}

int diff_text(const struct diff_report *report, FILE *to)
{
	char *text = NULL;
	size_t n = 0;
	FILE *marked = open_memstream(&text, &n);
	int rc = -ENOMEM;

	if (!marked)
		return rc;
	diff_text_traces(report, marked);
	diff_text_rows(report, marked);
	diff_text_sum(report, marked);
	diff_text_advice(report, marked);
	if (fclose(marked) == 0 && text)
		rc = report_names_write(to, text, report->width);
	free(text);
	return rc;
}
