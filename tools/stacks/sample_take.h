/* SPDX-License-Identifier: BSD-2-Clause */
/* A process is sampled: all its threads, at a rate, for a time, into trees of calls. */
#ifndef TOOLS_SAMPLE_TAKE_H
#define TOOLS_SAMPLE_TAKE_H

#include "analyze/live/live_rounds.h"
#include "tools/stacks/sample_trace.h"
#include "tools/stacks/sample_tree.h"

#include <stdint.h>
#include <sys/types.h>

struct sample {
	struct ktr__live_rounds rounds; /* .row[].node: of all its samples, of its last one; not with a trace */
	struct sample_tree tree;
	struct sample_trace *trace; /* borrowed: where samples go, instead of the tree; NULL */
};

/* Until the time is over, or the process, or *stop is set. 0 or -errno. */
int sample_take(struct sample *sample, const volatile int *stop);
void sample_free(struct sample *sample);

#endif
