/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Did something change between two rows of measurements, or is it noise?
 *
 * Each row holds one number for each block of time, in the order of time: medians of durations, rates of
 * events. The numbers are compared by rank (Mann and Whitney, "On a test of whether one of two random
 * variables is stochastically larger than the other", 1947): no distribution is assumed, and a single
 * outlier weighs no more than its rank. Blocks stand for independent measurements as batch means do in
 * simulation (Law, "Simulation Modeling and Analysis", 9.5.3). What dependence is left between one block
 * and the next widens the noise by (1 + r) / (1 - r), r being the autocorrelation of the ranks (Bayley
 * and Hammersley, "The 'effective' number of independent observations in an autocorrelated time series",
 * 1946), corrected for its bias in short rows (Kendall 1954).
 */
#ifndef ANALYZE_RANKS_H
#define ANALYZE_RANKS_H

/* [numbers] Rows may be so long; the pairs of both are sorted. */
#define KTR__RANKS_MAX 256

/* Fewer numbers on either side can tell nothing: the normal approximation of U holds from 8 on. */
#define KTR__RANKS_MIN 8

struct ktr__ranks {
	double p;         /* of being so far apart by chance, two-sided */
	double ratio;     /* B as a multiple of A: median of all pairs (Hodges and Lehmann 1963) */
	double low, high; /* the ratio's confidence interval */
};

/*
 * Compares n_a numbers with n_b, none negative. alpha: 1 minus the confidence of the interval. 0, or -1
 * where there are too few.
 */
int ktr__ranks_compare(const double *a, unsigned n_a, const double *b, unsigned n_b, double alpha,
		       struct ktr__ranks *ranks);

/*
 * Makes n probabilities those of the family as a whole (Holm, "A simple sequentially rejective multiple
 * test procedure", 1979): one below alpha is a false alarm anywhere among them with that probability.
 * order: room for n.
 */
void ktr__ranks_holm(double *p, unsigned *order, unsigned n);

#endif
