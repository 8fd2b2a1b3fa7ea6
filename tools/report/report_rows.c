/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of a report that are about rows: how long spans, pairs and states lasted, what share of its
 * time each row spent in each state, what values counters had.
 */
#include "tools/report/report_rows.h"

#include "tools/report/report.h"
#include "tools/report/report_text.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <string.h>

/* Rows without a whole span rank by what there is of them. */
static uint64_t report_rows_time_rank(const struct ktr__tally_row *row)
{
	return row->durations.n ? (uint64_t)row->durations.sum + (1u << 20)
				: row->n_no_start + row->n_no_end;
}

static uint64_t report_rows_row_rank(const struct report *report, unsigned i,
				     enum ktr_event_kind kind)
{
	const struct ktr__tally_row *row = report->tally->row[i];

	if (row->kind != kind || row->pair)
		return 0;
	if (kind == KTR_KIND_COUNTER)
		return row->n;
	return report_rows_time_rank(row);
}

static uint64_t report_rows_span_rank(const struct report *report, unsigned i)
{
	return report_rows_row_rank(report, i, KTR_KIND_START);
}

static uint64_t report_rows_state_rank(const struct report *report, unsigned i)
{
	return report_rows_row_rank(report, i, KTR_KIND_STATE);
}

static uint64_t report_rows_pair_rank(const struct report *report, unsigned i)
{
	const struct ktr__tally_row *row = report->tally->row[i];

	return row->pair ? report_rows_time_rank(row) : 0;
}

static uint64_t report_rows_counter_rank(const struct report *report, unsigned i)
{
	return report_rows_row_rank(report, i, KTR_KIND_COUNTER);
}

/* Several processes? Then rows tell theirs. */
static int report_rows_many_processes(const struct report *report)
{
	const struct ktr__tally *t = report->tally;

	for (unsigned i = 1; i < t->n_rows; i++)
		if (t->row[i]->process_key != t->row[0]->process_key)
			return 1;
	return 0;
}

/* Which of the processes of its pid a row's is, from 1, in the order in which they appeared; 0: the only one. */
static unsigned report_rows_which(const struct report *report, const struct ktr__tally_row *row)
{
	const struct ktr__tally *t = report->tally;
	unsigned n = 0, which = 0;

	for (unsigned i = 0; i < t->n_rows; i++) {
		const struct ktr__tally_row *other = t->row[i];
		unsigned k = 0;

		if (!other->thread || other->thread->pid != row->thread->pid)
			continue;
		while (t->row[k]->process_key != other->process_key)
			k++;
		n += k == i; /* the first row of that process */
		if (other->process_key == row->process_key && !which)
			which = n;
	}
	return n > 1 ? which : 0;
}

/* Does the id begin with its group, so that it says it all? */
static int report_rows_says_group(const struct ktr__tally_row *row)
{
	size_t n = strlen(row->group);

	return row->ident.n_bytes >= n && memcmp(row->ident.bytes, row->group, n) == 0;
}

/* "group id: state", and the process if there are several. */
static void report_rows_row_name(const struct report *report, FILE *to,
				 const struct ktr__tally_row *row)
{
	char name[1200];
	unsigned which;
	int n;

	if (row->other)
		n = snprintf(name, sizeof(name), "%.200s (all others)", row->group);
	else
		n = snprintf(name, sizeof(name), "%.200s%s%.*s%s%.*s",
			     report_rows_says_group(row) ? "" : row->group, report_rows_says_group(row) ? "" : " ",
			     (int)(row->ident.n_bytes < 400 ? row->ident.n_bytes : 400),
			     row->ident.bytes, row->kind == KTR_KIND_STATE ? ": " : "",
			     (int)(row->state.n_bytes < 400 ? row->state.n_bytes : 400),
			     row->state.bytes);
	if (row->thread && report_rows_many_processes(report)) {
		which = report_rows_which(report, row);
		snprintf(name + n, sizeof(name) - (size_t)n, which ? " [%u #%u]" : " [%u]", row->thread->pid,
			 which);
	}
	report_text_name(to, name, strlen(name));
}

