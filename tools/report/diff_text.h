/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as text. */
#ifndef TOOLS_DIFF_TEXT_H
#define TOOLS_DIFF_TEXT_H

#include "analyze/stats/diff.h"
#include "tools/report/diff.h"

#include <stddef.h>
#include <stdio.h>

/* Names are as wide as the report says. 0 or -ENOMEM. */
int diff_text(const struct diff_report *report, FILE *to);

/*
 * Writes a row's verdict in a few words: "p50 slower, 13 x", "p99 cannot tell: -3 % to +60 %". Returns text.
 */
const char *diff_text_verdict(char *text, size_t size, const struct ktr__diff_row *row);

#endif
