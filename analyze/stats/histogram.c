/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log-linear histograms, after HdrHistogram (Gil Tene): each power of two is divided into as many
 * equal steps, so that the error relative to the number is the same everywhere.
 *
 * Step i holds one number when i < STEPS; step STEPS * o + s, o >= 1, holds the numbers n with
 * n >> (o - 1) == STEPS + s. Counts lie in one block per octave, allocated when the octave gets its
 * first number: a span that takes microseconds pays for two or three of the 58.
 *
 * Until there are more than EXACT numbers they are kept as they came and no block exists.
 *
 * Counts are many and touched at random: each waits for the next number, by when its line has come.
 */
#include "analyze/stats/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((KTR__HISTOGRAM_STEPS & (KTR__HISTOGRAM_STEPS - 1)) == 0, "a power of two");

static unsigned histogram_step(uint64_t number)
{
	unsigned top, octave;

	if (number < KTR__HISTOGRAM_STEPS)
		return (unsigned)number;
	top = 63 - (unsigned)__builtin_clzll(number);
	octave = top - KTR__HISTOGRAM_STEPS_LOG2 + 1;
	return octave * KTR__HISTOGRAM_STEPS + (unsigned)(number >> (octave - 1)) -
	       KTR__HISTOGRAM_STEPS;
}

static void histogram_ends(unsigned step, uint64_t *low, uint64_t *high)
{
	unsigned octave = step / KTR__HISTOGRAM_STEPS, in = step % KTR__HISTOGRAM_STEPS;

	if (octave == 0) {
		*low = *high = step;
		return;
	}
	*low = (uint64_t)(KTR__HISTOGRAM_STEPS + in) << (octave - 1);
	*high = *low + ((1ull << (octave - 1)) - 1);
}

static int histogram_count(struct ktr__histogram *h, uint64_t number)
{
	unsigned step = histogram_step(number);
	uint64_t **block = &h->octave[step / KTR__HISTOGRAM_STEPS], *count;

	if (!*block)
		*block = calloc(KTR__HISTOGRAM_STEPS, sizeof(**block));
	if (!*block)
		return -ENOMEM;
	count = &(*block)[step % KTR__HISTOGRAM_STEPS];
	__builtin_prefetch(count, 1);
	if (h->late)
		++*h->late;
	h->late = count;
	return 0;
}

/* Moves the numbers kept as they are into steps. */
static int histogram_spread(struct ktr__histogram *h)
{
	int rc = 0;

	h->octave = calloc(KTR__HISTOGRAM_OCTAVES, sizeof(*h->octave));
	if (!h->octave)
		return -ENOMEM;
	for (unsigned i = 0; i < h->n && !rc; i++)
		rc = histogram_count(h, h->exact[i]);
	if (rc) {
		for (unsigned i = 0; i < KTR__HISTOGRAM_OCTAVES; i++)
			free(h->octave[i]);
		free(h->octave);
		h->octave = NULL;
		h->late = NULL;
	}
	return rc;
}

/* Sums of the numbers: Welford's update, which does not cancel as a sum of squares would. */
static void histogram_sums(struct ktr__histogram *h, uint64_t number)
{
	double x = (double)number, delta = x - h->mean;

	if (h->n == 0 || number < h->min)
		h->min = number;
	if (h->n == 0 || number > h->max)
		h->max = number;
	h->n++;
	h->sum += x;
	h->mean += delta / (double)h->n;
	h->squares += delta * (x - h->mean);
}

int ktr__histogram_add(struct ktr__histogram *h, uint64_t number)
{
	int rc = 0;

	if (!h->octave && h->n == KTR__HISTOGRAM_EXACT)
		rc = histogram_spread(h);
	if (rc)
		return rc;
	if (!h->octave)
		h->exact[h->n] = number;
	else
		rc = histogram_count(h, number);
	if (!rc)
		histogram_sums(h, number);
	return rc;
}

static int histogram_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t ktr__histogram_quantile(const struct ktr__histogram *h, double q)
{
	uint64_t rank, seen = 0, low, high, count, sorted[KTR__HISTOGRAM_EXACT];
	double want = ceil((double)h->n * q);

	if (h->n == 0)
		return 0;
	rank = want < 1 ? 1 : want > (double)h->n ? h->n : (uint64_t)want;
	if (!h->octave) {
		memcpy(sorted, h->exact, sizeof(sorted));
		qsort(sorted, h->n, sizeof(sorted[0]), histogram_compare);
		return sorted[rank - 1];
	}
	for (unsigned at = 0; ktr__histogram_next(h, &at, &low, &high, &count);) {
		uint64_t middle = low + (high - low) / 2;

		seen += count;
		if (seen >= rank)
			return middle < h->min ? h->min : middle > h->max ? h->max : middle;
	}
	return h->max;
}

int ktr__histogram_tell(const struct ktr__histogram *h, double q, uint64_t *number)
{
	*number = ktr__histogram_quantile(h, q);
	return (double)h->n * (1 - q) > 1 - 1e-9;
}

double ktr__histogram_deviation(const struct ktr__histogram *h)
{
	return h->n ? sqrt(h->squares / (double)h->n) : 0;
}

/* The next of the numbers kept as they are, smallest first; *at counts those handed out. */
static int histogram_next_exact(const struct ktr__histogram *h, unsigned *at, uint64_t *low,
				uint64_t *high, uint64_t *count)
{
	uint64_t sorted[KTR__HISTOGRAM_EXACT];
	unsigned i = *at;

	if (i >= h->n)
		return 0;
	memcpy(sorted, h->exact, sizeof(sorted));
	qsort(sorted, h->n, sizeof(sorted[0]), histogram_compare);
	*low = *high = sorted[i];
	while (*at < h->n && sorted[*at] == sorted[i])
		++*at;
	*count = *at - i;
	return 1;
}

int ktr__histogram_next(const struct ktr__histogram *h, unsigned *at, uint64_t *low, uint64_t *high,
			uint64_t *count)
{
	if (!h->octave)
		return histogram_next_exact(h, at, low, high, count);
	while (*at < KTR__HISTOGRAM_OCTAVES * KTR__HISTOGRAM_STEPS) {
		const uint64_t *block = h->octave[*at / KTR__HISTOGRAM_STEPS], *told;
		unsigned step = *at;

		if (!block) {
			*at += KTR__HISTOGRAM_STEPS;
			continue;
		}
		++*at;
		told = &block[step % KTR__HISTOGRAM_STEPS];
		*count = *told + (told == h->late);
		if (!*count)
			continue;
		histogram_ends(step, low, high);
		return 1;
	}
	return 0;
}

void ktr__histogram_powers(const struct ktr__histogram *h, uint64_t count[KTR__HISTOGRAM_POWERS])
{
	uint64_t low, high, n;
	unsigned at = 0;

	memset(count, 0, KTR__HISTOGRAM_POWERS * sizeof(*count));
	while (ktr__histogram_next(h, &at, &low, &high, &n))
		count[low ? 64 - (unsigned)__builtin_clzll(low) : 0] += n;
}

void ktr__histogram_free(struct ktr__histogram *h)
{
	for (unsigned i = 0; h->octave && i < KTR__HISTOGRAM_OCTAVES; i++)
		free(h->octave[i]);
	free(h->octave);
	memset(h, 0, sizeof(*h));
}
