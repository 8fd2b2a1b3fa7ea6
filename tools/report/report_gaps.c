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

/* Who ended it, its length, when it began, and what was recorded before and behind it. */
static void report_gaps_line(const struct report *report, FILE *to, const struct ktr__gap *gap)
{
	char since[48];

	snprintf(since, sizeof(since), "+%s", ktr__label_duration(gap->from_ns - report->info->first_ns).text);
	report_text_thread(to, gap->thread);
	report_text_duration(to, (double)(gap->to_ns - gap->from_ns));
	fprintf(to, " %12s  ", since);
	report_gaps_site(to, gap->before, " to ");
	report_gaps_site(to, gap->after, gap->unsure ? "  events were lost in it\n" : "\n");
}

static uint64_t report_gaps_rank(const struct report *report, unsigned id)
{
	const struct ktr__gaps_list *list = &report->tally->gaps.thread[id];

	return list->n ? list->gap[0].to_ns - list->gap[0].from_ns : 0;
}

#define REPORT_GAPS_HEADING "      took        since  between"

static void report_gaps_lines(const struct report *report, FILE *to, unsigned id)
{
	const struct ktr__gaps_list *list = &report->tally->gaps.thread[id];

	for (unsigned i = 0; i < list->n; i++)
		report_gaps_line(report, to, &list->gap[i]);
}

void report_gaps_text(const struct report *report, FILE *to)
{
	static const struct report_table table = { "no event of a thread", REPORT_GAPS_HEADING, "threads",
						   report_gaps_rank, report_gaps_lines };
	const struct ktr__gaps *gaps = &report->tally->gaps;

	if (!gaps->n_kept)
		return;
	if (gaps->overall.n)
		report_text_heading(report, to, REPORT_GAPS_HEADING, "no event of any thread, until");
	for (unsigned i = 0; i < gaps->overall.n; i++)
		report_gaps_line(report, to, &gaps->overall.gap[i]);
	report_table(report, to, &table, gaps->n_threads);
}
