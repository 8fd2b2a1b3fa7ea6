/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of one row that are open at the same time, each in a lane of its own: the first that is free.
 */
#ifndef VISUALIZE_LANES_H
#define VISUALIZE_LANES_H

#include <stdint.h>

#define KTR__LANES_MAX 256u /* spans of one row that can be open at once */

struct ktr__lanes {
	uint64_t taken[KTR__LANES_MAX / 64];
	uint32_t n; /* lanes that were ever in use */
};

/* The number of a free lane, which is taken now, or KTR__LANES_MAX: there is none. */
uint32_t ktr__lanes_take(struct ktr__lanes *lanes);

void ktr__lanes_give(struct ktr__lanes *lanes, uint32_t lane);

#endif
