/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/keyed.h"

#include "conf/kit/hash.h"

#include <stdlib.h>
#include <string.h>

#define KEYED_LEAST 64u /* rows and buckets of a table that begins */

static size_t keyed_bucket(const uint64_t key[4], size_t n_buckets)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < 4; i++)
		hash = ktr__hash_word(hash, key[i]);
	return (size_t)hash & (n_buckets - 1);
}

void *ktr__keyed_find(const struct ktr__keyed *keyed, const uint64_t key[4])
{
	struct ktr__keyed_row *at = NULL;

	if (keyed->n_buckets)
		at = keyed->bucket[keyed_bucket(key, keyed->n_buckets)];
	while (at && memcmp(at->key, key, sizeof(at->key)) != 0)
		at = at->chain;
	return at;
}

static void keyed_link(struct ktr__keyed *keyed, struct ktr__keyed_row *row)
{
	struct ktr__keyed_row **bucket = &keyed->bucket[keyed_bucket(row->key, keyed->n_buckets)];

	row->chain = *bucket;
	*bucket = row;
}

/* Room for one more. -1 without memory: the table is as it was. */
static int keyed_grow(struct ktr__keyed *keyed)
{
	size_t room = keyed->room ? 2 * keyed->room : KEYED_LEAST;
	struct ktr__keyed_row **row = realloc(keyed->row, room * sizeof(struct ktr__keyed_row *)), **bucket;

	if (!row)
		return -1;
	keyed->row = row;
	bucket = calloc(room, sizeof(struct ktr__keyed_row *));
	if (!bucket)
		return -1;
	free(keyed->bucket);
	keyed->bucket = bucket;
	keyed->room = keyed->n_buckets = room;
	for (size_t i = 0; i < keyed->n; i++)
		keyed_link(keyed, row[i]);
	return 0;
}

void *ktr__keyed_get(struct ktr__keyed *keyed, const uint64_t key[4], size_t n_bytes)
{
	struct ktr__keyed_row *row = ktr__keyed_find(keyed, key);

	if (row)
		return row;
	if (keyed->n == keyed->room && keyed_grow(keyed))
		return NULL;
	row = calloc(1, n_bytes);
	if (!row)
		return NULL;
	memcpy(row->key, key, sizeof(row->key));
	keyed_link(keyed, row);
	return keyed->row[keyed->n++] = row;
}

void ktr__keyed_free(struct ktr__keyed *keyed)
{
	for (size_t i = 0; i < keyed->n; i++)
		free(keyed->row[i]);
	free(keyed->row);
	free(keyed->bucket);
	*keyed = (struct ktr__keyed){ .row = NULL };
}
