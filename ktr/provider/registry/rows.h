/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's table of what providers offer, as this process has it. Under the registry's lock, but for wait().
 */
#ifndef KTR_ROWS_H
#define KTR_ROWS_H

#include "ktr/provider/registry/registry.h"

/* Follows the process's session: false where there is no table; *changed where it is another one than before. */
bool ktr__rows_follow(bool *changed);

/* The row of these names, made if need be; 0: no room. Linked by one compare-and-swap, as rows of probes are. */
uint32_t ktr__rows_of(const char *provider, const struct ktr_provider_probe *probe, const char *arguments);
struct ktr_offer_row *ktr__rows_at(uint32_t row);
void ktr__rows_failed(uint32_t row, const struct ktr_error *why, int code);

/* Has somebody outside asked for what a SPEC fits, since this was asked the last time? Then it is copied. */
bool ktr__rows_asked(char *spec, size_t size);

/* This process has providers; it has not any more. */
void ktr__rows_host(void);
void ktr__rows_leave(void);
void ktr__rows_forget(void); /* a child has its parent's row no more */

/* A probe has taken more than its budget: it is off in the session, and why. False: it was off already. */
bool ktr__rows_spent(uint32_t row, const char *why);
bool ktr__rows_is_spent(uint32_t row); /* is it still so? */

void ktr__rows_excluded(uint32_t row, const char *why); /* it is off for good */

/*
 * The change as it is; that all rows were looked at since then; sleeps while it is that, so long at most: false
 * when that time has passed; wakes sleepers.
 */
uint32_t ktr__rows_change(void);
void ktr__rows_done(uint32_t change);
bool ktr__rows_wait(uint32_t change, unsigned ms);
void ktr__rows_wake(void);

#endif
