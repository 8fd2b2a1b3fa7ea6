/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The look of all charts: where title, plot, legend and caption stand. Positions are in pixels of a
 * canvas with y from its top; other formats scale it.
 */
#ifndef VISUALIZE_CHART_H
#define VISUALIZE_CHART_H

#include "visualize/chart/gnuplot.h"
#include "visualize/model/frame.h"

#define KTR__CHART_WIDTH  1200u
#define KTR__CHART_HEIGHT 800u

struct ktr__chart {
	struct ktr__gnuplot plot;
	FILE *to;               /* the script */
	unsigned width, height; /* [pixels] of the canvas, with text too */
	int is_text;            /* characters for a terminal: no labels, no colours */
	unsigned top, bottom;   /* what the frame leaves, for axes and plots */
	unsigned n_labels;      /* tags handed out */
};

/* Boxes out of a table "from to floor top colour"; what follows says how the colour is meant. */
#define KTR__CHART_BOXES "using 1:3:1:2:3:4:5 with boxxyerror fs solid noborder lc "

/* For plots whose rows have labels of their own: ticks and lines along time only. */
#define KTR__CHART_ROWS  "unset ytics\nset border 1\nset grid xtics back lt 1 lw 1 lc rgb '#e0e0e0'\n"

/* Colours of a map: few is pale, much is dark, as on paper; lightness alone tells them apart. */
#define KTR__CHART_MAP   "set palette defined (0 '#85c0ea', 1 '#3c8ac4', 2 '#084594', 3 '#001030')\n"

/* As ktr__gnuplot_begin(). */
int ktr__chart_begin(struct ktr__chart *chart, const char *path, unsigned width, unsigned height,
		     struct ktr_error *err);
int ktr__chart_end(struct ktr__chart *chart, struct ktr_error *err);

/* Writes title, subtitle, losses, notes and caption; top and bottom are what is left. */
void ktr__chart_frame(struct ktr__chart *chart, const struct ktr__frame *frame);

/* [pixels] How high these words are together. */
unsigned ktr__chart_frame_height(unsigned width, const struct ktr__frame *frame);

/* A text; align is "left", "center" or "right"; bold or not; y is the middle of the line. */
void ktr__chart_text(struct ktr__chart *chart, double x, double y, const char *align, unsigned size,
		     int bold, uint32_t colour, const char *text);

/* The name of the font in this format, for "font 'NAME,SIZE'". */
const char *ktr__chart_font(const struct ktr__chart *chart, int bold);

/* A filled box. */
void ktr__chart_box(struct ktr__chart *chart, double x, double y, double width, double height,
		    uint32_t colour);

/*
 * The colours of a map, KTR__CHART_MAP, for numbers from low to high on a log scale, and where they
 * are explained: a bar from top to bottom at x.
 */
void ktr__chart_colours(struct ktr__chart *chart, double x, double top, double bottom, double low,
			double high, const char *what);

/* The inner edges of the next plot. */
void ktr__chart_area(struct ktr__chart *chart, double left, double right, double top,
		     double bottom);

/* Copies a clean text as this chart can draw it: what no font has as "[U+1F41B]". */
void ktr__chart_cover(struct ktr__chart *chart, char *to, size_t size, const char *text);

/* Copies it so into at most so many columns, see ktr__label_fit(). */
unsigned ktr__chart_fit(struct ktr__chart *chart, char *to, size_t size, const char *text, unsigned columns);

/* [pixels] that a text will take, on the safe side. */
double ktr__chart_text_width(const char *text, unsigned size);

/*
 * Range and about n_ticks ticks of a linear axis of numbers ('x' or 'y'), written with k, M, G where they are
 * large.
 */
void ktr__chart_numbers(struct ktr__chart *chart, char axis, double low, double high, unsigned n_ticks);

/* Thin grey grid, axes on the left and at the bottom only: the same for all. */
void ktr__chart_style(struct ktr__chart *chart);

#endif
