/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ANALYZE_DERIVE_MEMORY_H
#define ANALYZE_DERIVE_MEMORY_H

#include "analyze/derive/derive_parts.h"

/* What an event means for counters of memory; others mean nothing. Returns 0, -ENOMEM or what the sink returned. */
int ktr__derive_memory(struct ktr__derive *derive, const struct ktr_event *event);

/* Tells again, at that moment, what processes have. As the other. */
int ktr__derive_memory_again(struct ktr__derive *derive, uint64_t ns);

#endif
