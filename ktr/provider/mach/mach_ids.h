/* SPDX-License-Identifier: BSD-2-Clause */
/* The probes that are registered, in the order of their ids. Under the lock, all of it. */
#ifndef KTR_MACH_IDS_H
#define KTR_MACH_IDS_H

#include "ktr/provider/mach/mach.h"

uint32_t ktr__mach_ids_n(void);

/* The probe of this id; the one of this place, from 0. NULL: there is none. */
struct ktr__mach_probe *ktr__mach_ids_find(uint32_t id);
struct ktr__mach_probe *ktr__mach_ids_at(uint32_t place);

/* One more, whose id is that of no other. False: no memory. */
bool ktr__mach_ids_add(struct ktr__mach_probe *probe, uint32_t id);
void ktr__mach_ids_drop(const struct ktr__mach_probe *probe); /* before its id is taken away */

#endif
