/* SPDX-License-Identifier: BSD-2-Clause */
/* The forms of a comparison: text for people (diff_text.c), JSON for programs (diff_json.c). */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include "tools/report/diff_runs.h"

#include "analyze/stats/diff.h"

#include <jansson.h>
#include <stdio.h>

struct diff_report {
	const struct ktr__diff *diff;
	const struct diff_runs *runs;
	int all; /* also what did not change, and all of what cannot be told */
	int bold;
};

/* Exit statuses: DIFF_UNKNOWN where nothing changed as far as can be told, but that is not all. */
#define DIFF_TROUBLE 2
#define DIFF_UNKNOWN 3

void diff_text(const struct diff_report *report, FILE *to);

/* "+38 %", "2.4 x", "1/3.1 x" */
const char *diff_text_change(char *text, size_t size, double ratio);

/* A row's verdict in a few words: "p50 slower, 13 x", "p99 cannot tell: -3 % to +60 %". */
const char *diff_text_verdict(char *text, size_t size, const struct ktr__diff_row *row);

/* Owned; NULL without memory. Schema "ktr-diff-2": see diff_json.c. */
json_t *diff_json(const struct diff_report *report);

#endif