/* What should be known before the numbers are believed. */
static void report_rows_doubts(FILE *to, const struct ktr__tally_row *row)
{
	const char *between = "  ";
	const struct {
		uint64_t n;
		const char *what;
	} doubts[] = { { row->n_unsure, "across a loss" },
		       { row->n_nested, "nested" },
		       { row->n_no_start, "without start" },
		       { row->n_no_end, "without end" } };

	for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
		if (!doubts[i].n)
			continue;
		fprintf(to, "%s%" PRIu64 " %s", between, doubts[i].n, doubts[i].what);
		between = ", ";
	}
	fputc('\n', to);
}

#define REPORT_ROWS_BAR 40u /* [columns] of the longest bar */

/* How often the row lasted how long, by powers of two. */
static void report_rows_histogram(FILE *to, const struct ktr__histogram *h)
{
	uint64_t count[KTR__HISTOGRAM_POWERS], most = 1;
	unsigned first = KTR__HISTOGRAM_POWERS, last = 0;

	ktr__histogram_powers(h, count);
	for (unsigned i = 0; i < KTR__HISTOGRAM_POWERS; i++) {
		if (!count[i])
			continue;
		first = first < i ? first : i;
		last = i;
		most = count[i] > most ? count[i] : most;
	}
	for (unsigned i = first; i <= last; i++) {
		unsigned bar = (unsigned)((double)count[i] / (double)most * REPORT_ROWS_BAR + 0.5);

		fprintf(to, "    %9s to %9s %11s %6.2f %% %.*s\n",
			ktr__label_duration(i ? 1ull << (i - 1) : 0).text,
			ktr__label_duration(i < 64 ? 1ull << i : UINT64_MAX).text, ktr__label_count(count[i]).text,
			100 * (double)count[i] / (double)h->n, (int)(bar || !count[i] ? bar : 1),
			"########################################");
	}
}

/* A percentile, or "-" where there are too few numbers for it. */
static void report_rows_quantile(FILE *to, const struct ktr__histogram *h, double q)
{
	uint64_t ns;

	if (ktr__histogram_tell(h, q, &ns))
		report_text_duration(to, (double)ns);
	else
		fprintf(to, " %9s", "-");
}

static void report_rows_durations(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__tally_row *row = report->tally->row[i];
	static const double quantile[] = { 0.5, 0.9, 0.99, 0.999 };
	const struct ktr__histogram *h = &row->durations;

	report_rows_row_name(report, to, row);
	report_text_count(to, h->n, 11);
	if (h->n) {
		report_text_duration(to, h->sum);
		report_text_duration(to, h->mean);
		report_text_duration(to, (double)h->min);
		for (unsigned k = 0; k < sizeof(quantile) / sizeof(quantile[0]); k++)
			report_rows_quantile(to, h, quantile[k]);
		report_text_duration(to, (double)h->max);
	}
	report_rows_doubts(to, row);
	if (report->histogram && h->n)
		report_rows_histogram(to, h);
}

#define REPORT_DURATIONS                                                                           \
	"      count     total      mean       min       p50       p90       p99     p99.9       max"

void report_rows_spans(const struct report *report, FILE *to)
{
	static const struct report_table table = { "span", REPORT_DURATIONS, "spans", report_rows_span_rank,
						   report_rows_durations };

	report_table(report, to, &table, report->tally->n_rows);
}

void report_rows_pairs(const struct report *report, FILE *to)
{
	static const struct report_table table = { "pair", REPORT_DURATIONS, "pairs", report_rows_pair_rank,
						   report_rows_durations };
	uint64_t n_untracked = ktr__spans_n_untracked(report->tally->spans);

	report_table(report, to, &table, report->tally->n_rows);
	if (n_untracked)
		fprintf(to, "  %s beginnings left out: too many were open at once\n",
			ktr__label_count(n_untracked).text);
}

