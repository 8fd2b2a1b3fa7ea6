/* SPDX-License-Identifier: BSD-2-Clause */
/* A report as JSON. */
#ifndef TOOLS_REPORT_JSON_H
#define TOOLS_REPORT_JSON_H

#include "tools/report/report.h"

#include <jansson.h>

/* Returns it owned; NULL without memory. The schema is "ktr-report-1". */
json_t *report_json(const struct report *report);

/*
 * An item of a list: owned, with its rank, which is not negative; NULL with the rank as it is: there is none of
 * this number, NULL with a rank: without memory.
 */
typedef json_t *report_json_item_fn(const void *of, unsigned i, double *rank);

/* The items below n as an array, the highest rank first; owned, NULL without memory. */
json_t *report_json_list(const void *of, unsigned n, report_json_item_fn *item);

/* A text of any bytes; null where it is no number. */
json_t *report_json_text(const char *text);
json_t *report_json_real(double number);

#endif
