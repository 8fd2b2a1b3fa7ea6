/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table with open addressing, of one size: what takes much is among the first thousands. */
#include "ktr/provider/registry/shares.h"

#include <string.h>

void ktr__shares_clear(struct ktr__shares *shares)
{
	memset(shares, 0, sizeof(*shares));
}

void ktr__shares_add(struct ktr__shares *shares, uint32_t thread, uint64_t what, uint64_t events)
{
	uint32_t at = (uint32_t)((what ^ thread) * 0x9e3779b97f4a7c15ull >> (64 - KTR__SHARES_LOG2));

	for (;; at = (at + 1) % (1u << KTR__SHARES_LOG2)) {
		struct ktr__share *share = &shares->share[at];

		if (!share->what) {
			if (shares->n == KTR__SHARES_MAX)
				return;
			shares->n++;
			share->what = what;
			share->thread = thread;
		}
		if (share->what == what && share->thread == thread) {
			share->events += events;
			return;
		}
	}
}

uint32_t ktr__shares_percent(uint64_t events, uint32_t price_ps, uint64_t ns)
{
	double took_ns = (double)events / KTR__SHARES_ONE * price_ps / 1000;

	return ns ? (uint32_t)(took_ns < (double)ns ? took_ns * 100 / (double)ns : 100) : 0;
}
