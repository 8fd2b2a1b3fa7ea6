/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A binary heap of cursors by key, then number. Keys are copied into the heap, so that a comparison
 * touches no cursor. Runs of events of one ring cost one comparison each, with what is next to come to the front.
 */
#include "analyze/read/merge.h"

#include "conf/kit/array.h"

#include <stdlib.h>

int ktr__merge_room(struct ktr__merge *merge, unsigned n)
{
	return ktr__array_grow(&merge->heap, &merge->room, n, sizeof(*merge->heap));
}

void ktr__merge_free(struct ktr__merge *merge)
{
	free(merge->heap);
	merge->heap = NULL;
	merge->n = 0;
}

static inline int merge_before(const struct ktr__merge_leaf *a, const struct ktr__merge_leaf *b)
{
	return a->key < b->key || (a->key == b->key && a->number < b->number);
}

/* What is next to come to the front is one of the two leaves below it. */
static void merge_look(struct ktr__merge *merge)
{
	const struct ktr__merge_leaf *leaf = &merge->heap[1];

	merge->next_key = UINT64_MAX;
	merge->next_number = UINT32_MAX;
	if (merge->n < 2)
		return;
	if (merge->n > 2 && merge_before(&merge->heap[2], leaf))
		leaf = &merge->heap[2];
	merge->next_key = leaf->key;
	merge->next_number = leaf->number;
}

/* Lets the front sink to its place. */
void ktr__merge_sink(struct ktr__merge *merge)
{
	struct ktr__merge_leaf leaf = merge->heap[0];
	unsigned at = 0, child;

	while ((child = 2 * at + 1) < merge->n) {
		if (child + 1 < merge->n &&
		    merge_before(&merge->heap[child + 1], &merge->heap[child]))
			child++;
		if (!merge_before(&merge->heap[child], &leaf))
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = leaf;
	merge_look(merge);
}

void ktr__merge_add(struct ktr__merge *merge, struct ktr__cursor *cursor, uint32_t number)
{
	struct ktr__merge_leaf leaf = { cursor->key, number, cursor };
	unsigned at = merge->n++;

	while (at && merge_before(&leaf, &merge->heap[(at - 1) / 2])) {
		merge->heap[at] = merge->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	merge->heap[at] = leaf;
	merge_look(merge);
}

void ktr__merge_remove(struct ktr__merge *merge)
{
	merge->heap[0] = merge->heap[--merge->n];
	if (merge->n)
		ktr__merge_sink(merge);
}
