/* SPDX-License-Identifier: BSD-2-Clause */
/* What a page holds besides events. */
#ifndef VISUALIZE_PAGE_INDEX_H
#define VISUALIZE_PAGE_INDEX_H

#include "visualize/model/frame.h"
#include "visualize/page/page_parts.h"

#include <jansson.h>
#include <stdio.h>

/* Returns everything but events and the overview, as one owned JSON object; NULL without memory. */
json_t *ktr__page_index(struct ktr__page *page, const struct ktr__frame *frame);

/* Has the page an overview? Returns 1 or 0. */
int ktr__page_has_overview(const struct ktr__page *page);

/*
 * Writes columns of all rows, those of threads and identities before those of CPUs: of each lane the
 * parts of struct ktr__cell, of each level of a nest likewise, of each area least and greatest as doubles, of marks
 * their numbers, all as little-endian arrays, one after the other. What a row has is in the index. Returns 0 or
 * -ENOMEM.
 */
int ktr__page_overview(struct ktr__page *page, FILE *to);

#endif
