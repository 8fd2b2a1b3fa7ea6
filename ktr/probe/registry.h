/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of run-time probes know of each other. */
#ifndef KTR_PROBE_REGISTRY_H
#define KTR_PROBE_REGISTRY_H

#include <ktr/probe.h>

#include <stdbool.h>

/* Counts of one probe or of all, summed over threads. */
struct ktr__probe_sums {
	uint64_t captured;
	uint64_t filtered;
	uint64_t sampled_ns;
	uint64_t n_sampled;
};

/* fire.c */
uint64_t ktr__probe_count(uint32_t index);
void ktr__probe_sum(struct ktr__probe_sums *sums);
uint64_t ktr__probe_calibrate(void); /* [ns] of a fire that neither records nor calls */
bool ktr__probe_handling(void);	     /* in the calling thread a handler runs */

/* registry.c */
void ktr__probe_totals(uint64_t *n_probes, uint64_t *n_enabled, uint64_t *n_fired, uint64_t *overhead_ns);
uint32_t ktr__probe_of_site(uint32_t site); /* index of the probe whose call site this is; 0: none has it */
uint32_t ktr__probe_id(uint32_t index);

#endif
