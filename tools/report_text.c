/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report for people: what was traced and how much of it, then one table each for classes, call
 * sites, threads, processors, spans, states and counters, the most important lines first. Tables
 * without lines are left out. Names come from the traced program and are made harmless before
 * they are printed.
 */
#include "tools/report.h"

#include "visualize/label.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAME_COLUMNS 34u

/* A line of a table while it is being chosen: what it is about, and what makes it important. */
struct report_text_line {
	uint64_t rank;
	unsigned idx;
};

struct report_text_table {
	struct report_text_line *line; /* owned */
	unsigned n;
};

static int report_text_compare(const void *a, const void *b)
{
	const struct report_text_line *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return (x->idx > y->idx) - (x->idx < y->idx);
}

/* Makes a table of the indices below n that have a rank, sorted. */
static struct report_text_table report_text_sort(const struct report *report, unsigned n,
						 uint64_t (*rank)(const struct report *, unsigned))
{
	struct report_text_table table = { malloc((n ? n : 1) * sizeof(*table.line)), 0 };

	*report->short_of_memory |= !table.line;
	for (unsigned i = 0; table.line && i < n; i++) {
		uint64_t value = rank(report, i);

		if (value)
			table.line[table.n++] = (struct report_text_line){ value, i };
	}
	if (table.n)
		qsort(table.line, table.n, sizeof(*table.line), report_text_compare);
	return table;
}

static unsigned report_text_shown(const struct report *report,
				  const struct report_text_table *table)
{
	return report->top && report->top < table->n ? report->top : table->n;
}

static void report_text_heading(const struct report *report, FILE *to, const char *format,
				const char *name)
{
	char line[160];

	snprintf(line, sizeof(line), "%-*s", (int)NAME_COLUMNS, name);
	fprintf(to, "\n%s%s %s%s\n", report->bold ? "\033[1m" : "", line, format,
		report->bold ? "\033[0m" : "");
}

/* Says how many lines there are beyond those shown; frees the table. */
static void report_text_rest(FILE *to, struct report_text_table *table, unsigned shown,
			     const char *what)
{
	if (shown < table->n)
		fprintf(to, "  and %u more %s\n", table->n - shown, what);
	free(table->line);
}

/* A name in its column. */
static void report_text_name(FILE *to, const char *bytes, size_t n)
{
	char clean[512], fit[512];
	unsigned columns;

	ktr__label_clean(clean, sizeof(clean), bytes, n);
	columns = ktr__label_fit(fit, sizeof(fit), clean, NAME_COLUMNS - 2, 0);
	fprintf(to, "  %s%*s", fit, (int)(NAME_COLUMNS - 2 - columns), "");
}

static void report_text_count(FILE *to, uint64_t count, int width)
{
	char text[40];

	fprintf(to, " %*s", width, ktr__label_count(text, sizeof(text), count));
}

static void report_text_duration(FILE *to, double ns)
{
	char text[40];

	fprintf(to, " %9s",
		ktr__label_duration(text, sizeof(text), ns > 0 ? (uint64_t)(ns + 0.5) : 0));
}

static double report_text_seconds(const struct report *report)
{
	return (double)(report->tally->last_ns - report->tally->first_ns) / 1e9;
}

static double report_text_share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* "1.23 M/s" */
static void report_text_rate(FILE *to, const struct report *report, uint64_t n)
{
	static const char units[] = " kMG";
	double seconds = report_text_seconds(report), rate = seconds > 0 ? (double)n / seconds : 0;
	unsigned unit = 0;

	for (; rate >= 999.5 && unit < 3; unit++)
		rate /= 1000;
	fprintf(to, " %*.*f %c/s", 6, rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate, units[unit]);
}

/* ---- the head ---- */

