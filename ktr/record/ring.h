/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings that this process records into: validated, made present, and on the thread path taken and given
 * back.
 */
#ifndef KTR_RING_H
#define KTR_RING_H

#include "ktr/record/record.h"

/* The cold path of a ring whose geom is not the validated one. True: try again. Async-signal-safe. */
bool ktr__ring_ready(bool keep);
int ktr__ring_prepare(uint32_t index); /* all that the first event there would do. 0 or -errno */
int ktr__ring_views(void);   /* once, when ktr__rec.n_rings is set. 0 or -errno */
void ktr__ring_forget(void); /* all views: this process populates anew */

/* The thread path: a level takes a ring, and a thread that ends gives back what it has. Async-signal-safe. */
bool ktr__ring_level(struct ktr__self *self, struct ktr__level *level, bool keep);
void ktr__ring_release(struct ktr__self *self);

#endif
