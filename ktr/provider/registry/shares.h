/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a thread's time probes take, estimated from some of their events: how many there were, by thread and
 * by what fired them, and what one costs.
 */
#ifndef KTR_SHARES_H
#define KTR_SHARES_H

#include <stdbool.h>
#include <stdint.h>

/* What has more takes a hundredth of a thread's time, as many as there can be, and some that are seldom. */
#define KTR__SHARES_LOG2 12
#define KTR__SHARES_MAX	 (3u << (KTR__SHARES_LOG2 - 2)) /* pairs that are counted; later ones are not */

/* An event counts for so many, in fractions of this: there were more than were looked at. */
#define KTR__SHARES_ONE 256u

struct ktr__share {
	uint64_t what;	 /* who fires; 0: a free place */
	uint64_t events; /* [1 / KTR__SHARES_ONE] */
	uint32_t thread;
};

struct ktr__shares {
	uint32_t n;
	struct ktr__share share[1u << KTR__SHARES_LOG2];
};

void ktr__shares_clear(struct ktr__shares *shares);

/* An event that stands for so many. what: not 0. */
void ktr__shares_add(struct ktr__shares *shares, uint32_t thread, uint64_t what, uint64_t events);

/* [%] of a thread's time that so many events took in ns, a firing costing so much. */
uint32_t ktr__shares_percent(uint64_t events, uint32_t price_ps, uint64_t ns);

#endif
