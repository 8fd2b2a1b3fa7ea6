/* SPDX-License-Identifier: BSD-2-Clause */
/* What a comparison is made of; diff_text.h has its form for people, diff_json.h that for programs. */
#ifndef TOOLS_REPORT_DIFF_H
#define TOOLS_REPORT_DIFF_H

#include "analyze/stats/diff.h"
#include "tools/report/diff_runs.h"

struct diff_report {
	const struct ktr__diff *diff;
	const struct diff_runs *runs;
	int all; /* also what did not change, and all of what cannot be told */
	int bold;
	unsigned width; /* [columns] of the terminal; 0: there is none, and nothing is cut */
};

/* Exit statuses: DIFF_UNKNOWN where nothing changed as far as can be told, but that is not all. */
#define DIFF_TROUBLE 2
#define DIFF_UNKNOWN 3

#endif
