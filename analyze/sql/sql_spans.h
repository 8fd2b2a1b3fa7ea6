/* SPDX-License-Identifier: BSD-2-Clause */
/* A span as a row of the table. */
#ifndef ANALYZE_SQL_SPANS_H
#define ANALYZE_SQL_SPANS_H

#include "analyze/spans/spans.h"

#include <stdint.h>

struct ktr__sql_span_row {
	struct ktr__sql_span_row *next;
	struct ktr__span span;
	uint64_t id;
	char text[]; /* what span.ident and span.state are in */
};

#endif
