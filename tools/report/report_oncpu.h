/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel's context switches tell; nothing, or empty lists, without any. */
#ifndef TOOLS_REPORT_ONCPU_H
#define TOOLS_REPORT_ONCPU_H

#include "tools/report/report.h"

#include <jansson.h>
#include <stdio.h>

void report_oncpu_text(const struct report *report, FILE *to);

/* Return owned arrays; NULL without memory. */
json_t *report_oncpu_json(const struct report *report);
json_t *report_absences_json(const struct report *report);

#endif
