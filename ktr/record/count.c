/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting instead of recording: a number per site and CPU. Its memory is allocated by whoever switches
 * a class or site to counting, for the sites there are, and by registration for those that come later, so
 * that an increment never meets a full file system.
 */
#include "ktr/record/own.h"

#include <errno.h>
#include <string.h>

#define COUNT_PAGE 4096u /* [bytes] no smaller pages exist */

/* Of each CPU's counts so many bytes from `at` on. */
static int count_populate(const struct ktr__session_rw *session, uint64_t at, uint64_t bytes)
{
	const struct ktr_region *region = &session->header.region[KTR_REGION_count];
	uint64_t stride = (uint64_t)session->header.region[KTR_REGION_site].n_rows * sizeof(uint64_t);


	if (bytes > stride - at)
		bytes = stride - at;
	for (uint32_t cpu = 0; cpu < session->header.n_rings; cpu++) {
		int code = ktr__populate(session->map + region->offset + cpu * stride + at, bytes);

		if (code && code != -ENOSYS)
			return code;
	}
	return 0;
}

int ktr__counts_open(struct ktr__session_rw *session, uint32_t n_sites)
{
	return count_populate(session, 0, ((uint64_t)n_sites * sizeof(uint64_t) / COUNT_PAGE + 1) * COUNT_PAGE);
}

/* Pages of counts that are there on all CPUs, as this process knows itself. */
#define COUNT_PAGES 1024u
static uint64_t count_present[COUNT_PAGES / 64];

/* That whoever switched counting on has made memory for it is what the session says. */
uint64_t *ktr__counts(uint32_t site)
{
	uint32_t page = site / (COUNT_PAGE / sizeof(uint64_t));
	uint64_t *present = &count_present[page / 64 % (COUNT_PAGES / 64)], bit = 1ull << page % 64;
	uint64_t *counts = __atomic_load_n(&ktr__rec.counts, __ATOMIC_ACQUIRE);

	if (likely(counts && __atomic_load_n(present, __ATOMIC_RELAXED) & bit))
		return counts;
	if (!counts)
		memset(count_present, 0, sizeof(count_present)); /* another session than before */
	if (page >= COUNT_PAGES || !ktr__own.map || ktr__own.sealed ||
	    count_populate(&ktr__own, (uint64_t)page * COUNT_PAGE, COUNT_PAGE))
		return NULL;
	__atomic_fetch_or(present, bit, __ATOMIC_RELAXED);
	counts = ktr__region_rows(&ktr__own, count, uint64_t);
	__atomic_store_n(&ktr__rec.counts, counts, __ATOMIC_RELEASE);
	return counts;
}
