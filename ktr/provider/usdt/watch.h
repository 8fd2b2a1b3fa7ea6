/* SPDX-License-Identifier: BSD-2-Clause */
/* What the program does with SIGTRAP while probes are on: it sees what it asks for, and traps reach us. */
#ifndef KTR_USDT_WATCH_H
#define KTR_USDT_WATCH_H

#include <ktr/error.h>

/* Why no trap may be put into this process now: 0, or -errno and the reason. */
int ktr__usdt_watch_may(struct ktr_error *why);

/* Once, before the others: looks where the C library's calls are. The loader's lock is taken. */
void ktr__usdt_watch_find(void);

/* Begins, and ends. 0, or -errno and why that cannot be. */
int ktr__usdt_watch_on(struct ktr_error *why);
void ktr__usdt_watch_off(void);

#endif
