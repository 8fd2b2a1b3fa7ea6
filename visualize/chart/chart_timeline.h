/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline as a chart. */
#ifndef VISUALIZE_CHART_TIMELINE_H
#define VISUALIZE_CHART_TIMELINE_H

#include "visualize/chart/chart.h"

/* Columns that a timeline should have for a chart of that width, and lines for that height. */
unsigned ktr__chart_timeline_columns(unsigned width);
unsigned ktr__chart_timeline_lines(unsigned height);

/* [pixels] How high a picture of the view with these words around it has to be, at most height. */
unsigned ktr__chart_timeline_height(const struct ktr__view *view, const struct ktr__frame *frame, unsigned width,
				    unsigned height);

/* For charts with the same rows: area, labels beside the rows and legends below them. */
void ktr__chart_timeline_frame(struct ktr__chart *chart, const struct ktr__view *view);

/* Draws into the file. 0 or -errno. */
int ktr__chart_timeline(const char *path, unsigned width, unsigned height,
			const struct ktr__view *view, const struct ktr__frame *frame,
			struct ktr_error *err);

#endif
