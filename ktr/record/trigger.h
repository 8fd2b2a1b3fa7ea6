/* SPDX-License-Identifier: BSD-2-Clause */
/* The trigger of a session: an expression over events, evaluated where they are recorded. */
#ifndef KTR_TRIGGER_H
#define KTR_TRIGGER_H

#include <ktr/error.h>
#include <ktr/site.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__session_rw;

/*
 * A site with KTR_SITE_TRIGGER is about to record an event. True: the rings stop with it, and the caller hands
 * it to ktr__freeze_event() when it is recorded. Async-signal-safe.
 */
bool ktr__trigger_event(const struct ktr_site *site, const uint64_t *arg);

/* A site of this process has got its row. */
void ktr__trigger_site(const struct ktr_site *site);

/* text as ktr__trigger_text() makes it, "" for none. 0 or -errno. */
int ktr__trigger_set(struct ktr__session_rw *session, const char *text, struct ktr_error *err);

/* At how many sites it may hold. */
uint64_t ktr__trigger_n_sites(const struct ktr__session_rw *session);

#endif
