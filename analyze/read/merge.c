/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A binary heap of cursors by key, then number. Keys are copied into the heap, so that a comparison
 * touches no cursor. Runs of events of one ring cost one look at the two leaves below the front.
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

/* Lets the front sink to its place. */
static void merge_sink(struct ktr__merge *merge)
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
}

void ktr__merge_replace(struct ktr__merge *merge)
{
	merge->heap[0].key = merge->heap[0].cursor->key;
	merge_sink(merge);
}

void ktr__merge_remove(struct ktr__merge *merge)
{
	merge->heap[0] = merge->heap[--merge->n];
	if (merge->n)
		merge_sink(merge);
}
