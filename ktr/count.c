/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting instead of recording: a number per site and CPU. Its memory is allocated by whoever switches
 * a class or site to counting, for the sites there are, and by registration for those that come later, so
 * that an increment never meets a full file system.
 */
#include "ktr/own.h"

#include <errno.h>
#include <sys/mman.h>

#define COUNT_PAGE 4096u /* [bytes] no smaller pages exist */

int ktr__counts_open(struct ktr__session *session, uint32_t n_sites)
{
	const struct ktr_region *region = &session->header.region[KTR_REGION_count];
	uint64_t stride = (uint64_t)session->header.region[KTR_REGION_site].n_rows * sizeof(uint64_t);
	uint64_t bytes = ((uint64_t)n_sites * sizeof(uint64_t) / COUNT_PAGE + 1) * COUNT_PAGE;

	if (bytes > stride)
		bytes = stride;
	for (uint32_t cpu = 0; cpu < session->header.n_rings; cpu++) {
		int code = ktr__populate(session->map + region->offset + cpu * stride, bytes);

		if (code && code != -ENOSYS)
			return code;
	}
	return 0;
}

uint64_t *ktr__counts(void)
{
	const struct ktr_region *region = &ktr__own.header.region[KTR_REGION_count];
	uint64_t *counts = __atomic_load_n(&ktr__rec.counts, __ATOMIC_ACQUIRE);

	if (counts || !ktr__own.map || ktr__own.sealed)
		return counts;
	counts = ktr__region(&ktr__own, count, uint64_t);
	if (mprotect(counts, region->bytes, PROT_READ | PROT_WRITE) != 0)
		return NULL;
	__atomic_store_n(&ktr__rec.counts, counts, __ATOMIC_RELEASE);
	return counts;
}
