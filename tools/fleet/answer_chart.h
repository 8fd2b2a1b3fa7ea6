/* SPDX-License-Identifier: BSD-2-Clause */
/* An answer as a chart, drawn by gnuplot: bars, dots of two sides, or lines over time, as the question has it. */
#ifndef FLEET_ANSWER_CHART_H
#define FLEET_ANSWER_CHART_H

#include "tools/fleet/answer_table.h"

#include <ktr/error.h>

struct answer_chart {
	const char *path;     /* FILE.png, .svg, .pdf or .gp */
	const char *question; /* its name */
	const char *about;    /* of what: a name of a span, two hosts; "" */
	const char *basis;    /* what it rests on, a line */
	const char *command;  /* for the caption */
};

/* Is there a chart of that question, and is the file's name one? 0, or -EINVAL with err filled. */
int answer_chart_check(const struct answer_chart *chart, struct ktr_error *err);

/* Draws it. -ENODATA: the answer has no rows; 0 or -errno with err filled. */
int answer_chart_draw(const struct answer_chart *chart, const struct answer_table *table, struct ktr_error *err);

#endif
