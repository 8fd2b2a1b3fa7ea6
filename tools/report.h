/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms of a report: text for people (report_text.c), JSON for programs (report_json.c).
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include "analyze/tally.h"

#include <jansson.h>
#include <stdio.h>

struct report {
	const struct ktr_reader *reader;
	const struct ktr_reader_info *info;
	const struct ktr__tally *tally;
	unsigned top; /* lines of each table; 0: all */
	int partial;  /* something could not be read */
	int bold;     /* headings stand out on a terminal */
	int *short_of_memory; /* set where a table was left out for that */
};

void report_text(const struct report *report, FILE *to);

/* Owned; NULL without memory. Schema "ktr-report-1": see report_json.c. */
json_t *report_json(const struct report *report);

/* Wall-clock time of a moment of the trace: "2024-02-29T12:34:56.123456789Z". size >= 32. */
const char *report_utc(const struct report *report, uint64_t ns, char *text, size_t size);

#endif
