/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks of equally many events; see pace.h. */
#include "analyze/stats/pace.h"

#include <math.h>

void ktr__pace_add(struct ktr__pace *pace, uint64_t at)
{
	if (!pace->n_stride)
		pace->n_stride = 1;
	if ((pace->n & (pace->n_stride - 1)) == 0) { /* a stride is a power of two */
		if (pace->n_marks == KTR__PACE_MARKS) {
			for (unsigned i = 0; i < KTR__PACE_MARKS / 2; i++)
				pace->mark[i] = pace->mark[2 * i];
			pace->n_marks /= 2;
			/* The event is the KTR__PACE_MARKS-th part's first, an even one: it remains a mark. */
			pace->n_stride *= 2;
		}
		pace->mark[pace->n_marks++] = at;
	}
	pace->n++;
}

int ktr__pace_noise(const struct ktr__pace *pace, struct ktr__noise *noise)
{
	double x[2 * KTR__PACE_BATCHES];
	unsigned n_parts = pace->n_marks >= 3 ? pace->n_marks - 3 : 0;
	unsigned n_each = n_parts >= 2 * KTR__PACE_BATCHES ? n_parts / KTR__PACE_BATCHES : 1, n = 0;
	const uint64_t *mark = pace->mark + 1;

	*noise = (struct ktr__noise){ 0 };
	/* Parts that do not fill a batch are left out at the end. */
	for (unsigned i = 0; i + n_each <= n_parts && n < 2 * KTR__PACE_BATCHES; i += n_each)
		x[n++] = (double)(mark[i + n_each] - mark[i]);
	if (n < KTR__NOISE_MIN)
		return -1;
	ktr__noise_sums(x, n, noise);
	noise->mean -= log((double)(n_each * pace->n_stride));
	return noise->df > 0 ? 0 : -1;
}
