/* SPDX-License-Identifier: BSD-2-Clause */
/* Open addressing, at most three quarters full; a slot whose number is 0 is empty. */
#include "analyze/types/word_map.h"

#include "conf/kit/hash.h"

#include <stdlib.h>

struct ktr__word_map_slot {
	uint64_t key;
	uint32_t number;
};

static struct ktr__word_map_slot *word_map_slot(const struct ktr__word_map *map, uint64_t key)
{
	size_t at = (size_t)ktr__hash_word(0, key);

	for (;; at++) {
		struct ktr__word_map_slot *slot = &map->slot[at & (map->n_slots - 1)];

		if (!slot->number || slot->key == key)
			return slot;
	}
}

static int word_map_grow(struct ktr__word_map *map)
{
	struct ktr__word_map more = { .n = map->n, .n_slots = map->n_slots ? map->n_slots * 2 : 64 };

	more.slot = calloc(more.n_slots, sizeof(*more.slot));
	if (!more.slot)
		return -1;
	for (size_t i = 0; i < map->n_slots; i++)
		if (map->slot[i].number)
			*word_map_slot(&more, map->slot[i].key) = map->slot[i];
	free(map->slot);
	*map = more;
	return 0;
}

uint32_t *ktr__word_map_at(struct ktr__word_map *map, uint64_t key)
{
	struct ktr__word_map_slot *slot;

	if (map->n >= map->n_slots / 4 * 3 && word_map_grow(map))
		return NULL;
	slot = word_map_slot(map, key);
	map->n += !slot->number;
	slot->key = key;
	return &slot->number;
}

uint32_t ktr__word_map_get(const struct ktr__word_map *map, uint64_t key)
{
	return map->n_slots ? word_map_slot(map, key)->number : 0;
}

void ktr__word_map_free(struct ktr__word_map *map)
{
	free(map->slot);
	*map = (struct ktr__word_map){ 0 };
}
