/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points of a plane in bounded memory. When the points no longer fit, the axes are set to their
 * ranges and the points become counts; later an axis grows by doubling (bins_grow), so that a cell
 * is at most twice as wide as it would have to be.
 */
#include "visualize/chart/bins.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void bins_span(struct ktr__bins_axis *axis, double value, int first)
{
	axis->least = first || value < axis->least ? value : axis->least;
	axis->greatest = first || value > axis->greatest ? value : axis->greatest;
}

static void bins_axis(struct ktr__bins_axis *axis, unsigned n)
{
	double span = axis->greatest - axis->least;

	axis->n = n;
	axis->low = axis->least;
	axis->step = span > 0 ? span / n : fmax(fabs(axis->least), 1) / n;
	axis->step *= 1 + 1e-9; /* the greatest lies within the last cell */
	axis->high = axis->low + axis->n * axis->step;
}

/*
 * Where a cell of one axis goes when its range doubles: downwards the old range is the upper half.
 */
static unsigned bins_moved(unsigned i, unsigned n, int down)
{
	return (i + (down ? n : 0)) / 2;
}

static void bins_grow(struct ktr__bins *bins, int along_x, int down)
{
	struct ktr__bins_axis *axis = along_x ? &bins->x : &bins->y;
	uint32_t *cell = bins->cell;

	/* In the direction in which a cell never lands on one that has not been moved yet. */
	for (unsigned k = 0; k < bins->x.n * bins->y.n; k++) {
		unsigned at = down ? bins->x.n * bins->y.n - 1 - k : k;
		unsigned x = at % bins->x.n, y = at / bins->x.n, to;
		uint32_t n = cell[at];

		cell[at] = 0;
		if (along_x)
			x = bins_moved(x, bins->x.n, down);
		else
			y = bins_moved(y, bins->y.n, down);
		to = y * bins->x.n + x;
		cell[to] = n > UINT32_MAX - cell[to] ? UINT32_MAX : cell[to] + n;
	}
	if (down)
		axis->low -= axis->n * axis->step;
	axis->step *= 2;
	axis->high = axis->low + axis->n * axis->step;
}

/* Makes the axis reach the value. */
static void bins_reach(struct ktr__bins *bins, int along_x, double value)
{
	struct ktr__bins_axis *axis = along_x ? &bins->x : &bins->y;

	while (value < axis->low && axis->step < DBL_MAX / 1e6)
		bins_grow(bins, along_x, 1);
	while (value >= axis->high && axis->step < DBL_MAX / 1e6)
		bins_grow(bins, along_x, 0);
}

static inline int bins_is_within(const struct ktr__bins_axis *axis, double value)
{
	return value >= axis->low && value < axis->high;
}

static unsigned bins_index(const struct ktr__bins_axis *axis, double value)
{
	double i = (value - axis->low) / axis->step;

	return i < 0 ? 0 : i >= axis->n ? axis->n - 1 : (unsigned)i;
}

static void bins_count(struct ktr__bins *bins, double x, double y)
{
	uint32_t *cell;

	if (__builtin_expect(!bins_is_within(&bins->x, x) || !bins_is_within(&bins->y, y), 0)) {
		bins_reach(bins, 1, x);
		bins_reach(bins, 0, y);
	}
	cell = &bins->cell[bins_index(&bins->y, y) * bins->x.n + bins_index(&bins->x, x)];
	*cell += *cell < UINT32_MAX;
}

/* From points to counts. */
static int bins_turn(struct ktr__bins *bins)
{
	bins->cell = calloc((size_t)KTR__BINS_X * KTR__BINS_Y, sizeof(*bins->cell));
	if (bins->cell == NULL)
		return -ENOMEM;
	bins_axis(&bins->x, KTR__BINS_X);
	bins_axis(&bins->y, KTR__BINS_Y);
	for (unsigned i = 0; i < KTR__BINS_POINTS; i++)
		bins_count(bins, bins->point[i][0], bins->point[i][1]);
	free(bins->point);
	bins->point = NULL;
	return 0;
}

/* Welford's update of means and sums of squares, which does not cancel. */
static void bins_moments(struct ktr__bins *bins, double x, double y)
{
	double dx = x - bins->mean_x, dy = y - bins->mean_y;

	bins->mean_x += dx / (double)bins->n;
	bins->mean_y += dy / (double)bins->n;
	bins->var_x += dx * (x - bins->mean_x);
	bins->var_y += dy * (y - bins->mean_y);
	bins->covar += dx * (y - bins->mean_y);
}

int ktr__bins_add(struct ktr__bins *bins, double x, double y)
{
	if (bins->cell == NULL && bins->point == NULL) {
		bins->point = malloc(KTR__BINS_POINTS * sizeof(*bins->point));
		if (bins->point == NULL)
			return -ENOMEM;
	}
	if (bins->n == KTR__BINS_POINTS && bins_turn(bins) != 0)
		return -ENOMEM;
	bins_span(&bins->x, x, bins->n == 0);
	bins_span(&bins->y, y, bins->n == 0);
	if (bins->cell == NULL) {
		bins->point[bins->n][0] = x;
		bins->point[bins->n][1] = y;
	} else {
		bins_count(bins, x, y);
	}
	bins->n++;
	bins_moments(bins, x, y);
	return 0;
}

double ktr__bins_correlation(const struct ktr__bins *bins)
{
	double both = sqrt(bins->var_x) * sqrt(bins->var_y);

	return both > 0 ? bins->covar / both : 0;
}

void ktr__bins_free(struct ktr__bins *bins)
{
	free(bins->point);
	free(bins->cell);
	memset(bins, 0, sizeof(*bins));
}
