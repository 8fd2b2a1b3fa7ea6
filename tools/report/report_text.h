/* SPDX-License-Identifier: BSD-2-Clause */
/* A report as text, and what its tables have in common. */
#ifndef TOOLS_REPORT_TEXT_H
#define TOOLS_REPORT_TEXT_H

#include "tools/report/report.h"

#include <stdint.h>
#include <stdio.h>

/* A table: which lines it has, in which order, and what each says. */
struct report_table {
	const char *name;    /* what the first column is called */
	const char *heading; /* the others */
	const char *many;    /* what lines are called that are left out */
	uint64_t (*rank)(const struct report *report, unsigned idx); /* the highest first; 0: no line */
	void (*line)(const struct report *report, FILE *to, unsigned idx);
};

/* Writes the whole report. 0 or -ENOMEM. */
int report_text(const struct report *report, FILE *to);

/*
 * Writes wall-clock time of a moment of the trace: "2024-02-29T12:34:56.123456789Z". size >= 32. Returns text.
 */
const char *report_utc(const struct report *report, uint64_t ns, char *text, size_t size);

/* Writes a table of the indices below n that have a rank, or nothing where none has. */
void report_table(const struct report *report, FILE *to, const struct report_table *table, unsigned n);

/* A table's heading; the first column is called name. */
void report_text_heading(const struct report *report, FILE *to, const char *format, const char *name);

/* Cells: a name in its column, a thread in the same, a count, a duration. */
void report_text_name(FILE *to, const char *bytes, size_t n);
void report_text_thread(FILE *to, const struct ktr_reader_thread *thread);
void report_text_count(FILE *to, uint64_t count, int width);
void report_text_duration(FILE *to, double ns);

#endif
