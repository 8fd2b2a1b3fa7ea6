/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A comparison for people: the two traces, a table of spans and one of call sites, the surest changes
 * first, and one line that says how much was looked at.
 */
#include "tools/diff.h"

#include "visualize/label.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIFF_NAME_COLUMNS 34u

static void diff_text_trace(FILE *to, char which, const struct ktr_reader_info *info,
			    const struct ktr__blocks *blocks)
{
	char text[512], n[40], length[40];

	ktr__label_clean(text, sizeof(text), info->path, strlen(info->path));
	fprintf(to, "%c: %s: %s events in %s", which, text,
		ktr__label_count(n, sizeof(n), blocks->n_events),
		ktr__label_duration(length, sizeof(length), blocks->to_ns - blocks->from_ns));
	if (blocks->n_lost)
		fprintf(to, ", %s lost: rates are of what was kept",
			ktr__label_count(n, sizeof(n), blocks->n_lost));
	fputc('\n', to);
}

static void diff_text_name(FILE *to, const char *name)
{
	char clean[512], fit[512];
	unsigned columns;

	ktr__label_clean(clean, sizeof(clean), name, strlen(name));
	columns = ktr__label_fit(fit, sizeof(fit), clean, DIFF_NAME_COLUMNS - 2, 0);
	fprintf(to, "%s%*s", fit, (int)(DIFF_NAME_COLUMNS - columns), "");
}

/* "+38 %", "2.4 x", "1/3.1 x" */
static const char *diff_text_change(char *text, size_t size, double ratio)
{
	if (!isfinite(ratio))
		snprintf(text, size, "new");
	else if (ratio <= 0)
		snprintf(text, size, "gone");
	else if (ratio >= 2)
		snprintf(text, size, "%.3g x", ratio);
	else if (ratio <= 0.5)
		snprintf(text, size, "1/%.3g x", 1 / ratio);
	else
		snprintf(text, size, "%+.1f %%", (ratio - 1) * 100);
	return text;
}

static const char *diff_text_p(char *text, size_t size, double p)
{
	if (p < 1e-9)
		snprintf(text, size, "<1e-9");
	else
		snprintf(text, size, "%.2g", p);
	return text;
}

/* The words of a verdict. */
static const char *diff_text_word(const struct ktr__diff_test *test, const char *more,
				  const char *less)
{
	switch (test->verdict) {
	case KTR__DIFF_MORE:
		return more;
	case KTR__DIFF_LESS:
		return less;
	case KTR__DIFF_UNKNOWN:
		return "too few";
	default:
		return "same";
	}
}

static int diff_text_is_shown(const struct diff_report *report, const struct ktr__diff_test *test)
{
	return report->all || test->verdict == KTR__DIFF_MORE || test->verdict == KTR__DIFF_LESS;
}

static void diff_text_heading(const struct diff_report *report, FILE *to, int *done,
			      const char *text)
{
	if (!*done)
		fprintf(to, "\n%s%s%s\n", report->bold ? "\033[1m" : "", text,
			report->bold ? "\033[0m" : "");
	*done = 1;
}

/* Change, its interval, and how likely it is noise. */
static void diff_text_test(FILE *to, const struct ktr__diff_test *test, int with_interval)
{
	char change[32], low[32], high[32], p[32], interval[80] = "";

	if (test->verdict == KTR__DIFF_UNKNOWN) {
		fputc('\n', to);
		return;
	}
	if (with_interval)
		snprintf(interval, sizeof(interval), "%s to %s",
			 diff_text_change(low, sizeof(low), test->ranks.low),
			 diff_text_change(high, sizeof(high), test->ranks.high));
	fprintf(to, " %9s  %-22s %s\n", diff_text_change(change, sizeof(change), test->ranks.ratio),
		interval, diff_text_p(p, sizeof(p), test->p));
}

/* ---- spans ---- */

static int diff_text_by_span(const void *x, const void *y)
{
	const struct ktr__diff_span *const *a = x, *const *b = y;
	const struct ktr__diff_test *s = ktr__diff_worse(*a), *t = ktr__diff_worse(*b);

	if (s->p != t->p)
		return (s->p > t->p) - (s->p < t->p);
	return (*a > *b) - (*a < *b);
}

static void diff_text_quantile(FILE *to, const struct ktr__blocks_row *row, unsigned share)
{
	char text[40];

	fprintf(to, " %9s",
		row && row->all.n
			? ktr__label_duration(
				  text, sizeof(text),
				  ktr__histogram_quantile(&row->all, ktr__blocks_share[share]))
			: "-");
}

static void diff_text_span(const struct diff_report *report, FILE *to,
			   const struct ktr__diff_span *span, const struct ktr__diff_test *test,
			   unsigned share, int *done)
{
	static const char *const quantile[] = { "p50", "p90", "p99" };

	if (!diff_text_is_shown(report, test))
		return;
	diff_text_heading(report, to, done,
			  "span                                         of         A         B"
			  "    change  interval               noise");
	fprintf(to, "  %-7s ", diff_text_word(test, "slower", "faster"));
	diff_text_name(to, (span->a ? span->a : span->b)->name);
	fprintf(to, " %s", quantile[share]);
	diff_text_quantile(to, span->a, share);
	diff_text_quantile(to, span->b, share);
	diff_text_test(to, test, 1);
}

