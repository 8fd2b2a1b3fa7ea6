/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a report that are about silence: the longest gaps, overall and of each thread. */
#include "tools/report/report_gaps.h"

#include "tools/report/report.h"
#include "tools/report/report_text.h"
#include "visualize/model/label.h"

#include <stdio.h>
#include <string.h>

static void report_gaps_site(FILE *to, const struct ktr_reader_site *site, const char *end)
{
	char clean[256];

	ktr__label_clean(clean, sizeof(clean), site->name, strlen(site->name));
	fprintf(to, "%s%s", clean, end);
}

/* Length, when it began, and what was recorded before and behind it. */
static void report_gaps_line(const struct report *report, FILE *to, const struct ktr__gap *gap)
{
	char since[48];

	snprintf(since, sizeof(since), "+%s", ktr__label_duration(gap->from_ns - report->info->first_ns).text);
	report_text_duration(to, (double)(gap->to_ns - gap->from_ns));
	fprintf(to, " %12s  ", since);
	report_gaps_site(to, gap->before, " to ");
	report_gaps_site(to, gap->after, gap->unsure ? "  events were lost in it\n" : "\n");
}

static void report_gaps_thread(FILE *to, const struct ktr_reader_thread *thread)
{
	char name[128];

	snprintf(name, sizeof(name), "%.100s/%u", thread->name, thread->tid);
	report_text_name(to, name, strlen(name));
}

static uint64_t report_gaps_rank(const struct report *report, unsigned id)
{
	const struct ktr__gaps_list *list = &report->tally->gaps.thread[id];

	return list->n ? list->gap[0].to_ns - list->gap[0].from_ns : 0;
}

#define REPORT_GAPS_HEADING "      took        since  between"

void report_gaps_text(const struct report *report, FILE *to)
{
	const struct ktr__gaps *gaps = &report->tally->gaps;
	struct report_table table;
	unsigned shown;

	if (!gaps->n_kept)
		return;
	if (gaps->overall.n)
		report_text_heading(report, to, REPORT_GAPS_HEADING,
				    "no event of any thread, until");
	for (unsigned i = 0; i < gaps->overall.n; i++) {
		report_gaps_thread(to, gaps->overall.gap[i].thread);
		report_gaps_line(report, to, &gaps->overall.gap[i]);
	}
	table = report_table_sort(report, gaps->n_threads, report_gaps_rank);
	shown = report_table_shown(report, &table);
	if (table.n)
		report_text_heading(report, to, REPORT_GAPS_HEADING, "no event of a thread");
	for (unsigned i = 0; i < shown; i++) {
		const struct ktr__gaps_list *list = &gaps->thread[table.line[i].idx];

		for (unsigned k = 0; k < list->n; k++) {
			report_gaps_thread(to, list->gap[k].thread);
			report_gaps_line(report, to, &list->gap[k]);
		}
	}
	report_table_rest(to, &table, shown, "threads");
}
