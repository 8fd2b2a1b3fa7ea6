/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tmpfs pages are charged to the cgroup of whoever touches them first, so that enabling tracing in a
 * small container could get it killed: rings take a part of the limit only. Both versions of the
 * interface are read (cgroups(7)): memory.max of v2, memory.limit_in_bytes of v1; of the own group and of
 * each above it, since any of them may be the one that bites.
 */
#include "ktr/control/cgroup.h"

#include "ktr/session/kernel.h"

#include <stdio.h>
#include <string.h>

/* "max", and v1's huge number for none, both mean no limit. */
static uint64_t cgroup_number(const char *root, const char *group, const char *file)
{
	char path[640], text[32];
	const char *at = text;
	uint64_t limit;

	snprintf(path, sizeof(path), "%s%s/%s", root, group, file);
	ktr__kernel_text(path, text, sizeof(text));
	return ktr__kernel_number(&at, &limit) && limit ? limit : UINT64_MAX;
}

/* The lowest limit from a group up to its root; a group that a container does not see is passed over. */
static uint64_t cgroup_lowest(const char *root, char *group, const char *file)
{
	uint64_t lowest = UINT64_MAX;

	for (;;) {
		uint64_t limit = cgroup_number(root, group, file);
		char *slash = strrchr(group, '/');

		if (limit < lowest)
			lowest = limit;
		if (!slash)
			return lowest;
		*slash = 0;
	}
}

uint64_t ktr__cgroup_limit(void)
{
	char text[4096], group[512];
	uint64_t lowest = UINT64_MAX;

	ktr__kernel_text("/proc/self/cgroup", text, sizeof(text));
	for (char *line = text, *next; line && *line; line = next) {
		char *controllers = strchr(line, ':'), *path;
		uint64_t limit = UINT64_MAX;

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = 0;
		snprintf(group, sizeof(group), "%s", path);
		if (!controllers[1])
			limit = cgroup_lowest("/sys/fs/cgroup", group, "memory.max");
		else if (strstr(controllers + 1, "memory"))
			limit = cgroup_lowest("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
		if (limit < lowest)
			lowest = limit;
	}
	return lowest;
}
