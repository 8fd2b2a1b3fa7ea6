/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is told by halves: a budget switches single probes off, and a lock that is seen taken and not given back, or
 * the other way round, has no owner that is known; so of waiting.
 */
#ifndef ANALYZE_LOCK_HALVES_H
#define ANALYZE_LOCK_HALVES_H

#include "analyze/lock/lock_events.h"
#include "analyze/stats/keyed.h"

/* Zeroed is empty. */
struct ktr__lock_halves {
	struct ktr__keyed processes;
};

/* Takes in an event of any kind: OFF, or one that was off and is told again. 0 or -ENOMEM. */
int ktr__lock_halves_event(struct ktr__lock_halves *halves, const struct ktr__lock_event *e);
void ktr__lock_halves_free(struct ktr__lock_halves *halves);

/* Is this an event of taking and giving back, or of waiting, whose other half is off, or it itself? */
int ktr__lock_is_half(const struct ktr__lock_halves *halves, const struct ktr__lock_event *e);

/* Of OFF: does it end what is known of owners, or of who waits? */
static inline int ktr__lock_ends_owners(const struct ktr__lock_event *e)
{
	return e->what == KTR__LOCK_OFF && (e->off == KTR__LOCK_TAKE || e->off == KTR__LOCK_GIVE);
}

static inline int ktr__lock_ends_waits(const struct ktr__lock_event *e)
{
	return e->what == KTR__LOCK_OFF && (e->off == KTR__LOCK_BLOCK || e->off == KTR__LOCK_BLOCKED);
}

#endif
