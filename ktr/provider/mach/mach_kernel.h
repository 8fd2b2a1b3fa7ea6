/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of switches and faults, as the probes that are made for it. */
#ifndef KTR_MACH_KERNEL_H
#define KTR_MACH_KERNEL_H

#include "ktr/provider/mach/mach.h"

/* Has the kernel tell, if this is a probe that it has something to tell for; ends it, if we had it told. */
void ktr__mach_feed(const struct ktr__mach_probe *probe);
void ktr__mach_unfeed(const struct ktr__mach_probe *probe);

#endif
