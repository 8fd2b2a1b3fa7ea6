/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows that are found by a key of four words, in the order in which they were made. They never move.
 *
 *	struct thing { struct ktr__keyed_row keyed; ... };	the row first
 *	thing = ktr__keyed_get(&things, key, sizeof(*thing));
 */
#ifndef ANALYZE_KEYED_H
#define ANALYZE_KEYED_H

#include <stddef.h>
#include <stdint.h>

struct ktr__keyed_row {
	struct ktr__keyed_row *chain;
	uint64_t key[4];
};

/* Zeroed is empty. */
struct ktr__keyed {
	struct ktr__keyed_row **row; /* owned, each too */
	size_t n, room;
	struct ktr__keyed_row **bucket;
	size_t n_buckets; /* a power of two */
};

/* NULL: there is none. */
void *ktr__keyed_find(const struct ktr__keyed *keyed, const uint64_t key[4]);

/* The row, made of so many zeroed bytes after its key where there is none. NULL without memory. */
void *ktr__keyed_get(struct ktr__keyed *keyed, const uint64_t key[4], size_t n_bytes);

void ktr__keyed_free(struct ktr__keyed *keyed);

#endif
