/* SPDX-License-Identifier: BSD-2-Clause */
/* Stopping the rings, so that they keep the moment. */
#ifndef KTR_FREEZE_H
#define KTR_FREEZE_H

#include <ktr/site.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__session_rw;

/* While the rings stop: may this event be recorded? Async-signal-safe. */
bool ktr__freeze_admits(const struct ktr_site *site, bool keep);

/*
 * Begins to stop them, for the event of a site or for NULL. True: they have gone on up to now; the caller
 * records the event, then calls ktr__freeze_event(), which marks the moment. Async-signal-safe.
 */
bool ktr__freeze_begin(const struct ktr_site *site);
void ktr__freeze_event(const struct ktr_site *site, bool keep);

/*
 * Stops the rings of this process's session, unless they are stopped or stopping: marks the moment in the
 * trace, lets each ring take freeze_after events more. why: KTR_FROZE_*. Async-signal-safe.
 */
void ktr__session_freeze(uint32_t why);

/* Control stops the rings of a session now, or lets them go on. */
void ktr__freeze_set(struct ktr__session_rw *session, bool frozen);

/* KTR_FREEZE_ON_* signals of this process stop them from now on. */
void ktr__freeze_signals(uint64_t on);

#endif
