/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is told of threads in a round: ticks, names and ends, as entries for the session's rings
 * (ktr/provider/kernel/kernel_events.h). All by who reads, one at a time, but for begin, end and forked.
 */
#ifndef KTR_PROFILE_TELL_H
#define KTR_PROFILE_TELL_H

#include "ktr/provider/kernel/kernel_events.h"
#include "ktr/provider/profile/followed.h"
#include "ktr/provider/profile/unwind.h"

#include <ktr/provider.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char ktr__tell_user[], ktr__tell_kernel[], ktr__tell_missed[], ktr__tell_lost[];

/* From now on events are of that probe; until the end. */
void ktr__tell_begin(struct ktr_provider_probe *probe, uint64_t period_ns);
bool ktr__tell_end(void); /* false: it has not begun */
bool ktr__tell_is_on(void);

/* May it be that events of the probe's are recorded? Without, nobody needs to find a stack. */
bool ktr__tell_is_wanted(void);

/* A round begins: nothing is told yet. its_end: what is due is told, also if the probe is off by now. */
void ktr__tell_round(bool its_end);

/* All that has been told in it, in the order of time; stays until the next one. */
const struct ktr__kernel_entry *ktr__tell_all(size_t *n);

/* Ticks of a thread; how: as above. */
void ktr__tell_ticks(struct ktr__followed *thread, uint64_t ns, uint64_t n_ticks, const char *how,
		     const struct ktr__frames *frames);

/* What is due to it by a number of ticks, or by its CPU time, and has not been told. */
void ktr__tell_due(struct ktr__followed *thread, uint64_t due, uint64_t ns);
void ktr__tell_missing(struct ktr__followed *thread, uint64_t cpu_ns, uint64_t ns);

/* What was due before it had its event. */
void ktr__tell_late(struct ktr__followed *thread, uint64_t ns);

/* The kernel's own, by now: a round later, for what was lost is told with what comes after it. */
void ktr__tell_in_kernel(struct ktr__followed *thread, uint64_t ns);

/* Its name changes; n bytes. Or it ends. */
void ktr__tell_name(const struct ktr__followed *thread, const char *name, size_t n, uint64_t ns);
void ktr__tell_ends(const struct ktr__followed *thread, uint64_t ns);

/* In the child of a fork another thread of the parent's may have been making it larger. */
void ktr__tell_forked(void);

#endif
