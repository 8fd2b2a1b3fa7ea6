/* SPDX-License-Identifier: BSD-2-Clause */
/* Where threads spent their CPU time: the part of a report that --profile asks for. */
#ifndef TOOLS_REPORT_PROFILE_H
#define TOOLS_REPORT_PROFILE_H

#include "tools/report/report.h"

#include <jansson.h>
#include <stdio.h>

void report_profile_text(const struct report *report, FILE *to);
json_t *report_profile_json(const struct report *report); /* owned; NULL: no memory */

#endif
