/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds session files: the directory, a walk over it, a session by its name or because there is no
 * other. By a process: session_proc.c.
 */
#include "ktr/session/session_find.h"

#include "ktr/session/session_map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIND_DIR_DEFAULT "/dev/shm"

static int find_too_long(struct ktr_error *err)
{
	return ktr_error_set(err, ENAMETOOLONG, "the path of the session directory is too long");
}

int ktr__session_dir(uid_t uid, char *path, size_t size, struct ktr_error *err)
{
	const char *base = secure_getenv("KTR_DIR");
	int n;

	if (!base || !*base)
		base = FIND_DIR_DEFAULT;
	if (*base != '/')
		return ktr_error_set(err, EINVAL, "KTR_DIR=%s is not an absolute path", base);
	n = snprintf(path, size, "%s/ktr-%u", base, (unsigned)uid);
	return n < 0 || (size_t)n >= size ? find_too_long(err) : 0;
}

int ktr__session_path_of(const char *name, char *path, size_t size, struct ktr_error *err)
{
	size_t length;
	int rc;

	if (!ktr__session_name_ok(name))
		return ktr_error_set(err, EINVAL,
				     "\"%.64s\" cannot be a session's name: up to %d letters, "
				     "digits and . _ -, the first not a dot",
				     name, KTR_SESSION_NAME_MAX - 1);
	rc = ktr__session_dir(geteuid(), path, size, err);
	if (rc)
		return rc;
	length = strlen(path);
	rc = snprintf(path + length, size - length, "/%s%s", name, KTR_SESSION_SUFFIX);
	return rc < 0 || (size_t)rc >= size - length ? find_too_long(err) : 0;
}

/* NAME.ktr without its suffix into name; 0 for a file that is not a session's. */
static int find_strip(const char *file, char name[KTR_SESSION_NAME_MAX])
{
	size_t suffix = sizeof(KTR_SESSION_SUFFIX) - 1, length = strlen(file);

	if (length <= suffix || length - suffix >= KTR_SESSION_NAME_MAX ||
	    strcmp(file + length - suffix, KTR_SESSION_SUFFIX) != 0)
		return 0;
	memcpy(name, file, length - suffix);
	name[length - suffix] = '\0';
	return ktr__session_name_ok(name);
}

/* A directory that only its owner, who is us or root, may write to; or -errno. */
static int find_open_dir(const char *dir, struct ktr_error *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), code = errno;
	struct stat st;

	if (fd < 0 && code == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return ktr_error_at(err, dir, 0, 0, code,
				    code == ENOTDIR || code == ELOOP
					    ? "is not a directory"
					    : "cannot be opened (errno %d)",
				    code);
	if (fstat(fd, &st) < 0 || (st.st_uid != geteuid() && st.st_uid != 0) ||
	    st.st_mode & (S_IWGRP | S_IWOTH)) {
		close(fd);
		return ktr_error_at(err, dir, 0, 0, EPERM,
				    "is not trusted: it belongs to somebody else, or others may "
				    "write to it");
	}
	return fd;
}

int ktr__session_walk(ktr__session_fn *fn, void *context, struct ktr_error *err)
{
	char dir[PATH_MAX], path[PATH_MAX + NAME_MAX + 2], name[KTR_SESSION_NAME_MAX];
	struct dirent *entry;
	DIR *stream;
	int rc, fd;

	rc = ktr__session_dir(geteuid(), dir, sizeof(dir), err);
	if (rc)
		return rc;
	fd = find_open_dir(dir, err);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	stream = fdopendir(fd);
	if (!stream) {
		close(fd);
		return ktr_error_at(err, dir, 0, 0, ENOMEM, "no memory to read it");
	}
	while (rc == 0 && (entry = readdir(stream)) != NULL) {
		if (!find_strip(entry->d_name, name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		rc = fn(context, path, name);
	}
	closedir(stream);
	return rc;
}

/* One search: what is looked for and what has been found so far. */
struct find {
	char *path;
	size_t size;
	unsigned n_live;
	unsigned n_all;      /* sessions seen, matching or not */
	char list[160];      /* names for the error's text */
};

static void find_list(struct find *find, const char *name, uint32_t pid)
{
	size_t at = strlen(find->list);

	snprintf(find->list + at, sizeof(find->list) - at, "%s%s (pid %u)", at ? ", " : "", name,
		 pid);
}

static int find_keep(struct find *find, const char *path)
{
	size_t length = strlen(path);

	if (length >= find->size)
		return -ENAMETOOLONG;
	memcpy(find->path, path, length + 1);
	return 0;
}

/* Copies the row of a process, a running one if there is one. 1 or 0. */
static int find_proc(const struct ktr__session_map *map, struct ktr_proc_row *found)
{
	struct ktr_control control;
	struct ktr_proc_row proc;
	int has = 0;
	uint32_t n;

	if (ktr__map_control(map, &control))
		return 0;
	n = ktr__map_n_rows(map, &control, KTR_REGION_proc);
	for (uint32_t i = 1; i < n; i++) {
		if (ktr__map_proc(map, i, &proc))
			continue;
		*found = proc;
		has = 1;
		if (ktr__proc_alive(&proc))
			break;
	}
	return has;
}

static int find_visit_live(void *context, const char *path, const char *name)
{
	struct find *find = context;
	struct ktr__session_map map;
	struct ktr_proc_row proc;
	int alive;

	if (ktr__map_open(path, KTR__MAP_OWN, &map, NULL))
		return 0;
	find->n_all++;
	alive = ktr__map_alive(&map) > 0;
	proc.pid = map.header.creator_pid;
	if (alive)
		find_proc(&map, &proc);
	ktr__map_close(&map);
	if (!alive)
		return 0;
	find->n_live++;
	find_list(find, name, proc.pid);
	return find->n_live == 1 ? find_keep(find, path) : 0;
}

static int find_visit_name(void *context, const char *path, const char *name)
{
	struct find *find = context;
	size_t at = strlen(find->list);

	(void)path;
	find->n_all++;
	snprintf(find->list + at, sizeof(find->list) - at, "%s%s", at ? ", " : "", name);
	return 0;
}

int ktr__session_find_name(const char *name, char *path, size_t size, struct ktr_error *err)
{
	struct find find = { .path = path, .size = size };
	struct stat st;
	int rc;

	rc = ktr__session_path_of(name, path, size, err);
	if (rc || lstat(path, &st) == 0)
		return rc;
	rc = ktr__session_walk(find_visit_name, &find, err);
	if (rc)
		return rc;
	if (find.n_all)
		return ktr_error_set(err, ENOENT, "no session is called \"%s\"; there are: %s",
				     name, find.list);
	return ktr_error_set(err, ENOENT, "no session is called \"%s\"; there are none", name);
}

int ktr__session_find_only(char *path, size_t size, struct ktr_error *err)
{
	struct find find = { .path = path, .size = size };
	int rc;

	rc = ktr__session_walk(find_visit_live, &find, err);
	if (rc)
		return rc;
	if (find.n_live == 1)
		return 0;
	if (find.n_live)
		return ktr_error_set(err, ENOTUNIQ, "there are %u live sessions, name one: %s",
				     find.n_live, find.list);
	if (find.n_all)
		return ktr_error_set(err, ENOENT,
				     "there is no live session, only %u of programs "
				     "that have ended",
				     find.n_all);
	return ktr_error_set(err, ENOENT, "there is no session");
}
