/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe fires. */
#ifndef KTR_PROBE_FIRE_H
#define KTR_PROBE_FIRE_H

#include "ktr/provider/probe/registry.h"

#include <stdint.h>

/* Counts of one probe or of all, summed over threads. */
struct ktr__probe_sums {
	uint64_t captured;
	uint64_t filtered;
	uint64_t sampled_ns;
	uint64_t n_sampled;
};

void ktr__probe_place(struct ktr_probe *probe); /* after its row or index has changed */
uint64_t ktr__probe_count(const struct ktr_probe *probe);
void ktr__probe_sum(struct ktr__probe_sums *sums);
uint64_t ktr__probe_calibrate(void); /* [ns] of a fire that neither records nor calls */
void ktr__probe_forked(void);	     /* this process is a new one: it has fired nothing */

#endif
