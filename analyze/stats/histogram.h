/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distributions of 64-bit numbers in little memory. Quantiles are exact for the first
 * KTR__HISTOGRAM_EXACT numbers and for numbers below KTR__HISTOGRAM_STEPS; otherwise they are off
 * by at most KTR__HISTOGRAM_ERROR of their value.
 *
 * A record of zero bytes is an empty histogram. One thread at a time.
 */
#ifndef ANALYZE_HISTOGRAM_H
#define ANALYZE_HISTOGRAM_H

#include <stdint.h>

/* Steps into which each power of two is divided; halving it doubles the error. A power of two. */
#define KTR__HISTOGRAM_STEPS_LOG2 7
#define KTR__HISTOGRAM_STEPS      (1u << KTR__HISTOGRAM_STEPS_LOG2)

/* A step is at most 1/128 of its lower end wide, and its middle is what quantiles answer. */
#define KTR__HISTOGRAM_ERROR      (0.5 / KTR__HISTOGRAM_STEPS)

/* How many numbers are kept as they are before steps are counted: most rows have few. */
#define KTR__HISTOGRAM_EXACT      16

/* Numbers below STEPS, then one octave for each higher bit. */
#define KTR__HISTOGRAM_OCTAVES    (64 - KTR__HISTOGRAM_STEPS_LOG2 + 1)

struct ktr__histogram {
	uint64_t n;   /* numbers added */
	uint64_t min; /* of no meaning while n is 0 */
	uint64_t max;
	double sum;
	double squares; /* sum of squared distances from the mean (Welford) */
	double mean;
	uint64_t exact[KTR__HISTOGRAM_EXACT]; /* the numbers, until there are more */
	uint64_t **octave; /* owned: counts of steps, each octave when first needed; NULL before */
	uint64_t *late;    /* the count, among them, that has not been told of the last number; NULL: none */
};

/* Adds a number. 0 or -ENOMEM; the number is then in none of the sums. */
int ktr__histogram_add(struct ktr__histogram *h, uint64_t number);

/* The number that a share q (0 to 1) of all does not exceed; nearest rank. 0 when empty. */
uint64_t ktr__histogram_quantile(const struct ktr__histogram *h, double q);

/*
 * The same for whoever is told of it, where there are numbers enough to say it: 1, or 0. At least one has to lie
 * above it: of fewer than 100 numbers the 99th percentile is the greatest by another name.
 */
int ktr__histogram_tell(const struct ktr__histogram *h, double q, uint64_t *number);

/* Standard deviation of the whole population, 0 when empty. */
double ktr__histogram_deviation(const struct ktr__histogram *h);

/*
 * Steps through what is counted, for charts: *at starts at 0; each call that returns 1 fills the
 * inclusive ends of the next non-empty step and its count. 0 at the end.
 */
int ktr__histogram_next(const struct ktr__histogram *h, unsigned *at, uint64_t *low, uint64_t *high,
			uint64_t *count);

/* Counts by powers of two: count[0] of the number 0, count[i] of those in [2^(i - 1), 2^i). Exact. */
#define KTR__HISTOGRAM_POWERS 65
void ktr__histogram_powers(const struct ktr__histogram *h, uint64_t count[KTR__HISTOGRAM_POWERS]);

/* Frees what the histogram owns and empties it. */
void ktr__histogram_free(struct ktr__histogram *h);

#endif
