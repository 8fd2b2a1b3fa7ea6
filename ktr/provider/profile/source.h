/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples that the kernel takes, by perf events: read out of the rings of threads (followed.h), and put into the
 * session's as events of those threads, at the time and on the CPU where they were taken, by whoever feeds what
 * the kernel tells (ktr/provider/kernel/kernel_events.h).
 */
#ifndef KTR_PROFILE_SOURCE_H
#define KTR_PROFILE_SOURCE_H

#include <ktr/provider.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * From now on: all threads of the process, and those that it makes. 0, or -errno and why: what the kernel refuses;
 * -EALREADY: another process of the session feeds it. Under the registry's lock, as stop() and scan().
 */
int ktr__source_start(struct ktr_provider_probe *probe, uint64_t period_ns, struct ktr_error *why);
void ktr__source_stop(void);
bool ktr__source_is_on(void);

/* A thread begins; false: it has no event, and needs something else. It ends. By itself. */
bool ktr__source_thread_begins(void);
void ktr__source_thread_ends(void);

/* Is a thread among those? */
bool ktr__source_has(uint32_t tid);

/* Threads that were made past us; otherwise(): for one that cannot have an event. Once a second. */
void ktr__source_scan(int (*otherwise)(uint32_t tid));

/* Takes what there is now; its_end: and what is due to threads until now, for the process ends. */
void ktr__source_round(bool its_end);

/* [ms] between two rounds. */
unsigned ktr__source_pause_ms(void);

/* A stack went through what is not known, since this was asked the last time. */
bool ktr__source_was_strange(void);

/* In the child of a fork it is off. */
void ktr__source_forked(void);

#endif