/* ---- states ---- */

int report_state_same(const struct report *report, unsigned a, unsigned b)
{
	const struct ktr__tally_row *x = report->tally->row[a], *y = report->tally->row[b];

	return x->kind == y->kind && x->process_key == y->process_key && x->other == y->other &&
	       strcmp(x->group, y->group) == 0 && ktr__same_bytes(&x->ident, &y->ident);
}

uint64_t report_state_ns(const struct ktr__tally_row *row)
{
	return (uint64_t)row->durations.sum + row->open_ns;
}

uint64_t report_states_ns(const struct report *report, unsigned i)
{
	const struct ktr__tally *t = report->tally;
	uint64_t ns = 0;

	if (t->row[i]->kind != KTR_KIND_STATE || t->row[i]->other)
		return 0;
	for (unsigned k = 0; k < t->n_rows; k++) {
		if (!report_state_same(report, i, k))
			continue;
		if (k < i)
			return 0;
		ns += report_state_ns(t->row[k]);
	}
	return ns;
}

/* "waiting 61.2 %", the most time first, five of them. */
static void report_rows_shares(const struct report *report, FILE *to, unsigned of, uint64_t whole)
{
	const struct ktr__tally_row *best[5] = { NULL };
	unsigned n = 0;

	for (unsigned at = of; at < report->tally->n_rows; at++) {
		const struct ktr__tally_row *row = report->tally->row[at];
		unsigned i;

		if (!report_state_same(report, of, at))
			continue;
		i = n < 5 ? n++ : 5;
		for (; i > 0 && (!best[i - 1] || report_state_ns(best[i - 1]) < report_state_ns(row)); i--)
			if (i < 5)
				best[i] = best[i - 1];
		if (i < 5)
			best[i] = row;
	}
	for (unsigned i = 0; i < n; i++) {
		char clean[128];

		ktr__label_clean(clean, sizeof(clean), best[i]->state.bytes,
				 best[i]->state.n_bytes);
		fprintf(to, "%s %s %.1f %%", i ? "," : " ", clean,
			100 * (double)report_state_ns(best[i]) / (double)whole);
	}
	fputc('\n', to);
}

/* Where a row's time went: whole and open states, the last ones up to the end of the window. */
static void report_rows_time(const struct report *report, FILE *to, unsigned i)
{
	struct ktr__tally_row plain = *report->tally->row[i];
	uint64_t ns = report_states_ns(report, i);

	plain.kind = KTR_KIND_START;
	plain.state.n_bytes = 0;
	report_rows_row_name(report, to, &plain);
	report_text_duration(to, (double)ns);
	report_rows_shares(report, to, i, ns);
}

void report_rows_states(const struct report *report, FILE *to)
{
	static const struct report_table states = { "state", REPORT_DURATIONS, "states", report_rows_state_rank,
						    report_rows_durations };
	static const struct report_table times = { "time of", "     known  share of each state", "rows with states",
						   report_states_ns, report_rows_time };

	report_table(report, to, &states, report->tally->n_rows);
	report_table(report, to, &times, report->tally->n_rows);
}

static void report_rows_counter(const struct report *report, FILE *to, unsigned i)
{
	const struct ktr__tally_row *row = report->tally->row[i];

	report_rows_row_name(report, to, row);
	report_text_count(to, row->n, 11);
	fprintf(to, " %12.10g %12.6g %12.10g %12.10g\n", row->min, row->sum / (double)row->n, row->max, row->last);
}

void report_rows_counters(const struct report *report, FILE *to)
{
	static const struct report_table table = {
		"counter", "      count          min         mean          max         last", "counters",
		report_rows_counter_rank, report_rows_counter
	};

	report_table(report, to, &table, report->tally->n_rows);
}
