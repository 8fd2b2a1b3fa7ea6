/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes and call sites of the kernel's events. */
#ifndef KTR_KERNEL_SITE_H
#define KTR_KERNEL_SITE_H

#include <stdint.h>

struct ktr__session_rw;

/* The class of KTR_KERNEL_*, made if need be: its bit, 0 where there is no room. */
uint64_t ktr__kernel_mask(struct ktr__session_rw *session, unsigned what);

/* The row of enum ktr__kernel_site, made if need be; 0: no room. */
uint32_t ktr__kernel_site_row(struct ktr__session_rw *session, unsigned line);
unsigned ktr__kernel_site_args(unsigned line); /* how many it has */

#endif
