/* SPDX-License-Identifier: BSD-2-Clause */
/* One ring that is in use gets another size. */
#ifndef KTR_RESIZE_H
#define KTR_RESIZE_H

#include <stdint.h>

struct ktr__session_rw;

/* 0, -ENOSPC, -EBUSY. */
int ktr__ring_resize(struct ktr__session_rw *session, uint32_t index, unsigned log2);

#endif
