/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked about the probes of this process. Each takes the registry's lock. */
#ifndef KTR_PROBE_LOOK_H
#define KTR_PROBE_LOOK_H

#include <stdint.h>

void ktr__probe_totals(uint64_t *n_probes, uint64_t *n_enabled, uint64_t *n_fired, uint64_t *overhead_ns);
uint32_t ktr__probe_of_site(uint32_t site); /* index of the probe whose call site this is; 0: none has it */
uint32_t ktr__probe_id(uint32_t index);

#endif
