/* SPDX-License-Identifier: BSD-2-Clause */
/* Points of a plane in cells whose ranges grow. */
#include "tests/unit/suite.h"

#include "visualize/chart/bins.h"

#include <math.h>

static double next_random(uint32_t *state)
{
	*state = (uint32_t)((uint64_t)*state * 48271 % 2147483647); /* Lehmer's generator */
	return (double)*state / 2147483647;
}

/* Growing ranges lose no point, and each cell's count is that of the points in its bounds. */
static void bins_keep_every_point(void)
{
	struct ktr__bins bins = { 0 };
	uint32_t seed = 99;
	uint64_t all = 0, below = 0, counted = 0;
	double low, row;

	for (unsigned i = 0; i < 60000; i++) {
		double scale = pow(10, i / 10000), y = (next_random(&seed) - 0.5) * scale;

		CU_ASSERT_EQUAL(ktr__bins_add(&bins, next_random(&seed) * scale, y), 0);
	}
	CU_ASSERT_EQUAL(bins.n, 60000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bins.cell);
	low = bins.y.low;
	for (unsigned i = 0; i < bins.x.n * bins.y.n; i++)
		all += bins.cell[i];
	CU_ASSERT_EQUAL(all, 60000);
	CU_ASSERT_TRUE(bins.x.low <= bins.x.least && bins.y.low <= bins.y.least);
	CU_ASSERT_TRUE(bins.x.low + bins.x.n * bins.x.step > bins.x.greatest);
	/*
	 * The same points again: those below the middle border of the grid lie in its lower half.
	 */
	row = low + bins.y.n / 2 * bins.y.step;
	seed = 99;
	for (unsigned i = 0; i < 60000; i++) {
		double scale = pow(10, i / 10000), y = (next_random(&seed) - 0.5) * scale;

		next_random(&seed);
		below += y < row;
	}
	for (unsigned i = 0; i < bins.y.n / 2 * bins.x.n; i++)
		counted += bins.cell[i];
	CU_ASSERT_TRUE(counted > below - 60 && counted < below + 60);
	ktr__bins_free(&bins);
}

static void bins_of_one_point(void)
{
	struct ktr__bins bins = { 0 };

	for (unsigned i = 0; i < KTR__BINS_POINTS + 10; i++)
		CU_ASSERT_EQUAL(ktr__bins_add(&bins, 5, -7), 0);
	CU_ASSERT_EQUAL(bins.x.least, 5);
	CU_ASSERT_EQUAL(bins.y.greatest, -7);
	CU_ASSERT_EQUAL(ktr__bins_correlation(&bins), 0);
	ktr__bins_free(&bins);
}

SUITE(bins, TEST(bins_keep_every_point), TEST(bins_of_one_point));
