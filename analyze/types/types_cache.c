/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of the cache, for types_file.h to read. With each that is stored the folder is looked through: programs are
 * built anew, and what is kept of the old ones nobody asks for. Those go that were not used for longest.
 */
#include "analyze/types/types_cache.h"

#include "analyze/print/newfile.h"
#include "ktr/provider/types/types_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_FILES 256		 /* of a large C++ program one has some MiB */
#define CACHE_BYTES (1ull << 30)

struct cache_file {
	struct timespec used;
	uint64_t n_bytes;
	char name[2 * KTR__TYPES_ID_MAX + 1];
};

static int cache_newest_first(const void *a, const void *b)
{
	const struct timespec *one = &((const struct cache_file *)a)->used;
	const struct timespec *two = &((const struct cache_file *)b)->used;

	if (one->tv_sec != two->tv_sec)
		return one->tv_sec < two->tv_sec ? 1 : -1;
	return (one->tv_nsec < two->tv_nsec) - (one->tv_nsec > two->tv_nsec);
}

/* Is it one of ours? What else somebody has put there stays. */
static bool cache_take(int folder, const char *name, struct cache_file *file)
{
	struct stat st;
	size_t n = strlen(name);

	if (n >= sizeof(file->name) || strspn(name, "0123456789abcdef") != n ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return false;
	*file = (struct cache_file){ .used = st.st_mtim, .n_bytes = (uint64_t)st.st_size };
	memcpy(file->name, name, n + 1);
	return true;
}

static void cache_prune(const char *path)
{
	struct cache_file *file = NULL, *more;
	const struct dirent *entry;
	uint64_t n_bytes = 0;
	size_t n = 0;
	DIR *folder;

	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		if (n % CACHE_FILES == 0) {
			more = realloc(file, (n + CACHE_FILES) * sizeof(*file));
			if (!more)
				break;
			file = more;
		}
		n += cache_take(dirfd(folder), entry->d_name, &file[n]);
	}
	if (file)
		qsort(file, n, sizeof(*file), cache_newest_first);
	for (size_t i = 0; i < n; i++) {
		n_bytes += file[i].n_bytes;
		if (i && (i >= CACHE_FILES || n_bytes > CACHE_BYTES))
			unlinkat(dirfd(folder), file[i].name, 0);
	}
	free(file);
	if (folder)
		closedir(folder);
}

void ktr__types_cache_put(const struct ktr__types *types)
{
	struct ktr__newfile file;
	char path[PATH_MAX];
	int rc;

	if (ktr__types_file_path(types->head->id, types->head->n_id, 1, path) ||
	    ktr__newfile_begin(&file, path, NULL))
		return;
	rc = fwrite(types->bytes, 1, types->n_bytes, file.to) == types->n_bytes ? 0 : -EIO;
	if (ktr__newfile_end(&file, rc, NULL))
		return;
	*strrchr(path, '/') = '\0';
	cache_prune(path);
}

void ktr__types_cache_used(const struct ktr__types *types)
{
	char path[PATH_MAX];

	if (!ktr__types_file_path(types->head->id, types->head->n_id, 0, path))
		utimensat(AT_FDCWD, path, NULL, 0);
}
