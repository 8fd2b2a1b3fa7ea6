/* SPDX-License-Identifier: BSD-2-Clause */
/* The row of a counter in a timeline's chart. */
#ifndef VISUALIZE_CHART_COUNTER_H
#define VISUALIZE_CHART_COUNTER_H

#include "visualize/chart/chart_time.h"
#include "visualize/model/levels.h"

/*
 * Writes boxes "from to floor top colour" into the table that is open, around the row's middle y: from zero, strong as
 * far as all numbers of a column go, pale to its farthest, and zero itself as a line.
 */
void ktr__chart_counter_bars(struct ktr__chart *chart, const struct ktr__chart_time *time,
			     const struct ktr__area *area, double y);

/* Writes the axis left of x, for a row whose middle [pixels] is y: its ends, and zero where there is room. */
void ktr__chart_counter_axis(struct ktr__chart *chart, const struct ktr__area *area, double x, double y,
			     double height);

#endif
