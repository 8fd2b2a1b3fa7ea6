/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers found by a 64-bit key: a hash table with open addressing, never more than half full. Zeroed
 * memory is an empty one; value 0 is "not there". Strings go in by their hash alone, so two that collide
 * are one.
 */
#ifndef VISUALIZE_KEYMAP_H
#define VISUALIZE_KEYMAP_H

#include "conf/kit/hash.h"

struct ktr__keymap {
	uint64_t *key;
	uint32_t *value;
	uint32_t n;
	uint32_t room; /* power of two, or 0 */
};

/* Where the key's value is or belongs; the caller fills a 0. NULL without memory. */
uint32_t *ktr__keymap_at(struct ktr__keymap *map, uint64_t key);
void ktr__keymap_clear(struct ktr__keymap *map);
void ktr__keymap_free(struct ktr__keymap *map);

#endif
