/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table from words to numbers that are not 0. All zero is an empty one. */
#ifndef ANALYZE_WORD_MAP_H
#define ANALYZE_WORD_MAP_H

#include <stddef.h>
#include <stdint.h>

struct ktr__word_map {
	struct ktr__word_map_slot *slot; /* owned */
	size_t n, n_slots;               /* a power of two */
};

/*
 * Where the number of a key stands, 0 if it is new; to be set at once, and valid until the next call. NULL without
 * memory.
 */
uint32_t *ktr__word_map_at(struct ktr__word_map *map, uint64_t key);

/* The number of a key, 0: none. */
uint32_t ktr__word_map_get(const struct ktr__word_map *map, uint64_t key);

void ktr__word_map_free(struct ktr__word_map *map);

#endif
