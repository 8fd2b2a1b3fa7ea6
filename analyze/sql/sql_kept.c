/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An index for each set of columns that was asked for: the rows in the order of their hash, then of when they
 * begin. Over it lies a tree of the latest end of each two, four, eight... rows, so that those that go on at some
 * moment are found among many that had ended by then.
 */
#include "analyze/sql/sql_kept.h"

#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>

struct kept_place {
	uint64_t hash;
	struct ktr__sql_span_row *row;
};

struct ktr__sql_index {
	struct ktr__sql_index *next;
	uint32_t columns;
	size_t n, n_leaves;       /* a power of 2 */
	struct kept_place *place; /* owned */
	uint64_t *latest;         /* owned; of node i, whose children are 2i and 2i + 1; leaves from n_leaves on */
};

struct ktr__sql_kept {
	struct ktr__sql_span_row *first; /* owned */
	size_t n;
	struct ktr__sql_index *index; /* owned */
};

struct ktr__sql_kept *ktr__sql_kept_new(struct ktr__sql_span_row *first)
{
	struct ktr__sql_kept *kept = calloc(1, sizeof(*kept));

	if (!kept) {
		struct ktr__sql_kept none = { .first = first };

		while (none.first) {
			first = none.first->next;
			free(none.first);
			none.first = first;
		}
		return NULL;
	}
	kept->first = first;
	for (; first; first = first->next)
		kept->n++;
	return kept;
}

static void kept_index_free(struct ktr__sql_index *index)
{
	free(index->place);
	free(index->latest);
	free(index);
}

void ktr__sql_kept_free(struct ktr__sql_kept *kept)
{
	struct ktr__sql_span_row *row;
	struct ktr__sql_index *index;

	if (!kept)
		return;
	while ((row = kept->first) != NULL) {
		kept->first = row->next;
		free(row);
	}
	while ((index = kept->index) != NULL) {
		kept->index = index->next;
		kept_index_free(index);
	}
	free(kept);
}

static int kept_compare(const void *a, const void *b)
{
	const struct kept_place *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->row->span.from_ns != y->row->span.from_ns)
		return x->row->span.from_ns < y->row->span.from_ns ? -1 : 1;
	return 0;
}

static void kept_fill(struct ktr__sql_index *index, const struct ktr__sql_kept *kept, ktr__sql_hash_fn *hash)
{
	struct kept_place *place = index->place;

	for (struct ktr__sql_span_row *row = kept->first; row; row = row->next, place++) {
		place->row = row;
		place->hash = 0;
		for (unsigned c = 0; index->columns >> c; c++)
			if (index->columns >> c & 1)
				place->hash = hash(row, c, place->hash);
	}
	qsort(index->place, index->n, sizeof(*index->place), kept_compare);
	for (size_t i = 0; i < index->n; i++)
		index->latest[index->n_leaves + i] = index->place[i].row->span.to_ns;
	for (size_t i = index->n_leaves - 1; i > 0; i--) {
		uint64_t left = index->latest[2 * i], right = index->latest[2 * i + 1];

		index->latest[i] = left > right ? left : right;
	}
}

static struct ktr__sql_index *kept_index(struct ktr__sql_kept *kept, uint32_t columns, ktr__sql_hash_fn *hash)
{
	struct ktr__sql_index *index = kept->index;

	while (index && index->columns != columns)
		index = index->next;
	if (index)
		return index;
	index = calloc(1, sizeof(*index));
	if (!index)
		return NULL;
	index->columns = columns;
	index->n = kept->n;
	for (index->n_leaves = 1; index->n_leaves < kept->n;)
		index->n_leaves *= 2;
	index->place = calloc(kept->n + 1, sizeof(*index->place));
	index->latest = calloc(2 * index->n_leaves, sizeof(*index->latest));
	if (!index->place || !index->latest) {
		kept_index_free(index);
		return NULL;
	}
	kept_fill(index, kept, hash);
	index->next = kept->index;
	kept->index = index;
	return index;
}

/* The first place at or after a hash and a time. */
static size_t kept_find(const struct ktr__sql_index *index, uint64_t hash, uint64_t from_ns)
{
	size_t low = 0, high = index->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct kept_place *p = &index->place[middle];

		if (p->hash < hash || (p->hash == hash && p->row->span.from_ns < from_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int ktr__sql_kept_look(struct ktr__sql_kept *kept, struct ktr__sql_look *look, ktr__sql_hash_fn *hash)
{
	struct ktr__sql_index *index = kept_index(kept, look->columns, hash);

	if (!index)
		return -ENOMEM;
	look->index = index;
	look->at = kept_find(index, look->hash, look->from_ns);
	if (look->before_ns != UINT64_MAX)
		look->end = kept_find(index, look->hash, look->before_ns);
	else
		look->end = look->hash == UINT64_MAX ? index->n : kept_find(index, look->hash + 1, 0);
	return 0;
}

/* The first place from this one on that ends no earlier; n_leaves: none. */
static size_t kept_later(const struct ktr__sql_index *index, size_t at, uint64_t until_ns)
{
	size_t node = index->n_leaves + at;

	if (at >= index->n)
		return index->n_leaves;
	/* Up, until a subtree from here on has one; then down to it. */
	while (index->latest[node] < until_ns) {
		while (node & 1)
			node /= 2;
		if (!node)
			return index->n_leaves;
		node++;
	}
	while (node < index->n_leaves) {
		node *= 2;
		if (index->latest[node] < until_ns)
			node++;
	}
	return node - index->n_leaves;
}

struct ktr__sql_span_row *ktr__sql_kept_next(struct ktr__sql_look *look)
{
	size_t at = look->at < look->end ? kept_later(look->index, look->at, look->until_ns) : look->end;

	if (at >= look->end) {
		look->at = look->end;
		return NULL;
	}
	look->at = at + 1;
	return look->index->place[at].row;
}
