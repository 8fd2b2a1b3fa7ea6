/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By how much do two rows of measurements differ, and how well is that known?
 *
 * Each row is made of logarithms, so that a difference of means is a ratio. Its mean and the variance of its mean
 * come out of
 *
 *	batches	of one run, in the order of time. Batches of equally many events stand for independent
 *		measurements as batch means do in simulation (Law, "Simulation Modeling and Analysis", 9.5.3).
 *		What dependence is left between one and the next widens the noise by (1 + r) / (1 - r), r being
 *		their autocorrelation (Bayley and Hammersley, "The 'effective' number of independent observations
 *		in an autocorrelated time series", 1946), corrected for its bias in short rows (Kendall 1954).
 *	runs	each of which is one number. How runs differ from each other is the noise then.
 *
 * Two means are compared by Welch's t ("The generalization of Student's problem when several different population
 * variances are involved", 1947), which assumes that the means are normal: of logarithms of durations and rates that
 * is nearly so (they are positive and skewed), and the better the more numbers there are.
 */
#ifndef ANALYZE_NOISE_H
#define ANALYZE_NOISE_H

/* [numbers] Fewer batches of one run tell nothing of its noise. */
#define KTR__NOISE_MIN 5

struct ktr__noise {
	double mean;
	double variance; /* of the mean */
	double df;       /* degrees of freedom of the variance; 0: it is not known */
};

void ktr__noise_batches(const double *x, unsigned n, struct ktr__noise *noise);
void ktr__noise_runs(const double *x, unsigned n, struct ktr__noise *noise);

/*
 * The same of numbers whose mean is wanted, not that of their logarithms: batches of time, which add up. The
 * result is the logarithm of the mean (delta method).
 */
void ktr__noise_sums(const double *x, unsigned n, struct ktr__noise *noise);

/*
 * b - a and how far on either side of it the truth may lie, with the confidence 1 - alpha. One side may be a
 * single run (df 0): the other's variance stands for both. 0, or -1 where nothing is known of either.
 */
int ktr__noise_compare(const struct ktr__noise *a, const struct ktr__noise *b, double alpha, double *difference,
		       double *half);

/* The t that a share alpha of Student's distribution exceeds on both sides. */
double ktr__noise_t(double df, double alpha);

#endif
