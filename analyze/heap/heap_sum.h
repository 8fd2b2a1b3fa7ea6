/* SPDX-License-Identifier: BSD-2-Clause */
/* What places of a program are told by. */
#ifndef ANALYZE_HEAP_SUM_H
#define ANALYZE_HEAP_SUM_H

#include "analyze/stats/stacks.h"

/* Blocks and their bytes; whole numbers unless they are of samples. */
struct ktr__heap_sum {
	double n, bytes;
};

struct ktr__heap_process;

/* By its stack, or where none was recorded by who called. */
struct ktr__heap_place {
	struct ktr__framed stack; /* first */
	struct ktr__heap_sum got, live, peak;
	double n_other; /* given back by another thread than the one that got them */
	double n_brief; /* given back before their thread got another */
	double age_ns;	/* how long those were in use that were given back, in all */
	/* The engine's own: the peak before its last change, its process, the place before it of that. */
	uint64_t seen;
	struct ktr__heap_process *process;
	struct ktr__heap_place *older;
};

#endif
