/* SPDX-License-Identifier: BSD-2-Clause */
/* A report as JSON. */
#ifndef TOOLS_REPORT_JSON_H
#define TOOLS_REPORT_JSON_H

#include "tools/report/report.h"

#include <jansson.h>

/* Returns it owned; NULL without memory. The schema is "ktr-report-1". */
json_t *report_json(const struct report *report);

#endif
