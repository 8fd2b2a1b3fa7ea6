/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tmpfs pages are charged to the cgroup of whoever touches them first, so that enabling tracing in a
 * small container could get it killed: rings take a part of the limit only. Both versions of the
 * interface are read (cgroups(7)): memory.max of v2, memory.limit_in_bytes of v1; of the own group and of
 * each above it, since any of them may be the one that bites.
 */
#include "ktr/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads a file whole, up to size - 1 bytes. False: there is none. */
static int cgroup_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* "max", and v1's huge number for none, both mean no limit. */
static uint64_t cgroup_number(const char *root, const char *group, const char *file)
{
	char path[640], text[32];
	uint64_t limit = 0;

	snprintf(path, sizeof(path), "%s%s/%s", root, group, file);
	if (!cgroup_read(path, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return UINT64_MAX;
	for (const char *p = text; *p >= '0' && *p <= '9'; p++)
		limit = limit * 10 + (uint64_t)(*p - '0');
	return limit ? limit : UINT64_MAX;
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

	if (!cgroup_read("/proc/self/cgroup", text, sizeof(text)))
		return UINT64_MAX;
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
