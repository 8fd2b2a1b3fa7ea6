/* SPDX-License-Identifier: BSD-2-Clause */
/* The forms of a comparison: text for people (diff_text.c), JSON for programs (diff_json.c). */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include "analyze/diff.h"

#include <jansson.h>
#include <stdio.h>

struct diff_report {
	const struct ktr__diff *diff;
	const struct ktr_reader_info *info[2];
	int all; /* also what did not change */
	int bold;
};

void diff_text(const struct diff_report *report, FILE *to);

/* Owned; NULL without memory. Schema "ktr-diff-1": see diff_json.c. */
json_t *diff_json(const struct diff_report *report);

#endif