const char *report_utc(const struct report *report, uint64_t ns, char *text, size_t size)
{
	int64_t utc = (int64_t)(ns + (uint64_t)report->info->utc_offset_ns);
	int64_t second = utc / 1000000000 - (utc % 1000000000 < 0);
	time_t clock = (time_t)second;
	char date[24];
	struct tm tm;

	if (!gmtime_r(&clock, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(date, sizeof(date), "?");
	snprintf(text, size, "%s.%09dZ", date, (int)(utc - second * 1000000000));
	return text;
}

static void report_text_clean(FILE *to, const char *text)
{
	char clean[512];

	ktr__label_clean(clean, sizeof(clean), text, strlen(text));
	fputs(clean, to);
}

static void report_text_losses(const struct report *report, FILE *to)
{
	const struct ktr__tally *t = report->tally;
	char text[40];

	if (!t->n_lost) {
		fputs("nothing lost", to);
		return;
	}
	fprintf(to, "%s events lost", ktr__label_count(text, sizeof(text), t->n_lost));
	fprintf(to, " (%.3g %% of all) in %s gaps",
		report_text_share((double)t->n_lost, (double)(t->n_lost + t->n_events)),
		ktr__label_count(text, sizeof(text), t->n_gaps));
}

static void report_text_head(const struct report *report, FILE *to)
{
	static const char *const kinds[] = { "trace", "live session", "session of a dead program" };
	const struct ktr_reader_info *info = report->info;
	const struct ktr__tally *t = report->tally;
	char text[64];

	if (report->bold)
		fputs("\033[1m", to);
	report_text_clean(to, info->path);
	fprintf(to, "%s: %s", report->bold ? "\033[0m" : "", kinds[info->kind]);
	if (info->cmdline[0]) {
		fputs(" of ", to);
		report_text_clean(to, info->cmdline);
	}
	if (info->host[0]) {
		fputs(" on ", to);
		report_text_clean(to, info->host);
	}
	fputc('\n', to);
	if (t->n_events)
		fprintf(to, "  %s, for %s\n", report_utc(report, t->first_ns, text, sizeof(text)),
			ktr__label_duration(text + 40, sizeof(text) - 40,
					    t->last_ns - t->first_ns));
	fprintf(to, "  %s events,", ktr__label_count(text, sizeof(text), t->n_events));
	report_text_rate(to, report, t->n_events);
	fputs("; ", to);
	report_text_losses(report, to);
	fputs(report->partial ? "; parts could not be read\n" : "\n", to);
}

/* ---- events ---- */

static uint64_t report_text_class_rank(const struct report *report, unsigned bit)
{
	return ktr__tally_class(report->tally, bit);
}

static void report_text_events(const struct report *report, FILE *to, uint64_t n)
{
	report_text_count(to, n, 15);
	report_text_rate(to, report, n);
	fprintf(to, " %6.2f %%", report_text_share((double)n, (double)report->tally->n_events));
}

static void report_text_classes(const struct report *report, FILE *to)
{
	struct report_text_table table = report_text_sort(report, KTR_CLASS_MAX,
							  report_text_class_rank);
	unsigned shown = report_text_shown(report, &table);

	if (table.n)
		report_text_heading(report, to, "         events       rate    share", "class");
	for (unsigned i = 0; i < shown; i++) {
		const char *name = ktr_reader_class_name(report->reader, table.line[i].idx);
		char number[24];

		if (!name) {
			snprintf(number, sizeof(number), "0x%llx", 1ull << table.line[i].idx);
			name = number;
		}
		report_text_name(to, name, strlen(name));
		report_text_events(report, to, table.line[i].rank);
		fputc('\n', to);
	}
	report_text_rest(to, &table, shown, "classes");
}

static uint64_t report_text_site_rank(const struct report *report, unsigned id)
{
	return report->tally->site[id];
}

static void report_text_sites(const struct report *report, FILE *to)
{
	struct report_text_table table = report_text_sort(report, report->tally->n_sites,
							  report_text_site_rank);
	unsigned shown = report_text_shown(report, &table);

	if (table.n)
		report_text_heading(report, to, "         events       rate    share  format",
				    "call site");
	for (unsigned i = 0; i < shown; i++) {
		const struct ktr_reader_site *site = ktr_reader_site(report->reader,
								     table.line[i].idx);
		char format[512], fit[512];

		report_text_name(to, site->name, strlen(site->name));
		report_text_events(report, to, table.line[i].rank);
		ktr__label_clean(format, sizeof(format), site->format, strlen(site->format));
		ktr__label_fit(fit, sizeof(fit), format, 70, 0);
		fprintf(to, "  %s\n", fit);
	}
	report_text_rest(to, &table, shown, "call sites");
}

static uint64_t report_text_thread_rank(const struct report *report, unsigned id)
{
	return report->tally->thread[id];
}

static void report_text_threads(const struct report *report, FILE *to)
{
	struct report_text_table table = report_text_sort(report, report->tally->n_threads,
							  report_text_thread_rank);
	unsigned shown = report_text_shown(report, &table);

	if (table.n)
		report_text_heading(report, to, "         events       rate    share  process",
				    "thread");
	for (unsigned i = 0; i < shown; i++) {
		const struct ktr_reader_thread *thread = ktr_reader_thread(report->reader,
									   table.line[i].idx);
		char name[128];

		snprintf(name, sizeof(name), "%.100s/%u", thread->name, thread->tid);
		report_text_name(to, name, strlen(name));
		report_text_events(report, to, table.line[i].rank);
		fputs("  ", to);
		report_text_clean(to, thread->process);
		fprintf(to, "/%u\n", thread->pid);
	}
	report_text_rest(to, &table, shown, "threads");
}

static uint64_t report_text_cpu_rank(const struct report *report, unsigned cpu)
{
	return report->tally->cpu[cpu].n_events + report->tally->cpu[cpu].n_lost;
}

static void report_text_cpus(const struct report *report, FILE *to)
{
	struct report_text_table table = report_text_sort(report, report->tally->n_cpus,
							  report_text_cpu_rank);
	unsigned shown = report_text_shown(report, &table);

	if (table.n)
		report_text_heading(report, to,
				    "         events       rate    share           lost", "cpu");
	for (unsigned i = 0; i < shown; i++) {
		const struct ktr__tally_cpu *cpu = &report->tally->cpu[table.line[i].idx];
		char name[24];

		snprintf(name, sizeof(name), "%u", table.line[i].idx);
		report_text_name(to, name, strlen(name));
		report_text_events(report, to, cpu->n_events);
		report_text_count(to, cpu->n_lost, 14);
		fputc('\n', to);
	}
	report_text_rest(to, &table, shown, "CPUs");
}

/* ---- rows ---- */

/* Rows without a whole span rank by what there is of them. */
static uint64_t report_text_row_rank(const struct report *report, unsigned i,
				     enum ktr_event_kind kind)
{
	const struct ktr__tally_row *row = report->tally->row[i];

	if (row->kind != kind)
		return 0;
	if (kind == KTR_KIND_COUNTER)
		return row->n;
	return row->durations.n ? (uint64_t)row->durations.sum + (1u << 20)
				: row->n_no_start + row->n_no_end;
}

static uint64_t report_text_span_rank(const struct report *report, unsigned i)
{
	return report_text_row_rank(report, i, KTR_KIND_START);
}

static uint64_t report_text_state_rank(const struct report *report, unsigned i)
{
	return report_text_row_rank(report, i, KTR_KIND_STATE);
}

static uint64_t report_text_counter_rank(const struct report *report, unsigned i)
{
	return report_text_row_rank(report, i, KTR_KIND_COUNTER);
}

/* Several processes? Then rows tell theirs. */
static int report_text_many_pids(const struct report *report)
{
	const struct ktr__tally *t = report->tally;

	for (unsigned i = 1; i < t->n_rows; i++)
		if (t->row[i]->pid != t->row[0]->pid)
			return 1;
	return 0;
}

/* "group id = state", and the process if there are several. */
static void report_text_row_name(const struct report *report, FILE *to,
				 const struct ktr__tally_row *row)
{
	char name[1200];
	int n;

	if (row->other)
		n = snprintf(name, sizeof(name), "%.200s (all others)", row->group);
	else
		n = snprintf(name, sizeof(name), "%.200s %.*s%s%.*s", row->group,
			     (int)(row->ident.n_bytes < 400 ? row->ident.n_bytes : 400),
			     row->ident.bytes, row->kind == KTR_KIND_STATE ? " = " : "",
			     (int)(row->state.n_bytes < 400 ? row->state.n_bytes : 400),
			     row->state.bytes);
	if (report_text_many_pids(report))
		snprintf(name + n, sizeof(name) - (size_t)n, " [%u]", row->pid);
	report_text_name(to, name, strlen(name));
}

/* What should be known before the numbers are believed. */
static void report_text_doubts(FILE *to, const struct ktr__tally_row *row)
{
	const char *between = "  ";
	const struct {
		uint64_t n;
		const char *what;
	} doubts[] = { { row->n_unsure, "across a loss" },
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

static void report_text_durations(const struct report *report, FILE *to,
				  const struct report_text_table *table, unsigned shown)
{
	for (unsigned i = 0; i < shown; i++) {
		const struct ktr__tally_row *row = report->tally->row[table->line[i].idx];
		const struct ktr__histogram *h = &row->durations;

		report_text_row_name(report, to, row);
		report_text_count(to, h->n, 11);
		if (h->n) {
			report_text_duration(to, h->sum);
			report_text_duration(to, h->mean);
			report_text_duration(to, (double)h->min);
			report_text_duration(to, (double)ktr__histogram_quantile(h, 0.5));
			report_text_duration(to, (double)ktr__histogram_quantile(h, 0.9));
			report_text_duration(to, (double)ktr__histogram_quantile(h, 0.99));
			report_text_duration(to, (double)ktr__histogram_quantile(h, 0.999));
			report_text_duration(to, (double)h->max);
		}
		report_text_doubts(to, row);
	}
}

#define REPORT_DURATIONS                                                                           \
	"      count     total      mean       min       p50       p90       p99     p99.9       max"

static void report_text_spans(const struct report *report, FILE *to)
{
	struct report_text_table table = report_text_sort(report, report->tally->n_rows,
							  report_text_span_rank);
	unsigned shown = report_text_shown(report, &table);

	if (table.n)
		report_text_heading(report, to, REPORT_DURATIONS, "span");
	report_text_durations(report, to, &table, shown);
	report_text_rest(to, &table, shown, "spans");
}

static void report_text_states(const struct report *report, FILE *to)
{
	struct report_text_table table = report_text_sort(report, report->tally->n_rows,
							  report_text_state_rank);
	unsigned shown = report_text_shown(report, &table);

	if (table.n)
		report_text_heading(report, to, REPORT_DURATIONS, "state");
	report_text_durations(report, to, &table, shown);
	report_text_rest(to, &table, shown, "states");
}

static void report_text_counters(const struct report *report, FILE *to)
{
	struct report_text_table table = report_text_sort(report, report->tally->n_rows,
							  report_text_counter_rank);
	unsigned shown = report_text_shown(report, &table);

	if (table.n)
		report_text_heading(report, to,
				    "      count          min         mean          max"
				    "         last",
				    "counter");
	for (unsigned i = 0; i < shown; i++) {
		const struct ktr__tally_row *row = report->tally->row[table.line[i].idx];

		report_text_row_name(report, to, row);
		report_text_count(to, row->n, 11);
		fprintf(to, " %12.10g %12.6g %12.10g %12.10g\n", row->min,
			row->sum / (double)row->n, row->max, row->last);
	}
	report_text_rest(to, &table, shown, "counters");
}

void report_text(const struct report *report, FILE *to)
{
	report_text_head(report, to);
	report_text_classes(report, to);
	report_text_sites(report, to);
	report_text_threads(report, to);
	report_text_cpus(report, to);
	report_text_spans(report, to);
	report_text_states(report, to);
	report_text_counters(report, to);
}
