/* SPDX-License-Identifier: BSD-2-Clause */
/* The session's table of what providers offer, as whoever has the session mapped to write switches it. */
#ifndef KTR_OFFERS_H
#define KTR_OFFERS_H

#include "ktr/session/session_rw.h"

#include <ktr/error.h>

/* Rows there are, the head included; 1 where the session has no such table. */
uint32_t ktr__offers_n(const struct ktr__session_rw *session);

/* Processes that have providers, and live. */
unsigned ktr__offers_n_hosts(const struct ktr__session_rw *session);

/* Probes that were offered, and for which there was no room in the session: in the table, or for their names. */
uint32_t ktr__offers_lost(const struct ktr__session_rw *session);

/* Stores the word of a row; on: its provider's class is recorded from now on. 0 or -errno, err filled. */
int ktr__offer_switch(struct ktr__session_rw *session, uint32_t row, int on, struct ktr_error *err);

/* Wakes who has to do something about words that were stored: the number of the change, never 0. */
uint32_t ktr__offers_changed(struct ktr__session_rw *session);

/*
 * Asks processes that have providers to offer what a SPEC fits, for they need not have offered all they have. Waits
 * until they have, as ktr__offers_wait() does: how many have not.
 */
unsigned ktr__offers_ask(struct ktr__session_rw *session, const char *spec, unsigned ms);

/*
 * Waits until all processes that have providers, and live, have seen the change, as long as one offers more every
 * so many ms, and not without an end: how many have not.
 */
unsigned ktr__offers_wait(struct ktr__session_rw *session, uint32_t change, unsigned ms);

#endif
