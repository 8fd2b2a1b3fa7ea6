/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of the source beside the time of its lines: what --source adds to --profile. */
#ifndef TOOLS_REPORT_SOURCE_H
#define TOOLS_REPORT_SOURCE_H

#include "tools/report/report.h"

#include <jansson.h>
#include <stdio.h>

/* 0 or -ENOMEM. */
int report_source_text(const struct report *report, FILE *to);
json_t *report_source_json(const struct report *report); /* owned; NULL: no memory */

#endif
