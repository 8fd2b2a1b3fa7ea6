/* SPDX-License-Identifier: BSD-2-Clause */
/* What rows are doing while events are packed; see the column `states` in visualize/page/packer.h. */
#ifndef VISUALIZE_PACKER_ROWS_H
#define VISUALIZE_PACKER_ROWS_H

#include "visualize/page/packer.h"

/*
 * An event of the row, already counted in n_events if it is in the page, and what the timeline says that it began
 * and ended. Returns 1 + the lane of the span that it is itself the beginning or end of, or 0.
 */
unsigned ktr__packer_row(struct ktr__packer *pack, const struct ktr_event *event,
			 const struct ktr__timeline *timeline, const struct ktr__row *row, int in_page);

/* Writes down, before a chunk's first event, what the rows that have changed are doing. */
void ktr__packer_states(struct ktr__packer *pack);

#endif
