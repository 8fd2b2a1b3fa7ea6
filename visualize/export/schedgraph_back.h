/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of schedgraph.h newest first, which is the only order that schedgraph.py takes. */
#ifndef VISUALIZE_SCHEDGRAPH_BACK_H
#define VISUALIZE_SCHEDGRAPH_BACK_H

#include "visualize/export/schedgraph.h"

#include <stdio.h>

#define KTR__SCHEDGRAPH_ZEROS                                                                      \
	"schedgraph.py cannot draw a group of zeros" /* why they are left out */

struct ktr__schedgraph_back {
	struct ktr__schedgraph *schedgraph; /* owned; gets events and losses, oldest first */
	FILE *lines;
	uint64_t n;
};

/* 0 or -errno: it needs a temporary file. ktr__schedgraph_back_free() is due in any case. */
int ktr__schedgraph_back_init(struct ktr__schedgraph_back *back);
void ktr__schedgraph_back_free(struct ktr__schedgraph_back *back);

/*
 * Ends the lines and tells all of them, newest first. Of their event there is cpu, time_ns, and index: the
 * line's number,
 * counted from the oldest. *n_left_out: counters that cannot be drawn. 0, -errno, or what line returned.
 */
int ktr__schedgraph_back_run(struct ktr__schedgraph_back *back, ktr__schedgraph_fn *line,
			     void *context, uint64_t *n_left_out);

#endif