static void diff_text_spans(const struct diff_report *report, FILE *to)
{
	const struct ktr__diff *diff = report->diff;
	const struct ktr__diff_span **order = calloc(diff->n_spans + 1, sizeof(*order));
	int done = 0;

	for (unsigned i = 0; order && i < diff->n_spans; i++)
		order[i] = &diff->span[i];
	if (order && diff->n_spans)
		qsort(order, diff->n_spans, sizeof(*order), diff_text_by_span);
	for (unsigned i = 0; order && i < diff->n_spans; i++) {
		diff_text_span(report, to, order[i], &order[i]->half, 0, &done);
		if (order[i]->tail_share)
			diff_text_span(report, to, order[i], &order[i]->tail, order[i]->tail_share,
				       &done);
	}
	free(order);
}

/* ---- sites ---- */

static int diff_text_by_site(const void *x, const void *y)
{
	const struct ktr__diff_site *const *a = x, *const *b = y;

	if ((*a)->rate.p != (*b)->rate.p)
		return ((*a)->rate.p > (*b)->rate.p) - ((*a)->rate.p < (*b)->rate.p);
	return (*a > *b) - (*a < *b);
}

static void diff_text_rate(const struct diff_report *report, FILE *to, uint64_t n,
			   const struct ktr__blocks *blocks)
{
	if (report->diff->options.share)
		fprintf(to, " %8.3g%%",
			100 * (double)n / (double)(blocks->n_events ? blocks->n_events : 1));
	else
		fprintf(to, " %9.3g", (double)n / ktr__blocks_seconds(blocks) / KTR__BLOCKS);
}

static void diff_text_sites(const struct diff_report *report, FILE *to)
{
	const struct ktr__diff *diff = report->diff;
	const struct ktr__diff_site **order = calloc(diff->n_sites + 1, sizeof(*order));
	int done = 0;

	for (unsigned i = 0; order && i < diff->n_sites; i++)
		order[i] = &diff->site[i];
	if (order && diff->n_sites)
		qsort(order, diff->n_sites, sizeof(*order), diff_text_by_site);
	for (unsigned i = 0; order && i < diff->n_sites; i++) {
		const struct ktr__diff_site *s = order[i];
		char format[256], fit[256];

		if (!diff_text_is_shown(report, &s->rate))
			continue;
		diff_text_heading(
			report, to, &done,
			diff->options.share
				? "call site                                    of all:  A         B    change  noise"
				: "call site                                   per s:  A         B    change  noise");
		fprintf(to, "  %-7s ", diff_text_word(&s->rate, "more", "fewer"));
		diff_text_name(to, (s->a ? s->a : s->b)->name);
		diff_text_rate(report, to, s->n_a, diff->a);
		diff_text_rate(report, to, s->n_b, diff->b);
		ktr__label_clean(format, sizeof(format), (s->a ? s->a : s->b)->format,
				 strlen((s->a ? s->a : s->b)->format));
		ktr__label_fit(fit, sizeof(fit), format, 60, 0);
		if (s->rate.verdict == KTR__DIFF_UNKNOWN) {
			fprintf(to, "%*s%s\n", 19, "", fit);
			continue;
		}
		fprintf(to, " %9s  %-7s %s\n",
			diff_text_change((char[32]){ 0 }, 32, s->rate.ranks.ratio),
			diff_text_p((char[32]){ 0 }, 32, s->rate.p), fit);
	}
	free(order);
}

/* What was looked at, and with which result. */
static void diff_text_sum(const struct diff_report *report, FILE *to)
{
	const struct ktr__diff *diff = report->diff;
	unsigned n_few = 0;

	for (unsigned i = 0; i < diff->n_spans; i++)
		n_few += diff->span[i].half.verdict == KTR__DIFF_UNKNOWN;
	for (unsigned i = 0; i < diff->n_sites; i++)
		n_few += diff->site[i].rate.verdict == KTR__DIFF_UNKNOWN;
	if (diff->n_changes)
		fprintf(to, "\n%u of %u spans and call sites changed", diff->n_changes,
			diff->n_spans + diff->n_sites - n_few);
	else
		fprintf(to, "\nno change beyond noise in %u spans and call sites",
			diff->n_spans + diff->n_sites - n_few);
	fprintf(to, " (by at least %g %%, %g %% risk of any false alarm)",
		diff->options.least * 100, diff->options.alpha * 100);
	if (n_few)
		fprintf(to, "; %u are too few to tell", n_few);
	if (diff->a->n_left_out || diff->b->n_left_out)
		fputs("; some had too many names", to);
	fputc('\n', to);
}

void diff_text(const struct diff_report *report, FILE *to)
{
	diff_text_trace(to, 'A', report->info[0], report->diff->a);
	diff_text_trace(to, 'B', report->info[1], report->diff->b);
	diff_text_spans(report, to);
	diff_text_sites(report, to);
	diff_text_sum(report, to);
}
