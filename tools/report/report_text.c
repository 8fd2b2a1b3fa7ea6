/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report for people: what was traced and how much of it, then one table each for classes, call
 * sites, threads and processors, and those of report_rows.c and report_gaps.c, the most important
 * lines first. Tables without lines are left out. Names come from the traced program and are made harmless before
 * they are printed.
 */
#include "tools/report/report_text.h"

#include "analyze/print/render.h"
#include "ktr/session/drop.h"
#include "tools/report/report.h"
#include "tools/report/report_functions.h"
#include "tools/report/report_profile.h"
#include "tools/report/report_gaps.h"
#include "tools/report/report_names.h"
#include "tools/report/report_oncpu.h"
#include "tools/report/report_rows.h"
#include "tools/report/report_syscalls.h"
#include "visualize/model/label.h"
#include "visualize/model/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A line of a table while it is being chosen: what it is about, and what makes it important. */
struct report_line {
	uint64_t rank;
	unsigned idx;
};

static int report_text_compare(const void *a, const void *b)
{
	const struct report_line *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return (x->idx > y->idx) - (x->idx < y->idx);
}

void report_table(const struct report *report, FILE *to, const struct report_table *table, unsigned n)
{
	struct report_line *line = malloc((n ? n : 1) * sizeof(*line));
	unsigned n_lines = 0, shown;

	*report->short_of_memory |= !line;
	for (unsigned i = 0; line && i < n; i++) {
		uint64_t rank = table->rank(report, i);

		if (rank)
			line[n_lines++] = (struct report_line){ rank, i };
	}
	if (n_lines) {
		qsort(line, n_lines, sizeof(*line), report_text_compare);
		report_text_heading(report, to, table->heading, table->name);
	}
	shown = report->top && report->top < n_lines ? report->top : n_lines;
	for (unsigned i = 0; i < shown; i++)
		table->line(report, to, line[i].idx);
	if (shown < n_lines)
		fprintf(to, "  and %u more %s\n", n_lines - shown, table->many);
	free(line);
}

void report_text_heading(const struct report *report, FILE *to, const char *format,
				const char *name)
{
	fprintf(to, "\n%s" REPORT_NAMES_TABLE "%s" REPORT_NAMES_END " %s%s\n", report->bold ? "\033[1m" : "", name,
		format, report->bold ? "\033[0m" : "");
}

/* A name in its column, which is laid out when the table is complete. */
void report_text_name(FILE *to, const char *bytes, size_t n)
{
	char clean[4096];

	ktr__label_clean(clean, sizeof(clean), bytes, n);
	fprintf(to, REPORT_NAMES_NAME "%s" REPORT_NAMES_END, clean);
}

void report_text_thread(FILE *to, const struct ktr_reader_thread *thread)
{
	char name[128];

	snprintf(name, sizeof(name), "%.100s/%u", thread->name, thread->tid);
	report_text_name(to, name, strlen(name));
}

void report_text_count(FILE *to, uint64_t count, int width)
{
	fprintf(to, " %*s", width, ktr__label_count(count).text);
}

void report_text_duration(FILE *to, double ns)
{
	fprintf(to, " %9s", ktr__label_duration(ns > 0 ? (uint64_t)(ns + 0.5) : 0).text);
}

static double report_text_share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* "1.23 M/s" */
static void report_text_rate(FILE *to, const struct report *report, uint64_t n)
{
	static const char units[] = " kMG";
	double seconds = (double)(report->tally->last_ns - report->tally->first_ns) / 1e9;
	double rate = seconds > 0 ? (double)n / seconds : 0;
	unsigned unit = 0;

	for (; rate >= 999.5 && unit < 3; unit++)
		rate /= 1000;
	/* Where two digits would make it none it gets those that it has. */
	if (rate > 0 && rate < 0.1)
		fprintf(to, " %6.2g %c/s", rate, units[unit]);
	else
		fprintf(to, " %6.*f %c/s", rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate, units[unit]);
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

	uint64_t n_dropped = ktr__dropped_sum(report->info->n_dropped), n_lost = t->n_lost + n_dropped;
	const char *colon = ":";

	if (!n_lost) {
		fputs("nothing lost", to);
		return;
	}
	fprintf(to, "%s events lost (%s of all)", ktr__label_count(n_lost).text,
		ktr__number_share((double)n_lost, (double)(n_lost + t->n_events)).text);
	if (!n_dropped)
		fprintf(to, " in %s gaps", ktr__label_count(t->n_gaps).text);
	else if (t->n_lost) {
		fprintf(to, ": %s in", ktr__label_count(t->n_lost).text);
		fprintf(to, " %s gaps", ktr__label_count(t->n_gaps).text);
		colon = ",";
	}
	for (unsigned i = 0; i < KTR_DROPS; i++)
		if (report->info->n_dropped[i]) {
			fprintf(to, "%s %s %s", colon, ktr__label_count(report->info->n_dropped[i]).text,
				ktr__drop_text(i));
			colon = ",";
		}
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
			ktr__label_duration(t->last_ns - t->first_ns).text);
	fprintf(to, "  %s events,", ktr__label_count(t->n_events).text);
	report_text_rate(to, report, t->n_events);
	/* What was lost is in no rate. */
	fputs(t->n_lost + ktr__dropped_sum(report->info->n_dropped) > 0 ? " recorded; " : "; ", to);
	report_text_losses(report, to);
	fputs(report->partial ? "; parts could not be read\n" : "\n", to);
}

