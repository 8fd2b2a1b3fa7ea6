/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that has providers do what was asked for from outside; forks, and the end of the process. */
#ifndef KTR_AGENT_H
#define KTR_AGENT_H

#include <stdbool.h>

/* Before the first provider is there, without the lock: ktr may start here. */
void ktr__agent_begin(void);

/* The thread is there, if it can be. Under the lock. */
void ktr__agent_start(void);

/* Is it there? */
bool ktr__agent_runs(void);

/* What it does when it ends, with the lock held: others of ours keep no process either. NULL: nothing. Atomic */
extern void (*ktr__agent_ends)(void);

/*
 * What the thread does each so many milliseconds, with the registry's lock held; NULL: nothing. Atomic, both. To be
 * set by a provider's operation, the time by itself, too.
 */
#define KTR__AGENT_OFTEN_MS 10
extern void (*ktr__agent_often)(void);
extern unsigned ktr__agent_often_ms; /* KTR__AGENT_OFTEN_MS, unless it is set */

#endif
