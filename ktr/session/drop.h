/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that went into no ring: how many, and why (KTR_DROP_LIST of ktr/session.h). */
#ifndef KTR_DROP_H
#define KTR_DROP_H

#include <ktr/session.h>

/* As traces have it: "vfork"; and what it means: "in a vfork child or ...". why: below KTR_DROPS. */
const char *ktr__drop_name(unsigned why);
const char *ktr__drop_text(unsigned why);

/* As a copy of the control page has them. */
void ktr__dropped(const struct ktr_control *control, uint64_t n_events[KTR_DROPS]);

/* All of them. */
uint64_t ktr__dropped_sum(const uint64_t n_events[KTR_DROPS]);

#endif
