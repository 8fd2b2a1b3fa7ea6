/* SPDX-License-Identifier: BSD-2-Clause */
/* Time by function: the part of a report that --functions asks for. */
#ifndef TOOLS_REPORT_FUNCTIONS_H
#define TOOLS_REPORT_FUNCTIONS_H

#include "tools/report/report.h"

#include <jansson.h>
#include <stdio.h>

void report_functions_text(const struct report *report, FILE *to);
json_t *report_functions_json(const struct report *report); /* NULL: no memory */
/* Puts those that were switched off into the tree, if there are some. 0, or -1 without memory. */
int report_functions_off_json(const struct report *report, json_t *tree);

#endif
