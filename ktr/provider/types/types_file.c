/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache is a folder of its user's. What is in it is checked as any input is: it may be of another version of
 * ktr, torn, or somebody's. It is copied, not mapped, for it may be cut while it is read.
 */
#include "ktr/provider/types/types_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ktr__types_file_path(const uint8_t *id, uint16_t n_id, int make, char path[PATH_MAX])
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int is_set = cache && cache[0] == '/', n;

	if (!n_id || n_id > KTR__TYPES_ID_MAX)
		return -ENOENT;
	/* The specification says to take no relative ones. */
	if (!is_set && (!home || home[0] != '/'))
		return -ENOENT;
	n = snprintf(path, PATH_MAX, "%s%s/ktr/types/", is_set ? cache : home, is_set ? "" : "/.cache");
	if (n < 0 || n + 2 * n_id + 1 > PATH_MAX)
		return -ENAMETOOLONG;
	for (char *slash = path + 1; make && (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	for (uint16_t i = 0; i < n_id; i++)
		n += sprintf(path + n, "%02x", id[i]);
	return 0;
}

/* The bytes of a file, owned, or NULL. */
static void *types_file_bytes(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *bytes = NULL;
	ssize_t got = -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= KTR__TYPES_MAX)
		bytes = malloc((size_t)st.st_size);
	for (*n = 0; bytes && *n < (size_t)st.st_size; *n += (size_t)got) {
		got = read(fd, bytes + *n, (size_t)st.st_size - *n);
		if (got <= 0)
			break;
	}
	close(fd);
	return bytes;
}

struct ktr__types *ktr__types_file_read(const uint8_t *id, uint16_t n_id)
{
	struct ktr__types *types = NULL;
	char path[PATH_MAX];
	void *bytes;
	size_t n;

	if (ktr__types_file_path(id, n_id, 0, path))
		return NULL;
	bytes = types_file_bytes(path, &n);
	if (!bytes || ktr__types_load(bytes, n, &types))
		return NULL;
	if (types->head->n_id == n_id && memcmp(types->head->id, id, n_id) == 0)
		return types;
	ktr__types_free(types);
	return NULL;
}
