/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points of a plane in bounded memory: as they are while there are few of them, then counted in
 * cells. Ranges need not be known before: an axis that is too short doubles its step, and
 * neighbouring cells become one.
 */
#ifndef VISUALIZE_BINS_H
#define VISUALIZE_BINS_H

#include <stdint.h>

#define KTR__BINS_POINTS 20000u /* kept as they are */
#define KTR__BINS_X      512u   /* cells; even */
#define KTR__BINS_Y      320u

struct ktr__bins_axis {
	double low, step;
	double high; /* low + n * step, behind the last cell */
	unsigned n;
	double least, greatest; /* of the points themselves */
};

struct ktr__bins {
	struct ktr__bins_axis x, y;
	uint64_t n;         /* points */
	double (*point)[2]; /* owned; the points while n <= KTR__BINS_POINTS */
	uint32_t *cell;     /* owned; row by row, from then on */
	double mean_x, mean_y, var_x, var_y, covar; /* sums of squares about the means */
};

/* Both numbers are finite. 0 or -ENOMEM. */
int ktr__bins_add(struct ktr__bins *bins, double x, double y);

/* Pearson's coefficient; 0 where one axis is constant. */
double ktr__bins_correlation(const struct ktr__bins *bins);

void ktr__bins_free(struct ktr__bins *bins);

#endif
