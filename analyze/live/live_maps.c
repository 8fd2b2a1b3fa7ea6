/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/PID/maps has a line for each part of an object, one after the other, in the order of addresses. */
#include "analyze/live/live_maps.h"

#include "conf/kit/array.h"
#include "ktr/provider/syscall/tracee_proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may be unwound through, or has names. */
static int maps_is_object(const char *path)
{
	return path[0] == '/' || strcmp(path, "[vdso]") == 0;
}

/* A part of the object that a line before was of: memory without a file may lie between. */
static struct ktr__live_object *maps_same(const struct ktr__live_maps *maps, const char *path, uint64_t inode,
					  uint64_t offset)
{
	struct ktr__live_object *last = maps->n_objects ? &maps->object[maps->n_objects - 1] : NULL;

	return last && offset && last->inode == inode && strcmp(last->path, path) == 0 ? last : NULL;
}

static int maps_object(struct ktr__live_maps *maps, const struct ktr__live_region *region, uint64_t offset,
		       uint64_t inode, const char *path)
{
	struct ktr__live_object *object = maps_same(maps, path, inode, offset);

	if (!object) {
		if (ktr__array_grow(&maps->object, &maps->room_objects, maps->n_objects, sizeof(*object)))
			return -ENOMEM;
		object = &maps->object[maps->n_objects];
		*object = (struct ktr__live_object){
			.start = region->start, .first_end = region->end, .inode = inode, .path = strdup(path),
		};
		if (!object->path)
			return -ENOMEM;
		maps->n_objects++;
	}
	object->end = region->end;
	object->is_code |= region->access[2] == 'x';
	return 0;
}

static int maps_line(struct ktr__live_maps *maps, char *line)
{
	unsigned long start, end, offset, inode;
	struct ktr__live_region *region;
	char access[5];
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%lx-%lx %4s %lx %*s %lu %n", &start, &end, access, &offset, &inode, &at) < 5 || !at)
		return 0;
	if (ktr__array_grow(&maps->region, &maps->room_regions, maps->n_regions, sizeof(*region)))
		return -ENOMEM;
	region = &maps->region[maps->n_regions++];
	*region = (struct ktr__live_region){ .start = start, .end = end };
	memcpy(region->access, access, sizeof(region->access));
	return maps_is_object(line + at) ? maps_object(maps, region, offset, inode, line + at) : 0;
}

int ktr__live_maps_read(pid_t pid, struct ktr__live_maps *maps)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)ktr__tracee_living(pid));
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (!rc && getline(&line, &room, file) > 0)
		rc = maps_line(maps, line);
	free(line);
	fclose(file);
	return rc;
}

void ktr__live_maps_free(struct ktr__live_maps *maps)
{
	for (uint32_t i = 0; i < maps->n_objects; i++)
		free(maps->object[i].path);
	free(maps->object);
	free(maps->region);
}

const struct ktr__live_object *ktr__live_maps_object(const struct ktr__live_maps *maps, uint64_t address)
{
	for (uint32_t i = 0; i < maps->n_objects; i++)
		if (address >= maps->object[i].start && address < maps->object[i].end)
			return &maps->object[i];
	return NULL;
}

const struct ktr__live_region *ktr__live_maps_region(const struct ktr__live_maps *maps, uint64_t address)
{
	uint32_t from = 0, to = maps->n_regions;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (maps->region[middle].end <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from < maps->n_regions && address >= maps->region[from].start ? &maps->region[from] : NULL;
}
