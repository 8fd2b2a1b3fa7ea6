/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An array that is searched by halves. Ids are given in rising order, but for the framework's own, so that one more
 * mostly comes to the end.
 */
#include "ktr/provider/mach/mach_ids.h"

#include <stdlib.h>
#include <string.h>

static struct {
	uint32_t id; /* as the probe has it, from a moment later on */
	struct ktr__mach_probe *probe;
} *ids_list;

static uint32_t ids_n, ids_room;

/* The place of the first whose id is not below this one. */
static uint32_t ids_place(uint32_t id)
{
	uint32_t from = 0, to = ids_n;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (ids_list[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

uint32_t ktr__mach_ids_n(void)
{
	return ids_n;
}

struct ktr__mach_probe *ktr__mach_ids_at(uint32_t place)
{
	return place < ids_n ? ids_list[place].probe : NULL;
}

struct ktr__mach_probe *ktr__mach_ids_find(uint32_t id)
{
	uint32_t place = ids_place(id);

	return place < ids_n && ids_list[place].id == id ? ids_list[place].probe : NULL;
}

bool ktr__mach_ids_add(struct ktr__mach_probe *probe, uint32_t id)
{
	uint32_t place = ids_place(id);

	if (ids_n == ids_room) {
		uint32_t room = ids_room ? 2 * ids_room : 64;
		void *grown = realloc(ids_list, room * sizeof(*ids_list));

		if (!grown)
			return false;
		ids_list = grown;
		ids_room = room;
	}
	memmove(&ids_list[place + 1], &ids_list[place], (ids_n - place) * sizeof(*ids_list));
	ids_list[place].id = id;
	ids_list[place].probe = probe;
	ids_n++;
	return true;
}

void ktr__mach_ids_drop(const struct ktr__mach_probe *probe)
{
	uint32_t place = ids_place(probe->id);

	if (place == ids_n || ids_list[place].probe != probe)
		return;
	ids_n--;
	memmove(&ids_list[place], &ids_list[place + 1], (ids_n - place) * sizeof(*ids_list));
}
