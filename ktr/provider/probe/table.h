/* SPDX-License-Identifier: BSD-2-Clause */
/* All probes of this process, by type and name, by index and by id. Under the registry's lock. */
#ifndef KTR_PROBE_TABLE_H
#define KTR_PROBE_TABLE_H

#include "ktr/provider/probe/registry.h"

#include <stdbool.h>
#include <stdint.h>

extern const uint32_t ktr__probe_zero; /* what is tested where a probe is off */

struct ktr_probe *ktr__probe_table_find(uint32_t type, const char *name);

/* One that is not there yet, off and without an id. NULL: no memory. */
struct ktr_probe *ktr__probe_table_make(uint32_t type, const char *name, const char *function);

struct ktr_probe *ktr__probe_table_at(uint32_t index);
struct ktr_probe *ktr__probe_table_next(const struct ktr_probe *probe); /* in the order of index; NULL: the first */

/* An id is one probe's, once. false: no memory. */
bool ktr__probe_table_give_id(struct ktr_probe *probe);
void ktr__probe_table_take_id(struct ktr_probe *probe);
struct ktr_probe *ktr__probe_table_of_id(uint32_t id);

#endif
