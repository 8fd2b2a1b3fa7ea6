/* SPDX-License-Identifier: BSD-2-Clause */
#include "visualize/model/keymap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int keymap_grow(struct ktr__keymap *map)
{
	struct ktr__keymap more = { .n = map->n, .room = map->room ? 2 * map->room : 256 };

	more.key = calloc(more.room, sizeof(*more.key));
	more.value = calloc(more.room, sizeof(*more.value));
	if (more.key == NULL || more.value == NULL) {
		free(more.key);
		free(more.value);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < map->room; i++) {
		uint32_t at = (uint32_t)(map->key[i] & (more.room - 1));

		if (map->value[i] == 0)
			continue;
		while (more.value[at] != 0)
			at = (at + 1) & (more.room - 1);
		more.key[at] = map->key[i];
		more.value[at] = map->value[i];
	}
	free(map->key);
	free(map->value);
	*map = more;
	return 0;
}

uint32_t *ktr__keymap_at(struct ktr__keymap *map, uint64_t key)
{
	uint32_t at;

	if (2 * map->n >= map->room && keymap_grow(map) != 0)
		return NULL;
	at = (uint32_t)(key & (map->room - 1));
	while (map->value[at] != 0 && map->key[at] != key)
		at = (at + 1) & (map->room - 1);
	if (map->value[at] == 0) {
		map->key[at] = key;
		map->n++;
	}
	return &map->value[at];
}

void ktr__keymap_clear(struct ktr__keymap *map)
{
	if (map->n > 0)
		memset(map->value, 0, map->room * sizeof(*map->value));
	map->n = 0;
}

void ktr__keymap_free(struct ktr__keymap *map)
{
	free(map->key);
	free(map->value);
}
