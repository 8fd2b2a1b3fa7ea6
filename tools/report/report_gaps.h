/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of gaps of a report. */
#ifndef TOOLS_REPORT_GAPS_H
#define TOOLS_REPORT_GAPS_H

#include "tools/report/report.h"

#include <stdio.h>

void report_gaps_text(const struct report *report, FILE *to);

#endif
