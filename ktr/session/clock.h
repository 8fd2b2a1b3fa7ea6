/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's clock: which one, the time now, and anchors that tie its ticks to nanoseconds.
 */
#ifndef KTR_CLOCK_H
#define KTR_CLOCK_H

#include <ktr/session.h>

/*
 * The clock a new session should use, KTR_CLOCK_*: the one that is wanted, or, where that is 0, the CPU's
 * counter if it can be trusted, else CLOCK_MONOTONIC. 0 where reading the counter traps: nothing here may be
 * called then. Reads a few files; not for signal handlers.
 */
uint32_t ktr__clock_choose(uint32_t wanted);

/*
 * The time now on that clock. CLOCK_MONOTONIC is that of the first time namespace, the same for all who look,
 * where /proc tells what ours adds to it. Async-signal-safe; the first time it is asked for a file is read.
 */
uint64_t ktr__clock_now(uint32_t clock);

/* A forked child, which may be in another time namespace than its parent. */
void ktr__clock_forget(void);

/* Nominal ticks per second, 0 where the CPU does not say. */
uint64_t ktr__clock_hz(uint32_t clock);

/* One moment on three clocks, the best of several tries; state is left alone. Async-signal-safe. */
void ktr__clock_anchor(uint32_t clock, struct ktr_anchor *anchor);

/* Sleeps for a millisecond. */
void ktr__nap(void);

#endif
