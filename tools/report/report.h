/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms of a report: text for people (report_text.c), JSON for programs (report_json.c).
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include "analyze/stats/oncpu.h"
#include "analyze/stats/tally.h"

#include <jansson.h>
#include <stdio.h>

struct report {
	const struct ktr_reader *reader;
	const struct ktr_reader_info *info;
	const struct ktr__tally *tally;
	const struct ktr__oncpu *oncpu;
	const struct ktr__pair *pair; /* those of the tally */
	unsigned top; /* lines of each table; 0: all */
	int partial;  /* something could not be read */
	int histogram; /* below each line of durations */
	int bold;     /* headings stand out on a terminal */
	int *short_of_memory; /* set where a table was left out for that */
};

void report_text(const struct report *report, FILE *to);

/*
 * Time per state: how long a row was in a state, what is open included; how long a row of states was in
 * any, 0 for all rows but the first of an id; and the rows of that id, from *at on: 1, or 0 at the end.
 */
uint64_t report_state_ns(const struct ktr__tally_row *row);
uint64_t report_states_ns(const struct report *report, unsigned i);
int report_state_next(const struct report *report, unsigned of, unsigned *at);

/* Owned; NULL without memory. Schema "ktr-report-1": see report_json.c. */
json_t *report_json(const struct report *report);

/* report_oncpu.c: what the kernel's context switches tell; nothing, or empty lists, without any. */
void report_oncpu_text(const struct report *report, FILE *to);
json_t *report_oncpu_json(const struct report *report);
json_t *report_absences_json(const struct report *report);

/* Wall-clock time of a moment of the trace: "2024-02-29T12:34:56.123456789Z". size >= 32. */
const char *report_utc(const struct report *report, uint64_t ns, char *text, size_t size);

#endif
