/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many cursors, one order: the one with the smallest key in front. Equal keys come in the order
 * in which the cursors were added, so that a walk is the same every time.
 */
#ifndef ANALYZE_MERGE_H
#define ANALYZE_MERGE_H

#include "analyze/read/source.h"

struct ktr__merge_leaf {
	uint64_t key;
	uint32_t number; /* of the cursor in the source */
	struct ktr__cursor *cursor;
};

/* All zero to begin with. */
struct ktr__merge {
	struct ktr__merge_leaf *heap; /* owned; heap[0] is in front */
	unsigned n;
	uint32_t room;
	uint64_t next_key; /* of the one that is next to come to the front; UINT64_MAX: there is none */
	uint32_t next_number;
};

/* Makes room for n cursors; those that are there stay. 0 or -ENOMEM. */
int ktr__merge_room(struct ktr__merge *merge, unsigned n);
void ktr__merge_free(struct ktr__merge *merge);

/* Adds a cursor that has an event. There is room. */
void ktr__merge_add(struct ktr__merge *merge, struct ktr__cursor *cursor, uint32_t number);

/* ktr__merge_replace() where the cursor in front may not stay there. */
void ktr__merge_sink(struct ktr__merge *merge);

/* The cursor in front has another event: finds its place. */
static inline void ktr__merge_replace(struct ktr__merge *merge)
{
	struct ktr__merge_leaf *front = &merge->heap[0];

	front->key = front->cursor->key;
	if (front->key > merge->next_key || (front->key == merge->next_key && front->number > merge->next_number))
		ktr__merge_sink(merge);
}

/* The cursor in front has no more events: takes it out. */
void ktr__merge_remove(struct ktr__merge *merge);

#endif
