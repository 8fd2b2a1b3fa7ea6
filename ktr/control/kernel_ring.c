/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a session needs before the kernel's events can be fed into it: their classes, and a ring for each
 * CPU. Done by whoever asks for them (debug.ktr.kernel), so that a lack of memory is told to that one.
 */
#include "ktr/control/kernel_ring.h"

#include "ktr/control/rings.h"
#include "ktr/session/cpu.h"
#include "ktr/session/kernel_event.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <errno.h>

/*
 * [log2 entries] 16,384 switches or faults per CPU between two looks at them, at most 50 ms apart; less
 * where there are many CPUs: all together shall not take more than 32 MiB.
 */
#define KERNEL_RING_LOG2  14
#define KERNEL_RING_LEAST 11
#define KERNEL_RING_TOTAL (32ull << 20)

int ktr__kernel_open(struct ktr__session_rw *session, struct ktr_error *err)
{
	uint32_t n_rings = session->header.n_rings, base = KTR_RING_KERNEL * n_rings;
	uint32_t most = session->header.keep_log2_max;
	unsigned log2 = most < KERNEL_RING_LOG2 ? most : KERNEL_RING_LOG2;
	uint64_t online[KTR_CPU_MAX / 64];
	uint32_t n = ktr__cpus_online(online);
	int code;

	if (session->header.region[KTR_REGION_ring].n_rows < base + n_rings)
		return ktr_error_set(err, EOPNOTSUPP, "the session is of an older version and has no rings for it");
	while (log2 > KERNEL_RING_LEAST && ((uint64_t)KTR_ENTRY_BYTES << log2) * n > KERNEL_RING_TOTAL)
		log2--;
	code = ktr__rings_make(session, base, base + n_rings, log2, online);
	if (code)
		return ktr_error_set(err, -code, "no memory for a ring of %u entries on each of %u CPUs: %m",
				     1u << log2, n);
	if (!ktr__session_class(session, KTR_KERNEL_SWITCH_CLASS, KTR_KERNEL_SWITCH_HELP) ||
	    !ktr__session_class(session, KTR_KERNEL_FAULT_CLASS, KTR_KERNEL_FAULT_HELP))
		return ktr_error_set(err, ENOSPC, "the session has no class left for them");
	return 0;
}
