/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples that the kernel takes, by perf events: read out of the rings of threads (followed.h), and put into the
 * session's as events of those threads, at the time and on the CPU where they were taken, by whoever feeds what
 * the kernel tells (ktr/provider/kernel/kernel_events.h).
 */
#ifndef KTR_PROFILE_SOURCE_H
#define KTR_PROFILE_SOURCE_H

#include "ktr/provider/profile/followed.h"

#include <ktr/provider.h>

#include <stdbool.h>
#include <stdint.h>

struct ktr__source_ask {
	struct ktr_provider_probe *probe;
	uint64_t period_ns;
	uint64_t n_filters; /* of system calls, seccomp(2), under which it may be tried */
	/*
	 * Takes a thread that runs and can have no event; late: what is due to it is all it has run; told: what
	 * comes after that, or NULL. 0 or -errno.
	 */
	int (*otherwise)(uint32_t tid, bool late, const struct ktr__ticks_told *told);
};

/*
 * From now on: all threads of the process, and those that it makes. 0, or -errno and why: what the kernel refuses;
 * -EALREADY: another process of the session feeds it. Under the registry's lock, as stop() and scan().
 */
int ktr__source_start(const struct ktr__source_ask *ask, struct ktr_error *why);
void ktr__source_stop(void);
bool ktr__source_is_on(void);

/* A thread begins, itself; false: it has no event, and needs something else. It ends: as of followed.h. */
bool ktr__source_thread_begins(void);
enum ktr__followed_end ktr__source_thread_ends(struct ktr__ticks_told *told);

/* Threads that were made past us. Once a second. */
void ktr__source_scan(void);

/* A thread can have no event; why the first one could not, 0: all have theirs. */
void ktr__source_refused(int code);
int ktr__source_first_refused(void);

/* Takes what there is now; its_end: and what is due to threads until now, for the process ends. */
void ktr__source_round(bool its_end);

/* [ms] between two rounds. */
unsigned ktr__source_pause_ms(void);

/* A stack went through what is not known, since it was asked the last time whether one did. */
bool ktr__source_is_strange(void);
bool ktr__source_was_strange(void);

/* In the child of a fork it is off. True: it was on. */
bool ktr__source_forked(void);

#endif
