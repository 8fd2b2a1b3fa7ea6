/* SPDX-License-Identifier: BSD-2-Clause */
/* Quantiles against sorted arrays, within the error that analyze/stats/histogram.h promises. */
#include "tests/unit/suite.h"

#include "analyze/stats/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HISTOGRAM_N 20000

static int histogram_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t histogram_exact(const uint64_t *sorted, size_t n, double q)
{
	double rank = ceil((double)n * q);

	return sorted[rank < 1 ? 0 : (size_t)rank - 1];
}

/*
 * Numbers of one shape: 0 all sizes, 1 as durations are, 2 small, 3 all the same, 4 two far apart.
 */
static uint64_t histogram_number(int shape)
{
	uint64_t bits = (uint64_t)random() << 33 ^ (uint64_t)random() << 11 ^ (uint64_t)random();
	double uniform = ((double)random() + 1) / 2147483649.0;

	switch (shape) {
	case 0:
		return bits >> random() % 64;
	case 1:
		return (uint64_t)(1000 * pow(uniform, -1.5));
	case 2:
		return bits % 300;
	case 3:
		return 123456789;
	default:
		return bits & 1 ? 3 : UINT64_MAX - 5;
	}
}

static void histogram_check(const struct ktr__histogram *h, uint64_t *numbers, size_t n)
{
	static const double share[] = { 0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	long double mean = 0, squares = 0;

	qsort(numbers, n, sizeof(*numbers), histogram_compare);
	for (size_t i = 0; i < sizeof(share) / sizeof(share[0]); i++) {
		double exact = (double)histogram_exact(numbers, n, share[i]);
		double got = (double)ktr__histogram_quantile(h, share[i]);

		CU_ASSERT(fabs(got - exact) <= KTR__HISTOGRAM_ERROR * exact);
	}
	for (size_t i = 0; i < n; i++)
		mean += (long double)numbers[i] / n;
	for (size_t i = 0; i < n; i++)
		squares += (numbers[i] - mean) * (numbers[i] - mean) / n;
	CU_ASSERT(h->n == n && h->min == numbers[0] && h->max == numbers[n - 1]);
	CU_ASSERT(fabsl(h->mean - mean) <= 1e-12L * mean);
	CU_ASSERT(fabsl(ktr__histogram_deviation(h) - sqrtl(squares)) <=
		  1e-9L * sqrtl(squares) + 1e-12L * mean);
}

static void quantiles_keep_the_promised_error(void)
{
	static uint64_t numbers[HISTOGRAM_N];

	srandom(1);
	for (int shape = 0; shape < 5; shape++) {
		struct ktr__histogram h = { 0 };

		for (size_t i = 0; i < HISTOGRAM_N; i++) {
			numbers[i] = histogram_number(shape);
			CU_ASSERT(ktr__histogram_add(&h, numbers[i]) == 0);
		}
		histogram_check(&h, numbers, HISTOGRAM_N);
		ktr__histogram_free(&h);
	}
}

static void powers_of_two_are_counted_exactly(void)
{
	uint64_t count[KTR__HISTOGRAM_POWERS], expected[KTR__HISTOGRAM_POWERS];

	srandom(4);
	for (size_t n = 0; n < 1000; n = n * 2 + 3) {
		struct ktr__histogram h = { 0 };

		memset(expected, 0, sizeof(expected));
		for (size_t i = 0; i < n; i++) {
			uint64_t number = i ? histogram_number(0) : 0;
			unsigned bits = 0;

			while (bits < 64 && number >> bits)
				bits++;
			expected[bits]++;
			ktr__histogram_add(&h, number);
		}
		ktr__histogram_powers(&h, count);
		CU_ASSERT(memcmp(count, expected, sizeof(count)) == 0);
		ktr__histogram_free(&h);
	}
}

static void few_numbers_are_exact(void)
{
	uint64_t numbers[KTR__HISTOGRAM_EXACT];

	srandom(2);
	for (size_t n = 1; n <= KTR__HISTOGRAM_EXACT; n++) {
		struct ktr__histogram h = { 0 };

		for (size_t i = 0; i < n; i++) {
			numbers[i] = histogram_number(0);
			ktr__histogram_add(&h, numbers[i]);
		}
		qsort(numbers, n, sizeof(*numbers), histogram_compare);
		for (double q = 0; q <= 1; q += 0.0625)
			CU_ASSERT(ktr__histogram_quantile(&h, q) == histogram_exact(numbers, n, q));
		ktr__histogram_free(&h);
	}
}

static void an_empty_one_answers_nothing(void)
{
	struct ktr__histogram h = { 0 };
	uint64_t low, high, count;
	unsigned at = 0;

	CU_ASSERT(ktr__histogram_quantile(&h, 0.5) == 0);
	CU_ASSERT(ktr__histogram_deviation(&h) == 0);
	CU_ASSERT(!ktr__histogram_next(&h, &at, &low, &high, &count));
	ktr__histogram_free(&h);
}

/* The steps are a partition: in order, without overlap, every number in the step that counts it. */
static void steps_hold_what_was_added(void)
{
	struct ktr__histogram h = { 0 };
	uint64_t low, high, count, n = 0, last = 0;
	unsigned at = 0;

	srandom(5);
	for (int i = 0; i < 5000; i++)
		ktr__histogram_add(&h, histogram_number(0));
	ktr__histogram_add(&h, 0);
	ktr__histogram_add(&h, UINT64_MAX);
	while (ktr__histogram_next(&h, &at, &low, &high, &count)) {
		CU_ASSERT(low <= high && (n == 0 || low > last) && count > 0);
		CU_ASSERT((double)(high - low) <= 2 * KTR__HISTOGRAM_ERROR * (double)low);
		last = high;
		n += count;
	}
	CU_ASSERT(n == 5002 && last == UINT64_MAX);
	ktr__histogram_free(&h);
}

SUITE(histogram, TEST(quantiles_keep_the_promised_error), TEST(powers_of_two_are_counted_exactly),
      TEST(few_numbers_are_exact),
      TEST(an_empty_one_answers_nothing), TEST(steps_hold_what_was_added));
