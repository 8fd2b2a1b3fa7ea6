/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/PID/maps has a line for each part of an object, one after the other, in the order of addresses. */
#include "tools/attach/inject_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A part of the object that the line before was of? */
static int inject_maps_same(const struct inject_maps *maps, const char *name, uint64_t offset)
{
	return maps->n && offset && strcmp(maps->object[maps->n - 1].name, name) == 0;
}

static void inject_maps_line(struct inject_maps *maps, const char *line)
{
	unsigned long start, end, offset;
	struct inject_object *object;
	char access[8], name[64];
	const char *path, *slash;
	int at = 0;

	if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, access, &offset, &at) < 4 ||
	    !at || line[at] != '/')
		return;
	path = line + at;
	slash = strrchr(path, '/');
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(slash + 1, "\n"), slash + 1);
	if (!inject_maps_same(maps, name, offset)) {
		if (offset || maps->n == INJECT_MAPS_OBJECTS)
			return;
		object = &maps->object[maps->n++];
		*object = (struct inject_object){ .base = start };
		strcpy(object->name, name);
	}
	object = &maps->object[maps->n - 1];
	object->end = end;
	if (access[2] == 'x' && !object->text) {
		object->text = start;
		object->text_end = end;
	}
}

int inject_maps_read(const char *proc, pid_t pid, struct inject_maps *maps)
{
	char path[512], line[1024];
	FILE *file;

	maps->n = 0;
	snprintf(path, sizeof(path), "%s/%d/maps", proc, (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		inject_maps_line(maps, line);
	fclose(file);
	return 0;
}

const struct inject_object *inject_maps_find(const struct inject_maps *maps, const char *stem)
{
	size_t n = strlen(stem);

	for (unsigned i = 0; i < maps->n; i++) {
		const char *name = maps->object[i].name;

		if (strncmp(name, stem, n) == 0 && (!name[n] || strchr(".- ", name[n])))
			return &maps->object[i];
	}
	return NULL;
}
