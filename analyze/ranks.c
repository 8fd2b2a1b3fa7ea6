/* SPDX-License-Identifier: BSD-2-Clause */
/* The Mann-Whitney test on numbers that come in the order of time, and its interval. */
#include "analyze/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_CORRELATION_MAX 0.9

struct ranks_item {
	double value;
	unsigned at; /* in a, and behind its end in b */
};

static int ranks_by_value(const void *a, const void *b)
{
	const struct ranks_item *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static int ranks_by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Ranks from 1, equal numbers share theirs. Returns the sum of t^3 - t over groups of t equal ones. */
static double ranks_assign(const double *a, unsigned n_a, const double *b, unsigned n_b,
			   double *rank)
{
	struct ranks_item item[2 * KTR__RANKS_MAX];
	unsigned n = n_a + n_b;
	double ties = 0;

	for (unsigned i = 0; i < n; i++)
		item[i] = (struct ranks_item){ i < n_a ? a[i] : b[i - n_a], i };
	qsort(item, n, sizeof(item[0]), ranks_by_value);
	for (unsigned i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && item[end].value == item[i].value;)
			end++;
		t = end - i;
		ties += t * t * t - t;
		for (unsigned k = i; k < end; k++)
			rank[item[k].at] = (i + 1 + end) / 2.0;
	}
	return ties;
}

/* Autocorrelation at lag 1, corrected for the bias of short rows; 0 where there is none, or less. */
static double ranks_correlation(const double *rank, unsigned n)
{
	double mean = 0, square = 0, product = 0, r;

	for (unsigned i = 0; i < n; i++)
		mean += rank[i] / n;
	for (unsigned i = 0; i < n; i++) {
		square += (rank[i] - mean) * (rank[i] - mean);
		product += i ? (rank[i] - mean) * (rank[i - 1] - mean) : 0;
	}
	/* Ranks that differ do so by a half at least; less is the mean's rounding. */
	if (square < 0.1)
		return 0;
	r = product / square;
	r += (1 + 3 * r) / n;
	return r < 0 ? 0 : r > RANKS_CORRELATION_MAX ? RANKS_CORRELATION_MAX : r;
}

/* The deviation of U when nothing changed. */
static double ranks_deviation(const double *rank, unsigned n_a, unsigned n_b, double ties)
{
	double n = n_a + n_b;
	double variance = (double)n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
	double r = (ranks_correlation(rank, n_a) * n_a + ranks_correlation(rank + n_a, n_b) * n_b) /
		   n;

	return sqrt(variance * (1 + r) / (1 - r));
}

static double ranks_p(const double *rank, unsigned n_a, unsigned n_b, double deviation)
{
	double u = -(double)n_b * (n_b + 1) / 2, away;

	for (unsigned i = n_a; i < n_a + n_b; i++)
		u += rank[i];
	away = fabs(u - (double)n_a * n_b / 2) - 0.5; /* for continuity */
	return deviation > 0 && away > 0 ? erfc(away / deviation / sqrt(2)) : 1;
}

/* The z that a share alpha of a normal distribution exceeds on both sides, by bisection. */
static double ranks_z(double alpha)
{
	double low = 0, high = 40;

	for (int i = 0; i < 60; i++) {
		double z = (low + high) / 2;

		*(erfc(z / sqrt(2)) > alpha ? &low : &high) = z;
	}
	return low;
}

static double ranks_quotient(double b, double a)
{
	return a > 0 ? b / a : b > 0 ? INFINITY : 1;
}

static int ranks_interval(const double *a, unsigned n_a, const double *b, unsigned n_b,
			  double spread, struct ktr__ranks *ranks)
{
	unsigned n = n_a * n_b;
	double *all = malloc(n * sizeof(*all));
	double first = floor(n / 2.0 - spread);

	if (!all)
		return -1;
	for (unsigned i = 0; i < n; i++)
		all[i] = ranks_quotient(b[i % n_b], a[i / n_b]);
	qsort(all, n, sizeof(*all), ranks_by_number);
	first = first < 0 ? 0 : first;
	ranks->ratio = n % 2 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2;
	ranks->low = all[(unsigned)first];
	ranks->high = all[n - 1 - (unsigned)first];
	free(all);
	return 0;
}

int ktr__ranks_compare(const double *a, unsigned n_a, const double *b, unsigned n_b, double alpha,
		       struct ktr__ranks *ranks)
{
	double rank[2 * KTR__RANKS_MAX], ties, deviation;

	if (n_a < KTR__RANKS_MIN || n_b < KTR__RANKS_MIN || n_a > KTR__RANKS_MAX ||
	    n_b > KTR__RANKS_MAX)
		return -1;
	ties = ranks_assign(a, n_a, b, n_b, rank);
	deviation = ranks_deviation(rank, n_a, n_b, ties);
	ranks->p = ranks_p(rank, n_a, n_b, deviation);
	return ranks_interval(a, n_a, b, n_b, ranks_z(alpha) * deviation, ranks);
}

void ktr__ranks_holm(double *p, unsigned *order, unsigned n)
{
	double most = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned k = i;

		for (; k > 0 && p[order[k - 1]] > p[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (unsigned i = 0; i < n; i++) {
		double adjusted = p[order[i]] * (n - i);

		most = adjusted > most ? adjusted : most;
		p[order[i]] = most < 1 ? most : 1;
	}
}
