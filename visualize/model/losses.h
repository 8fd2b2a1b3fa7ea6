/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where events were lost, at the resolution of a picture: a lane per ring that is set within gaps.
 */
#ifndef VISUALIZE_LOSSES_H
#define VISUALIZE_LOSSES_H

#include "analyze/spans/streams.h"
#include "visualize/model/levels.h"

#include <ktr/reader.h>

#define KTR__LOSSES_CPUS KTR__RINGS_CPUS /* whose gaps have a lane; those of others are only counted */

struct ktr__losses {
	struct ktr__grid grid;
	struct ktr__lane *lane; /* owned; 2 * CPU + keep */
	uint32_t n_lanes;
	uint64_t n_events; /* in gaps that touch the window */
	uint64_t n_older;  /* of n_events: what a ring had before the oldest that it was read from */
};

void ktr__losses_init(struct ktr__losses *losses, const struct ktr__grid *grid);
void ktr__losses_free(struct ktr__losses *losses);

/* Adds a gap; those of one ring come in order. 0 or -ENOMEM. */
int ktr__losses_add(struct ktr__losses *losses, const struct ktr_loss *loss);

/* Call once, before ktr__losses_at(). 0 or -ENOMEM. */
int ktr__losses_end(struct ktr__losses *losses);

/* How many events are missing: rings keep the newest, and that older ones made room for them is no loss. */
uint64_t ktr__losses_missing(const struct ktr__losses *losses, const struct ktr_reader_info *info);

/*
 * [1/255 of the column] how much of a column lies in gaps of that CPU, or with -1 of the ring with
 * the widest ones.
 */
uint8_t ktr__losses_at(const struct ktr__losses *losses, unsigned column, int cpu);

/* [1/255 of the column] as ktr__losses_at(), of the one of these rings with the widest gaps. */
uint8_t ktr__losses_of(const struct ktr__losses *losses, unsigned column, const struct ktr__rings *rings);

#endif
