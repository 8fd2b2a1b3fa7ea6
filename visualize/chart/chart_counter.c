/* SPDX-License-Identifier: BSD-2-Clause */
/* The row of a counter in a timeline's chart: bars up and down from zero, and an axis of three numbers. */
#include "visualize/chart/chart_counter.h"

#include "visualize/model/counter.h"
#include "visualize/model/palette.h"

#include <math.h>

#define COUNTER_HEIGHT 0.8  /* [rows] of bars */
#define COUNTER_LEAST  0.03 /* [rows] of what is not zero */
#define COUNTER_LINE   0.01 /* [rows] of half the line at zero */
#define COUNTER_TEXT   11.0 /* [pixels] from one text to the next */

static void counter_bar(struct ktr__chart *chart, double from, double to, double a, double b, uint32_t colour)
{
	if (a != b)
		fprintf(chart->to, "%.12g %.12g %.4g %.4g %u\n", from, to, fmin(a, b), fmax(a, b), colour);
}

/* One side of zero: strong up to the number nearer to it, pale to the farther one. */
static void counter_side(struct ktr__chart *chart, double from, double to, double zero, double near, double far)
{
	double least = copysign(COUNTER_LEAST, far - zero);

	if (far == zero)
		return;
	if (fabs(far - zero) < COUNTER_LEAST) {
		near = near == far ? zero + least : zero;
		far = zero + least;
	}
	counter_bar(chart, from, to, zero, near, KTR__BLUE);
	counter_bar(chart, from, to, near, far, KTR__SKY);
}

void ktr__chart_counter_bars(struct ktr__chart *chart, const struct ktr__chart_time *time,
			     const struct ktr__area *area, double y)
{
	struct ktr__counter_scale scale;
	double floor_y = y - COUNTER_HEIGHT / 2, zero;
	unsigned end;

	ktr__counter_scale(&scale, area);
	zero = floor_y + COUNTER_HEIGHT * scale.zero;
	for (unsigned i = area->from; i < area->n_filled; i = end) {
		const struct ktr__area_cell *cell = &area->cell[i];
		double from = ktr__chart_time_x(time, i), to;
		double low = floor_y + COUNTER_HEIGHT * ktr__counter_height(&scale, cell->least);
		double high = floor_y + COUNTER_HEIGHT * ktr__counter_height(&scale, cell->greatest);

		for (end = i + 1; end < area->n_filled && area->cell[end].least == cell->least &&
				  area->cell[end].greatest == cell->greatest;)
			end++;
		if (isnan(cell->last))
			continue;
		/* A third of a column more, under the next bar: else anti-aliasing shows a seam between. */
		to = ktr__chart_time_x(time, end) + time->per_column / 3;
		counter_side(chart, from, to, zero, fmax(zero, low), fmax(zero, high));
		counter_side(chart, from, to, zero, fmin(zero, high), fmin(zero, low));
	}
	counter_bar(chart, ktr__chart_time_x(time, area->from), ktr__chart_time_x(time, area->n_filled),
		    zero - COUNTER_LINE, zero + COUNTER_LINE, KTR__FAINT);
}

void ktr__chart_counter_axis(struct ktr__chart *chart, const struct ktr__area *area, double x, double y,
			     double height)
{
	struct ktr__counter_scale scale;
	double top, bottom, zero;

	ktr__counter_scale(&scale, area);
	top = y - COUNTER_HEIGHT / 2 * height;
	bottom = y + COUNTER_HEIGHT / 2 * height;
	zero = bottom - COUNTER_HEIGHT * scale.zero * height;
	if (bottom - top < COUNTER_TEXT)
		return;
	ktr__chart_text(chart, x - 4, top + 3, "right", 7, 0, KTR__FAINT, ktr__counter_tick(scale.high).text);
	ktr__chart_text(chart, x - 4, bottom - 3, "right", 7, 0, KTR__FAINT, ktr__counter_tick(scale.low).text);
	if (zero - top > COUNTER_TEXT && bottom - zero > COUNTER_TEXT)
		ktr__chart_text(chart, x - 4, zero, "right", 7, 0, KTR__FAINT, "0");
}
