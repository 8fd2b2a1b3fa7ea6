/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting instead of recording: a number per site and CPU. Its memory is allocated by whoever switches
 * a class or site to counting, for the sites there are, and by registration for those that come later, so
 * that an increment never meets a full file system.
 */
#include "ktr/control/counts.h"

#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <errno.h>

int ktr__counts_populate(const struct ktr__session_rw *session, uint64_t at, uint64_t bytes)
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
	return ktr__counts_populate(session, 0,
				    ((uint64_t)n_sites * sizeof(uint64_t) / KTR__COUNT_PAGE + 1) * KTR__COUNT_PAGE);
}
