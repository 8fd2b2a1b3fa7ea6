/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast something comes, and how steadily, out of one walk and in little memory: the time of each stride-th
 * event. Where there is no room for another, every second time is dropped and the stride doubles, so that marks
 * always divide the events into parts of equally many. The time that parts take is the measurement.
 *
 * Parts go by events and not by time because a server's idle time, before the first request and after the last,
 * has none: the first and the last part, into which it may fall, are left out, and no part lies in it.
 */
#ifndef ANALYZE_PACE_H
#define ANALYZE_PACE_H

#include "analyze/stats/noise.h"

#include <stdint.h>

/* [marks] 64 to 127 parts: the two that are left out are 3 % of the events at most. Even. */
#define KTR__PACE_MARKS   128u

/* [batches] Into which parts are put together: see Law, 9.5.3; Schmeiser 1982 has 10 to 30. */
#define KTR__PACE_BATCHES 20u

struct ktr__pace {
	uint64_t n;         /* events */
	uint64_t n_stride;  /* [events] between marks; 0 before the first one */
	unsigned n_marks;
	uint64_t mark[KTR__PACE_MARKS]; /* times; or any other count that grows */
};

void ktr__pace_add(struct ktr__pace *pace, uint64_t at);

/*
 * The logarithm of the time from one event to the next, and its noise. 0, or -1 where there are too few events,
 * or they took no time.
 */
int ktr__pace_noise(const struct ktr__pace *pace, struct ktr__noise *noise);

#endif
