/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes and rings for events of the kernel. */
#ifndef KTR_KERNEL_RING_H
#define KTR_KERNEL_RING_H

#include <ktr/error.h>

struct ktr__session_rw;

/* Opens them. Idempotent. 0 or -errno, err filled. */
int ktr__kernel_open(struct ktr__session_rw *session, struct ktr_error *err);

#endif
