/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings that are in use get another size. The shared library loads what does it when it is first wanted, as it does
 * what packs a trace: writer_load.c.
 */
#ifndef KTR_RESIZE_H
#define KTR_RESIZE_H

#include "ktr/session/session_rw.h"

/* All rings of the session, as ktr__rings_resize() says. */
int ktr__resize(struct ktr__session_rw *session, unsigned log2, struct ktr_error *err);

/* One ring. 0, -ENOSPC, -EBUSY. */
int ktr__ring_resize(struct ktr__session_rw *session, uint32_t index, unsigned log2);

#endif
