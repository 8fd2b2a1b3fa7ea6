/* SPDX-License-Identifier: BSD-2-Clause */
/* No way leads out of these directories: what is a link is not followed. */
#include "tools/ship/ship_links.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

DIR *ship_links_open(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

const struct dirent *ship_links_read(DIR *dir)
{
	const struct dirent *entry;

	do
		entry = readdir(dir);
	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry;
}

void ship_links_empty(int at, const char *path, unsigned depth)
{
	DIR *dir = depth ? ship_links_open(at, path) : NULL;
	const struct dirent *entry;

	while (dir && (entry = ship_links_read(dir)))
		if (unlinkat(dirfd(dir), entry->d_name, 0)) {
			ship_links_empty(dirfd(dir), entry->d_name, depth - 1);
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		}
	if (dir)
		closedir(dir);
}

int ship_links_make(int from, const char *path, int to, unsigned depth)
{
	DIR *dir = depth ? ship_links_open(from, path) : NULL;
	const struct dirent *entry;
	int rc = dir ? 0 : depth ? -errno : -ELOOP;

	while (!rc && dir && (entry = ship_links_read(dir))) {
		const char *name = entry->d_name;
		struct stat st;
		int into;

		if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(st.st_mode) && linkat(dirfd(dir), name, to, name, 0) && errno != EEXIST &&
		    errno != ENOENT)
			rc = -errno;
		if (!S_ISDIR(st.st_mode))
			continue;
		mkdirat(to, name, 0700);
		into = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = into < 0 ? -errno : ship_links_make(dirfd(dir), name, into, depth - 1);
		if (into >= 0)
			close(into);
	}
	if (dir)
		closedir(dir);
	return rc;
}

uint64_t ship_links_weigh(int at, const char *path, unsigned depth)
{
	DIR *dir = depth ? ship_links_open(at, path) : NULL;
	const struct dirent *entry;
	uint64_t n = 0;

	while (dir && (entry = ship_links_read(dir))) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISDIR(st.st_mode))
			n += ship_links_weigh(dirfd(dir), entry->d_name, depth - 1);
		else if (st.st_nlink == 1)
			n += (uint64_t)st.st_blocks * 512;
	}
	if (dir)
		closedir(dir);
	return n;
}
