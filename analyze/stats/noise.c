/* SPDX-License-Identifier: BSD-2-Clause */
/* Means, their variances, and Student's distribution. */
#include "analyze/stats/noise.h"

#include <math.h>

#define NOISE_CORRELATION_MAX 0.9

static double noise_mean(const double *x, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / n : 0;
}

static double noise_squares(const double *x, unsigned n, double mean)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

/* Autocorrelation at lag 1, corrected for the bias of short rows; 0 where there is none, or less. */
static double noise_correlation(const double *x, unsigned n, double mean, double squares)
{
	double product = 0, r;

	for (unsigned i = 1; i < n; i++)
		product += (x[i] - mean) * (x[i - 1] - mean);
	/* What is equal but for rounding has no correlation. */
	if (squares <= 1e-18 * n * (1 + mean * mean))
		return 0;
	r = product / squares;
	r += (1 + 3 * r) / n;
	return r < 0 ? 0 : r > NOISE_CORRELATION_MAX ? NOISE_CORRELATION_MAX : r;
}

void ktr__noise_runs(const double *x, unsigned n, struct ktr__noise *noise)
{
	noise->mean = noise_mean(x, n);
	noise->df = n > 1 ? n - 1 : 0;
	noise->variance = n > 1 ? noise_squares(x, n, noise->mean) / (n - 1) / n : 0;
}

void ktr__noise_batches(const double *x, unsigned n, struct ktr__noise *noise)
{
	double squares, r, wider;

	ktr__noise_runs(x, n, noise);
	if (n < KTR__NOISE_MIN) {
		noise->df = 0;
		return;
	}
	squares = noise_squares(x, n, noise->mean);
	r = noise_correlation(x, n, noise->mean, squares);
	wider = (1 + r) / (1 - r);
	noise->variance *= wider;
	/* As many independent numbers as there are in effect; with fewer than 3 the t is beyond use anyway. */
	noise->df = fmax(n / wider - 1, 2);
}

void ktr__noise_sums(const double *x, unsigned n, struct ktr__noise *noise)
{
	double mean;

	ktr__noise_batches(x, n, noise);
	mean = noise->mean;
	if (!(mean > 0)) {
		noise->df = 0;
		return;
	}
	noise->mean = log(mean);
	noise->variance /= mean * mean;
}

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by Lentz's method. */
static double noise_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;

	for (int i = 1; i < 400; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1)), step;

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		value *= c * d;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		step = c * d;
		value *= step;
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return value;
}

/* How likely |t| is exceeded: the incomplete beta function of df / (df + t * t) (A. and S. 26.7.1). */
static double noise_beyond(double t, double df)
{
	double a = df / 2, b = 0.5, x = df / (df + t * t);
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	if (t <= 0)
		return 1;
	if (x < (a + 1) / (a + b + 2))
		return front * noise_fraction(a, b, x) / a;
	return 1 - front * noise_fraction(b, a, 1 - x) / b;
}

double ktr__noise_t(double df, double alpha)
{
	double low = 0, high = 1;

	if (alpha >= 1)
		return 0;
	if (alpha <= 0)
		return INFINITY;
	while (noise_beyond(high, df) > alpha && high < 1e12)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double t = (low + high) / 2;

		*(noise_beyond(t, df) > alpha ? &low : &high) = t;
	}
	return high;
}

int ktr__noise_compare(const struct ktr__noise *a, const struct ktr__noise *b, double alpha, double *difference,
		       double *half)
{
	double variance = a->variance + b->variance, df;

	*difference = b->mean - a->mean;
	if (a->df <= 0 && b->df <= 0)
		return -1;
	if (a->df <= 0 || b->df <= 0) {
		const struct ktr__noise *known = a->df > 0 ? a : b;

		/* The other is one number: it varies as each of the df + 1 numbers here does. */
		variance = known->variance * (1 + (known->df + 1));
		df = known->df;
	} else {
		df = variance > 0 ? variance * variance / (a->variance * a->variance / a->df +
							   b->variance * b->variance / b->df)
				  : a->df + b->df;
	}
	*half = variance > 0 ? ktr__noise_t(df, alpha) * sqrt(variance) : 0;
	return 0;
}
