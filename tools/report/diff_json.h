/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as JSON. */
#ifndef TOOLS_DIFF_JSON_H
#define TOOLS_DIFF_JSON_H

#include "tools/report/diff.h"

#include <jansson.h>

/* Returns it owned; NULL without memory. The schema is "ktr-diff-2". */
json_t *diff_json(const struct diff_report *report);

#endif
