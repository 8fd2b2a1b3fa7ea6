/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ANALYZE_DERIVE_LOCKS_H
#define ANALYZE_DERIVE_LOCKS_H

#include "analyze/derive/derive_parts.h"

/* What an event means for rows of locks; any other means nothing. Returns 0, -ENOMEM or what the sink returned. */
int ktr__derive_lock(struct ktr__derive *derive, const struct ktr_event *event);

/* Events were lost: who holds and waits is not known any more, which is said. As the other. */
int ktr__derive_lock_loss(struct ktr__derive *derive, const struct ktr_loss *loss);

/* Tells again, at that moment, what is known of locks and of who waits. As the other. */
int ktr__derive_lock_again(struct ktr__derive *derive, uint64_t ns);

#endif