/* ---- events ---- */

#define REPORT_EVENTS "         events       rate    share"

static void report_text_events(const struct report *report, FILE *to, uint64_t n)
{
	report_text_count(to, n, 15);
	report_text_rate(to, report, n);
	fprintf(to, " %6.2f %%", report_text_share((double)n, (double)report->tally->n_events));
}

static uint64_t report_text_class_rank(const struct report *report, unsigned bit)
{
	return ktr__tally_class(report->tally, bit);
}

static void report_text_class(const struct report *report, FILE *to, unsigned bit)
{
	const char *name = ktr_reader_class_name(report->reader, bit);
	char number[24];

	snprintf(number, sizeof(number), "0x%llx", 1ull << bit);
	report_text_name(to, name ? name : number, strlen(name ? name : number));
	report_text_events(report, to, ktr__tally_class(report->tally, bit));
	fputc('\n', to);
}

static uint64_t report_text_site_rank(const struct report *report, unsigned id)
{
	return report->tally->site[id];
}

static void report_text_site(const struct report *report, FILE *to, unsigned id)
{
	const struct ktr_reader_site *site = ktr_reader_site(report->reader, id);
	char format[512], fit[512], said[512];

	report_text_name(to, site->name, strlen(site->name));
	report_text_events(report, to, report->tally->site[id]);
	ktr__render_said_format(site, said, sizeof(said));
	ktr__label_clean(format, sizeof(format), said, strlen(said));
	if (report->width > 0)
		ktr__label_fit(fit, sizeof(fit), format, 70, 0);
	fprintf(to, "  %s\n", report->width > 0 ? fit : format);
}

static uint64_t report_text_thread_rank(const struct report *report, unsigned id)
{
	return report->tally->thread[id];
}

static void report_text_thread_line(const struct report *report, FILE *to, unsigned id)
{
	const struct ktr_reader_thread *thread = ktr_reader_thread(report->reader, id);

	report_text_thread(to, thread);
	report_text_events(report, to, report->tally->thread[id]);
	fputs("  ", to);
	report_text_clean(to, thread->process);
	fprintf(to, "/%u\n", thread->pid);
}

static uint64_t report_text_cpu_rank(const struct report *report, unsigned cpu)
{
	return report->tally->cpu[cpu].n_events + report->tally->cpu[cpu].n_lost;
}

static void report_text_cpu(const struct report *report, FILE *to, unsigned idx)
{
	const struct ktr__tally_cpu *cpu = &report->tally->cpu[idx];
	char name[24];

	snprintf(name, sizeof(name), "%u", idx);
	report_text_name(to, name, strlen(name));
	report_text_events(report, to, cpu->n_events);
	report_text_count(to, cpu->n_lost, 14);
	fputc('\n', to);
}

static const struct report_table report_text_classes = { "class", REPORT_EVENTS, "classes", report_text_class_rank,
							 report_text_class };
static const struct report_table report_text_sites = { "call site", REPORT_EVENTS "  format", "call sites",
						       report_text_site_rank, report_text_site };
static const struct report_table report_text_threads = { "thread", REPORT_EVENTS "  process", "threads",
							 report_text_thread_rank, report_text_thread_line };
static const struct report_table report_text_cpus = { "cpu", REPORT_EVENTS "           lost", "CPUs",
						      report_text_cpu_rank, report_text_cpu };

static void report_text_tables(const struct report *report, FILE *to)
{
	report_text_head(report, to);
	if (report->functions) {
		report_functions_text(report, to);
		return;
	}
	if (report->samples) {
		report_profile_text(report, to);
		return;
	}
	if (report->syscalls) {
		report_syscalls_text(report, to);
		return;
	}
	report_table(report, to, &report_text_classes, KTR_CLASS_MAX);
	report_table(report, to, &report_text_sites, report->tally->n_sites);
	report_table(report, to, &report_text_threads, report->tally->n_threads);
	report_table(report, to, &report_text_cpus, report->tally->n_cpus);
	report_oncpu_text(report, to);
	report_rows_spans(report, to);
	report_rows_pairs(report, to);
	report_rows_states(report, to);
	report_rows_counters(report, to);
	report_gaps_text(report, to);
}

int report_text(const struct report *report, FILE *to)
{
	char *text = NULL;
	size_t n = 0;
	FILE *marked = open_memstream(&text, &n);
	int rc = -ENOMEM;

	if (marked == NULL)
		return rc;
	report_text_tables(report, marked);
	if (fclose(marked) == 0 && text != NULL && strlen(text) == n)
		rc = report_names_write(to, text, report->width);
	free(text);
	return rc;
}
