/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of events, each once: rows of a table (keyed.h), which may be longer than they need.
 *
 *	struct thing { struct ktr__framed stack; ... };	the stack first
 *	thing = ktr__framed_get(&things, proc, &event->str[i], 0, sizeof(*thing));
 */
#ifndef ANALYZE_STACKS_H
#define ANALYZE_STACKS_H

#include "analyze/stats/keyed.h"

#include <ktr/reader.h>

struct ktr__framed {
	struct ktr__keyed_row keyed; /* first */
	uint32_t proc;		     /* row of the process */
	uint32_t n;
	uint64_t *pc; /* owned; innermost first, where each goes on */
	int is_cut;   /* the outermost callers are not known */
};

/*
 * The row of a stack, made zeroed where there is none; NULL without memory. bytes NULL: it is of the caller alone,
 * and of nobody where that is 0. Stacks of one hash would be one row: it has 128 bits.
 */
void *ktr__framed_get(struct ktr__keyed *stacks, uint32_t proc, const struct ktr_event_bytes *bytes,
		      uint64_t caller, size_t row_bytes);

void ktr__framed_free(struct ktr__keyed *stacks);

#endif
