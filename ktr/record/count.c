/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting instead of recording: the counts of this process's events. */
#include "ktr/record/count.h"

#include "ktr/control/counts.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <string.h>

/* Pages of counts that are there on all CPUs, as this process knows itself. */
#define COUNT_PAGES 1024u
static uint64_t count_present[COUNT_PAGES / 64];

/* That whoever switched counting on has made memory for it is what the session says. */
uint64_t *ktr__counts(uint32_t site)
{
	uint32_t page = site / (KTR__COUNT_PAGE / sizeof(uint64_t));
	uint64_t *present = &count_present[page / 64 % (COUNT_PAGES / 64)], bit = 1ull << page % 64;
	uint64_t *counts = __atomic_load_n(&ktr__rec.counts, __ATOMIC_ACQUIRE);

	if (likely(counts && __atomic_load_n(present, __ATOMIC_RELAXED) & bit))
		return counts;
	if (!counts)
		memset(count_present, 0, sizeof(count_present)); /* another session than before */
	if (page >= COUNT_PAGES || !ktr__own.map || ktr__own.sealed ||
	    ktr__counts_populate(&ktr__own, (uint64_t)page * KTR__COUNT_PAGE, KTR__COUNT_PAGE))
		return NULL;
	__atomic_fetch_or(present, bit, __ATOMIC_RELAXED);
	counts = ktr__region_rows(&ktr__own, count, uint64_t);
	__atomic_store_n(&ktr__rec.counts, counts, __ATOMIC_RELEASE);
	return counts;
}
