/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/follow/kept.h"

#include "conf/kit/array.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ktr__kept_folder(const char *trace, const uint8_t uuid[16], const char *key, char **folder)
{
	size_t n = strlen(trace);
	const char *slash, *name;
	char hex[33];

	*folder = NULL;
	while (n > 1 && trace[n - 1] == '/')
		n--;
	slash = memrchr(trace, '/', n);
	name = slash ? slash + 1 : trace;
	n -= (size_t)(name - trace);
	if (!n || strncmp(name, ".", n) == 0 || strncmp(name, "..", n) == 0)
		return 0;
	for (unsigned i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", uuid[i]);
	if (asprintf(folder, "%.*s" KTR__KEPT_DIR "/%.*s.%s.%s", (int)(name - trace), trace, (int)n, name, hex, key) >= 0)
		return 0;
	*folder = NULL;
	return -ENOMEM;
}

/* "NUMBER-INODE" */
static int kept_name(const char *name, struct ktr__kept *piece)
{
	unsigned long long number, ino;
	char *end;

	if (name[0] < '1' || name[0] > '9')
		return 0;
	number = strtoull(name, &end, 10);
	if (*end != '-' || end[1] < '0' || end[1] > '9' || number >= UINT32_MAX)
		return 0;
	ino = strtoull(end + 1, &end, 10);
	*piece = (struct ktr__kept){ (uint32_t)number, (ino_t)ino };
	return !*end;
}

static int kept_compare(const void *a, const void *b)
{
	const struct ktr__kept *m = a, *n = b;

	return (m->number > n->number) - (m->number < n->number);
}

int ktr__kept_pieces(const char *folder, struct ktr__kept **pieces)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	struct ktr__kept piece;
	uint32_t n = 0, room = 0;

	*pieces = NULL;
	while (dir && (entry = readdir(dir))) {
		if (!kept_name(entry->d_name, &piece))
			continue;
		if (ktr__array_grow(pieces, &room, n, sizeof(piece))) {
			free(*pieces);
			*pieces = NULL;
			closedir(dir);
			return -ENOMEM;
		}
		(*pieces)[n++] = piece;
	}
	if (dir)
		closedir(dir);
	if (n)
		qsort(*pieces, n, sizeof(**pieces), kept_compare);
	return (int)n;
}

char *ktr__kept_path(const char *folder, const struct ktr__kept *piece)
{
	char *path;

	return asprintf(&path, "%s/%u-%llu", folder, piece->number, (unsigned long long)piece->ino) < 0 ? NULL : path;
}
