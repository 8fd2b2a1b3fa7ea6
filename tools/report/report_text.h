/* SPDX-License-Identifier: BSD-2-Clause */
/* A report as text, and what its tables have in common. */
#ifndef TOOLS_REPORT_TEXT_H
#define TOOLS_REPORT_TEXT_H

#include "tools/report/report.h"

#include <stdint.h>
#include <stdio.h>

#define REPORT_NAME_COLUMNS 34u

/* A line of a table while it is being chosen: what it is about, and what makes it important. */
struct report_line {
	uint64_t rank;
	unsigned idx;
};

struct report_table {
	struct report_line *line; /* owned */
	unsigned n;
};

/* Writes the whole report. */
void report_text(const struct report *report, FILE *to);

/*
 * Writes wall-clock time of a moment of the trace: "2024-02-29T12:34:56.123456789Z". size >= 32. Returns text.
 */
const char *report_utc(const struct report *report, uint64_t ns, char *text, size_t size);

/* Makes a table of the indices below n that have a rank, sorted. */
struct report_table report_table_sort(const struct report *report, unsigned n,
				      uint64_t (*rank)(const struct report *, unsigned));
unsigned report_table_shown(const struct report *report, const struct report_table *table);

/* Says how many lines there are beyond those shown; frees the table. */
void report_table_rest(FILE *to, struct report_table *table, unsigned shown, const char *what);

/* A table's heading; the first column is called name. */
void report_text_heading(const struct report *report, FILE *to, const char *format, const char *name);

/* Cells: a name in its column, a count, a duration. */
void report_text_name(FILE *to, const char *bytes, size_t n);
void report_text_count(FILE *to, uint64_t count, int width);
void report_text_duration(FILE *to, double ns);

#endif
