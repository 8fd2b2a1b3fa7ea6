/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The look of all charts: where title, plot, legend and caption stand. Positions are in pixels of a
 * canvas with y from its top; other formats scale it.
 */
#ifndef VISUALIZE_CHART_H
#define VISUALIZE_CHART_H

#include "visualize/frame.h"
#include "visualize/gnuplot.h"

#define KTR__CHART_WIDTH  1200u
#define KTR__CHART_HEIGHT 800u

struct ktr__chart {
	struct ktr__gnuplot plot;
	FILE *to; /* the script */
	unsigned width, height;
	unsigned top, bottom; /* what the frame leaves, for axes and plots */
	unsigned n_labels; /* tags handed out */
};

/* As ktr__gnuplot_begin(). */
int ktr__chart_begin(struct ktr__chart *chart, const char *path, unsigned width, unsigned height,
		     struct ktr_error *err);
int ktr__chart_end(struct ktr__chart *chart, struct ktr_error *err);

/* Writes title, subtitle, losses, notes and caption; top and bottom are what is left. */
void ktr__chart_frame(struct ktr__chart *chart, const struct ktr__frame *frame);

/* A text; align is "left", "center" or "right"; bold or not; y is the middle of the line. */
void ktr__chart_text(struct ktr__chart *chart, double x, double y, const char *align, unsigned size,
		     int bold, uint32_t colour, const char *text);

/* A filled box. */
void ktr__chart_box(struct ktr__chart *chart, double x, double y, double width, double height,
		    uint32_t colour);

/* The inner edges of the next plot. */
void ktr__chart_area(struct ktr__chart *chart, double left, double right, double top,
		     double bottom);

/* [pixels] that a text will take, on the safe side. */
double ktr__chart_text_width(const char *text, unsigned size);

/* Thin grey grid, axes on the left and at the bottom only: the same for all. */
void ktr__chart_style(struct ktr__chart *chart);

#endif
