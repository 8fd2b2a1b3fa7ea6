/* SPDX-License-Identifier: BSD-2-Clause */
/* The probes of this process. */
#ifndef KTR_PROBE_REGISTRY_H
#define KTR_PROBE_REGISTRY_H

/* ktr starts when a program's module attaches or a probe is made, never because this library is linked in. */
#define KTR_NO_AUTOSTART

#include "ktr/record/record.h"

#include <ktr/probe.h>

void ktr__probe_totals(uint64_t *n_probes, uint64_t *n_enabled, uint64_t *n_fired, uint64_t *overhead_ns);
uint32_t ktr__probe_of_site(uint32_t site); /* index of the probe whose call site this is; 0: none has it */
uint32_t ktr__probe_id(uint32_t index);

#endif
