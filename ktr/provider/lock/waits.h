/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for locks, as a part of all that threads wait for (ktr/provider/profile/off.h). */
#ifndef KTR_LOCK_WAITS_H
#define KTR_LOCK_WAITS_H

#include <stdbool.h>

/* Makes the functions that stand before locks ready to tell of them. */
void ktr__lock_ready(void);

/*
 * From now on who waits for a lock tells so by ktr__off_end(), or does so no more; in a program that ran already
 * the pointers of what is loaded are led to us. By a provider's operation.
 */
void ktr__lock_waits(bool on);

#endif
