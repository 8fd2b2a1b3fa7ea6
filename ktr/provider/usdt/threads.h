/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of this process that a trap would kill. */
#ifndef KTR_USDT_THREADS_H
#define KTR_USDT_THREADS_H

#include <ktr/error.h>

/*
 * Is there one that blocks SIGTRAP, or that waits with a mask of its own, and may go on with another that has it?
 * 0, or -errno and which. Those that block all signals for a moment, as the C library does, are waited for.
 */
int ktr__usdt_threads_may(struct ktr_error *why);

/* Who traces the process; 0: nobody. */
unsigned ktr__usdt_threads_tracer(void);

#endif
