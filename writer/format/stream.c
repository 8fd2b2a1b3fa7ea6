/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of one trace directory. See stream.h for what is promised.
 *
 * All calls go through the table of system calls, but for flock(2) and the directory walk of a
 * removal. Errors of making a trace are told to the caller with the path; errors of appending only
 * as -errno, because the caller goes on and tells the user once.
 */
#include "writer/format/stream.h"

#include <ktr/session.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define STREAM_FORGET (8u << 20)   /* [bytes] each time a stream has grown by so much, */
#define STREAM_CACHED (64ull << 20) /* what is further from its end is let go, */
#define STREAM_LETS   (96ull << 20) /* and once more what was not written back the last times */
#define STREAM_GONE  ".gone" /* after the hidden name of what is being removed */
#define STREAM_TRIES 10000 /* names NAME.old.N looked at before giving up */

static const char *const stream_sidecars[KTR_SIDECARS] = {
#define STREAM_NAME(name, file) [KTR_SIDECAR_##name] = file,
	KTR_SIDECAR_LIST(STREAM_NAME)
#undef STREAM_NAME
};

static void stream_close_fd(struct ktr__trace *trace, int *fd)
{
	if (*fd >= 0)
		trace->sys->close(*fd);
	*fd = -1;
}

/* The directory that the trace lies in, as its path leads there now. 0 or -errno. */
static int stream_open_parent(struct ktr__trace *trace)
{
	char parent[PATH_MAX];
	int fd;

	/* "parent/." rather than "parent": the directory may be reached through a link. */
	snprintf(parent, sizeof(parent), "%.*s.", trace->n_parent, trace->given);
	fd = trace->sys->openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	stream_close_fd(trace, &trace->parent_fd);
	trace->parent_fd = fd;
	return 0;
}

int ktr__trace_init(struct ktr__trace *trace, const struct ktr__sys *sys, const char *path,
		    uint32_t ring_path, uint32_t n_rings, struct ktr_error *err)
{
	size_t n = strlen(path);
	const char *slash;
	int rc;

	memset(trace, 0, sizeof(*trace));
	trace->sys = sys;
	trace->path = ring_path;
	trace->n_rings = n_rings;
	trace->parent_fd = trace->dir_fd = trace->side_fd = trace->metadata.fd = -1;
	for (int i = 0; i < KTR_SIDECARS; i++)
		trace->side[i].fd = -1;
	while (n > 1 && path[n - 1] == '/')
		n--;
	slash = memrchr(path, '/', n);
	if (slash)
		n -= (size_t)(slash + 1 - path);
	if (!n || n > NAME_MAX - 32 || (slash && slash - path >= PATH_MAX - 2))
		return ktr_error_set(err, EINVAL, "%s: not a name for a trace", path);
	memcpy(trace->name, slash ? slash + 1 : path, n);
	if (strcmp(trace->name, ".") == 0 || strcmp(trace->name, "..") == 0)
		return ktr_error_set(err, EINVAL, "%s: not a name for a trace", path);
	trace->stream = malloc(KTR_RING_KINDS * (size_t)n_rings * sizeof(*trace->stream));
	if (!trace->stream)
		return ktr_error_set(err, ENOMEM, "no memory for the trace");
	for (uint32_t i = 0; i < KTR_RING_KINDS * n_rings; i++)
		trace->stream[i] = (struct ktr__file){ -1, 0, 0 };
	trace->given = path;
	trace->n_parent = slash ? (int)(slash + 1 - path) : 0;
	rc = stream_open_parent(trace);
	if (rc)
		return ktr_error_set(err, rc, "%s: cannot open the directory it goes to: %m", path);
	return 0;
}

static int stream_open_file(struct ktr__trace *trace, int dir_fd, const char *name,
			    struct ktr__file *file)
{
	int fd = trace->sys->openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		return fd;
	*file = (struct ktr__file){ fd, 0, 0 };
	return 0;
}

static int stream_open_dir(struct ktr__trace *trace, int at_fd, const char *name, int *fd)
{
	int rc = trace->sys->mkdirat(at_fd, name, 0700);

	if (rc)
		return rc;
	*fd = trace->sys->openat(at_fd, name, O_RDONLY | O_DIRECTORY, 0);
	return *fd < 0 ? *fd : 0;
}

/*
 * Removes a trace directory by what belongs to one; anything else in it stays, and so does it then.
 */
static int stream_remove(struct ktr__trace *trace, const char *name)
{
	int dir_fd = trace->sys->openat(trace->parent_fd, name, O_RDONLY | O_DIRECTORY, 0);
	int side_fd;
	char file[NAME_MAX + 1];

	if (dir_fd < 0)
		return dir_fd;
	side_fd = trace->sys->openat(dir_fd, KTR_TRACE_DIR, O_RDONLY | O_DIRECTORY, 0);
	for (int i = 0; side_fd >= 0 && i < KTR_SIDECARS; i++)
		trace->sys->unlinkat(side_fd, stream_sidecars[i], 0);
	if (side_fd >= 0)
		trace->sys->unlinkat(side_fd, KTR__CODE_FILE, 0);
	if (side_fd >= 0)
		trace->sys->close(side_fd);
	trace->sys->unlinkat(dir_fd, KTR_TRACE_DIR, AT_REMOVEDIR);
	trace->sys->unlinkat(dir_fd, KTR_TRACE_METADATA, 0);
	for (uint32_t i = 0; i < KTR_RING_KINDS * trace->n_rings; i++) {
		ktr__trace_stream_name(trace, i, file, sizeof(file));
		trace->sys->unlink_later(dir_fd, file);
	}
	trace->sys->close(dir_fd);
	return trace->sys->unlinkat(trace->parent_fd, name, AT_REMOVEDIR);
}

/* Is the trace of this name being written? */
static int stream_busy(struct ktr__trace *trace, const char *name)
{
	char path[NAME_MAX + 32];
	int fd, busy;

	snprintf(path, sizeof(path), "%s/" KTR_TRACE_DIR "/%s", name,
		 stream_sidecars[KTR_SIDECAR_INFO]);
	fd = trace->sys->openat(trace->parent_fd, path, O_RDONLY, 0);
	if (fd < 0)
		return 0;
	busy = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	trace->sys->close(fd);
	return busy;
}

int ktr__trace_locked(const char *path)
{
	char info[PATH_MAX + 64];
	int fd, busy;

	snprintf(info, sizeof(info), "%s/" KTR_TRACE_DIR "/%s", path, stream_sidecars[KTR_SIDECAR_INFO]);
	fd = open(info, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	busy = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	return busy;
}

int ktr__trace_attended(const struct ktr__trace *trace)
{
	int fd = trace->side[KTR_SIDECAR_LOSSES].fd;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
		flock(fd, LOCK_UN);
		return 0;
	}
	return 1;
}

/* The directory the trace lies in, to be read; NULL where that cannot be. */
static DIR *stream_parent(struct ktr__trace *trace)
{
	int fd = trace->sys->openat(trace->parent_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		trace->sys->close(fd);
	return dir;
}

/* A name beside the trace's own that nobody looks at. */
static void stream_hide(const struct ktr__trace *trace, const char *suffix, char hidden[NAME_MAX + 1])
{
	static unsigned serial;

	snprintf(hidden, NAME_MAX + 1, ".%.*s.%d.%u%s", (int)(NAME_MAX - 32), trace->name, (int)getpid(),
		 __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED), suffix);
}

/* Is it .NAME.pid.serial of this trace's name, with that suffix, and written by nobody any more? */
static int stream_is_left(struct ktr__trace *trace, const char *hidden, const char *suffix)
{
	size_t n = strlen(trace->name), digits;

	if (hidden[0] != '.' || strncmp(hidden + 1, trace->name, n) != 0 || hidden[n + 1] != '.')
		return 0;
	digits = strspn(hidden + n + 2, "0123456789.");
	/* The suffix begins with a dot, too. */
	if (*suffix && digits && hidden[n + 1 + digits] == '.')
		digits--;
	return strcmp(hidden + n + 2 + digits, suffix) == 0 && !stream_busy(trace, hidden);
}

/*
 * Removes what a writer of this name that was killed before its trace had the name has left, or while it removed
 * one.
 */
static void stream_sweep(struct ktr__trace *trace)
{
	DIR *dir = stream_parent(trace);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (stream_is_left(trace, entry->d_name, "") || stream_is_left(trace, entry->d_name, STREAM_GONE))
			stream_remove(trace, entry->d_name);
	if (dir)
		closedir(dir);
}

/* Has the trace a head? The metadata is what is written last of it. */
static int stream_has_head(struct ktr__trace *trace, const char *name)
{
	char path[NAME_MAX + 32];
	struct stat st = { 0 };
	int fd;

	snprintf(path, sizeof(path), "%s/" KTR_TRACE_METADATA, name);
	fd = trace->sys->openat(trace->parent_fd, path, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	trace->sys->fstat(fd, &st);
	trace->sys->close(fd);
	return S_ISREG(st.st_mode) && st.st_size > 0;
}

int ktr__trace_adopt(struct ktr__trace *trace)
{
	DIR *dir = stream_parent(trace);
	const struct dirent *entry;
	int rc = -ENOENT;

	while (rc && dir && (entry = readdir(dir)))
		if (stream_is_left(trace, entry->d_name, "") && stream_has_head(trace, entry->d_name))
			rc = trace->sys->rename_new(trace->parent_fd, entry->d_name, trace->name);
	if (dir)
		closedir(dir);
	return rc;
}

static int stream_create(struct ktr__trace *trace)
{
	int rc = stream_open_dir(trace, trace->parent_fd, trace->hidden, &trace->dir_fd);

	/* The directory it lay in has been removed, and perhaps another made. */
	if (rc == -ENOENT && !stream_open_parent(trace))
		rc = stream_open_dir(trace, trace->parent_fd, trace->hidden, &trace->dir_fd);
	if (!rc)
		rc = stream_open_dir(trace, trace->dir_fd, KTR_TRACE_DIR, &trace->side_fd);
	if (!rc)
		rc = stream_open_file(trace, trace->dir_fd, KTR_TRACE_METADATA, &trace->metadata);
	for (int i = 0; !rc && i < KTR_SIDECARS; i++)
		rc = stream_open_file(trace, trace->side_fd, stream_sidecars[i], &trace->side[i]);
	if (!rc && flock(trace->side[KTR_SIDECAR_INFO].fd, LOCK_EX | LOCK_NB))
		rc = errno == EWOULDBLOCK ? -EBUSY : 0; /* a file system without locks */
	return rc;
}

int ktr__trace_create(struct ktr__trace *trace, struct ktr_error *err)
{
	int rc;

	trace->format = KTR_TRACE_MAJOR;
	trace->bytes = 0;
	trace->published = 0;
	stream_hide(trace, "", trace->hidden);
	stream_sweep(trace);
	rc = stream_create(trace);
	if (rc) {
		ktr__trace_close(trace);
		return ktr_error_set(err, rc, "%s: cannot create the trace: %m", trace->name);
	}
	return 0;
}

/* Devices, pipes and sockets are no traces, and others look for them where they are. */
static int stream_is_movable(struct ktr__trace *trace)
{
	int fd = trace->sys->openat(trace->parent_fd, trace->name, O_PATH | O_NOFOLLOW, 0);
	struct stat st;
	int rc;

	if (fd < 0)
		return 1; /* renaming tells why */
	rc = trace->sys->fstat(fd, &st);
	trace->sys->close(fd);
	return rc || S_ISDIR(st.st_mode) || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
}

/* Moves what has the name aside. */
static int stream_aside(struct ktr__trace *trace)
{
	char aside[NAME_MAX + 32];
	int rc = -EEXIST;

	if (!stream_is_movable(trace))
		return -ENOTDIR;

	for (unsigned i = 1; rc == -EEXIST && i <= STREAM_TRIES; i++) {
		snprintf(aside, sizeof(aside), "%s.old.%u", trace->name, i);
		rc = trace->sys->rename_new(trace->parent_fd, trace->name, aside);
	}
	return rc == -ENOENT ? 0 : rc; /* gone by itself: the better */
}

static int stream_cut(struct ktr__trace *trace, struct ktr__file *file)
{
	int rc = trace->sys->ftruncate(file->fd, (off_t)file->bytes);

	file->torn = rc != 0;
	return rc;
}

/* Opens a file that is there. 0 or -errno. */
static int stream_reopen_file(struct ktr__trace *trace, int dir_fd, const char *name,
			      struct ktr__file *file)
{
	int fd = trace->sys->openat(dir_fd, name, O_RDWR, 0);
	struct stat st;
	int rc;

	if (fd < 0)
		return fd;
	rc = trace->sys->fstat(fd, &st);
	if (!rc && !S_ISREG(st.st_mode))
		rc = -EINVAL;
	if (rc) {
		trace->sys->close(fd);
		return rc;
	}
	*file = (struct ktr__file){ fd, 0, (uint64_t)st.st_size };
	trace->bytes += file->bytes;
	return 0;
}

static int stream_reopen_streams(struct ktr__trace *trace)
{
	char name[NAME_MAX + 1];
	int rc = 0;

	for (uint32_t i = 0; !rc && i < KTR_RING_KINDS * trace->n_rings; i++) {
		ktr__trace_stream_name(trace, i, name, sizeof(name));
		rc = stream_reopen_file(trace, trace->dir_fd, name, &trace->stream[i]);
		rc = rc == -ENOENT ? 0 : rc;
	}
	return rc;
}

static int stream_reopen(struct ktr__trace *trace)
{
	int rc = 0;

	trace->dir_fd = trace->sys->openat(trace->parent_fd, trace->name, O_RDONLY | O_DIRECTORY,
					   0);
	if (trace->dir_fd == -ENOENT && !ktr__trace_adopt(trace))
		trace->dir_fd = trace->sys->openat(trace->parent_fd, trace->name, O_RDONLY | O_DIRECTORY, 0);
	if (trace->dir_fd < 0)
		return trace->dir_fd;
	trace->side_fd = trace->sys->openat(trace->dir_fd, KTR_TRACE_DIR, O_RDONLY | O_DIRECTORY,
					    0);
	if (trace->side_fd < 0)
		return trace->side_fd;
	for (int i = 0; !rc && i < KTR_SIDECARS; i++)
		rc = stream_reopen_file(trace, trace->side_fd, stream_sidecars[i], &trace->side[i]);
	if (!rc && flock(trace->side[KTR_SIDECAR_INFO].fd, LOCK_EX | LOCK_NB) &&
	    errno == EWOULDBLOCK)
		rc = -EBUSY;
	if (!rc)
		rc = stream_reopen_file(trace, trace->dir_fd, KTR_TRACE_METADATA, &trace->metadata);
	return rc ? rc : stream_reopen_streams(trace);
}

int ktr__trace_reopen(struct ktr__trace *trace, struct ktr_error *err)
{
	int rc;

	trace->bytes = 0;
	trace->published = 1; /* whatever happens, it is not ours to remove */
	rc = stream_reopen(trace);
	if (!rc)
		return 0;
	ktr__trace_close(trace);
	if (rc == -EBUSY)
		return ktr_error_set(err, rc, "%s: another process is writing this trace",
				     trace->name);
	return ktr_error_set(err, rc, "%s: cannot go on with this trace: %m", trace->name);
}

int ktr__trace_cut(struct ktr__trace *trace, struct ktr__file *file, uint64_t n_bytes)
{
	if (n_bytes >= file->bytes)
		return 0;
	file->bytes = n_bytes;
	return stream_cut(trace, file);
}

int ktr__trace_make_way(struct ktr__trace *trace, struct ktr_error *err)
{
	int rc;

	if (stream_busy(trace, trace->name))
		return ktr_error_set(err, EBUSY, "%s: another process is writing this trace",
				     trace->name);
	rc = stream_aside(trace);
	if (rc)
		return ktr_error_set(err, rc, "%s: cannot move the old trace aside: %m",
				     trace->name);
	return 0;
}

int ktr__trace_publish(struct ktr__trace *trace, struct ktr_error *err)
{
	int rc;

	for (int i = 0; i < 16; i++) {
		rc = trace->sys->rename_new(trace->parent_fd, trace->hidden, trace->name);
		if (rc != -EEXIST && rc != -ENOTEMPTY)
			break;
		rc = ktr__trace_make_way(trace, err);
		if (rc)
			return rc;
		rc = -EEXIST;
	}
	if (rc)
		return ktr_error_set(err, rc, "%s: cannot give the trace its name: %m", trace->name);
	trace->published = 1;
	return 0;
}

static void stream_drop_empty(struct ktr__trace *trace, uint32_t row)
{
	const struct ktr__file *file = &trace->stream[row];
	char name[NAME_MAX + 1];

	if (file->fd < 0 || file->bytes || file->torn)
		return;
	ktr__trace_stream_name(trace, row, name, sizeof(name));
	trace->sys->unlinkat(trace->dir_fd, name, 0);
}

void ktr__trace_close(struct ktr__trace *trace)
{
	for (uint32_t i = 0; trace->stream && i < KTR_RING_KINDS * trace->n_rings; i++) {
		stream_drop_empty(trace, i);
		stream_close_fd(trace, &trace->stream[i].fd);
		trace->stream[i] = (struct ktr__file){ -1, 0, 0 };
	}
	/* The lock goes last: whoever waits for it opens empty streams, too, and writes into them. */
	stream_close_fd(trace, &trace->metadata.fd);
	for (int i = KTR_SIDECARS; i-- > 0;)
		stream_close_fd(trace, &trace->side[i].fd);
	stream_close_fd(trace, &trace->side_fd);
	stream_close_fd(trace, &trace->dir_fd);
	if (!trace->published && trace->hidden[0])
		stream_remove(trace, trace->hidden);
	trace->hidden[0] = 0;
	trace->published = 0;
}

uint32_t ktr__trace_free_number(struct ktr__trace *trace)
{
	DIR *dir = stream_parent(trace);
	size_t n = strlen(trace->name);
	const struct dirent *entry;
	unsigned long last = 0;

	while (dir && (entry = readdir(dir))) {
		const char *number = entry->d_name + n;
		unsigned long found;
		char *end;

		if (strncmp(entry->d_name, trace->name, n) != 0 || number[0] != '.' ||
		    number[1] < '0' || number[1] > '9')
			continue;
		found = strtoul(number + 1, &end, 10);
		if (!*end && found > last && found < UINT32_MAX)
			last = found;
	}
	if (dir)
		closedir(dir);
	return (uint32_t)last + 1;
}

int ktr__trace_is_named(const struct ktr__trace *trace)
{
	struct stat named = { 0 }, ours = { 0 };
	int fd = trace->sys->openat(trace->parent_fd, trace->name, O_PATH | O_DIRECTORY, 0), rc;

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? 0 : fd;
	rc = trace->sys->fstat(fd, &named);
	trace->sys->close(fd);
	if (!rc)
		rc = trace->sys->fstat(trace->dir_fd, &ours);
	return rc ? rc : named.st_ino == ours.st_ino && named.st_dev == ours.st_dev;
}

int ktr__trace_next(struct ktr__trace *next, const struct ktr__trace *trace)
{
	const size_t n_rows = KTR_RING_KINDS * (size_t)trace->n_rings;
	int rc;

	*next = *trace;
	next->dir_fd = next->side_fd = -1;
	for (int i = 0; i < KTR_SIDECARS; i++)
		next->side[i] = (struct ktr__file){ -1, 0, 0 };
	next->metadata = (struct ktr__file){ -1, 0, 0 };
	next->hidden[0] = 0;
	next->published = 0;
	next->stream = malloc(n_rows * sizeof(*next->stream));
	if (!next->stream)
		return -ENOMEM;
	for (size_t i = 0; i < n_rows; i++)
		next->stream[i] = (struct ktr__file){ -1, 0, 0 };
	rc = ktr__trace_create(next, NULL);
	if (rc) {
		free(next->stream);
		next->stream = NULL;
	}
	return rc;
}

/* Where names cannot be exchanged nobody has the name for a moment: see ktr__trace_adopt(). */
static int stream_succeed_apart(struct ktr__trace *trace, struct ktr__trace *next, const char *retired)
{
	int rc = trace->sys->rename_new(trace->parent_fd, trace->name, retired);

	if (rc)
		return rc;
	rc = trace->sys->rename_new(trace->parent_fd, next->hidden, next->name);
	if (rc)
		trace->sys->rename_new(trace->parent_fd, retired, trace->name);
	return rc;
}

/*
 * The next trace first gets the name that this one is to have, and then the two exchange theirs: whoever is killed
 * in between leaves a trace under the name, and at most one without events beside it.
 */
int ktr__trace_succeed(struct ktr__trace *trace, struct ktr__trace *next, uint32_t number)
{
	char retired[NAME_MAX + 32];
	int rc = ktr__trace_is_named(trace);

	if (rc <= 0)
		return rc ? rc : -ENOENT;
	snprintf(retired, sizeof(retired), "%s.%u", trace->name, number);
	rc = trace->sys->rename_new(trace->parent_fd, next->hidden, retired);
	if (rc)
		return rc;
	rc = trace->sys->exchange(trace->parent_fd, trace->name, retired);
	if (rc) {
		trace->sys->rename_new(trace->parent_fd, retired, next->hidden);
		if (rc == -EINVAL || rc == -ENOSYS)
			rc = stream_succeed_apart(trace, next, retired);
	}
	next->published = !rc;
	return rc;
}

int ktr__trace_remove(struct ktr__trace *trace, uint32_t number)
{
	char name[NAME_MAX + 32], hidden[NAME_MAX + 1];
	int rc;

	snprintf(name, sizeof(name), "%s.%u", trace->name, number);
	stream_hide(trace, STREAM_GONE, hidden);
	if (trace->sys->rename_new(trace->parent_fd, name, hidden))
		return stream_remove(trace, name);
	rc = stream_remove(trace, hidden);
	if (rc) /* somebody keeps something of his there */
		trace->sys->rename_new(trace->parent_fd, hidden, name);
	return rc;
}

void ktr__trace_fini(struct ktr__trace *trace)
{
	ktr__trace_close(trace);
	stream_close_fd(trace, &trace->parent_fd);
	free(trace->stream);
	trace->stream = NULL;
}

/* Writes an append. 0 or -errno. */
static int stream_write(struct ktr__trace *trace, const struct ktr__file *file, const char *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t part = trace->sys->pwrite(file->fd, bytes + done, n - done, (off_t)(file->bytes + done));

		if (part > 0)
			done += (size_t)part;
		else if (part != -EINTR)
			return part ? (int)part : -EIO;
	}
	return 0;
}

/*
 * A trace that is written faster than it is read would take the memory of the host's own files, and each page of it
 * memory that was not in use: where that must come from a hypervisor, most of the writer's time. So the end of each
 * stream stays in memory, and what lies further back is written and freed, to be used for what comes. In small
 * steps: finding room on the disk for 32 MiB kept the next write waiting for 10 to 20 ms on ext4, for 8 MiB for 5.
 */
static void stream_forget(const struct ktr__trace *trace, const struct ktr__file *file)
{
	uint64_t to = file->bytes - file->bytes % STREAM_FORGET;

	if (to <= STREAM_CACHED)
		return;
	to -= STREAM_CACHED;
	trace->sys->forget(file->fd, to > STREAM_LETS ? to - STREAM_LETS : 0, to);
}

int ktr__trace_append(struct ktr__trace *trace, struct ktr__file *file, const void *bytes, size_t n)
{
	int rc;

	if (file->fd < 0)
		return -EBADF;
	if (file->torn && (rc = stream_cut(trace, file)))
		return rc;
	rc = stream_write(trace, file, bytes, n);
	if (rc) {
		stream_cut(trace, file);
		return rc;
	}
	file->bytes += n;
	trace->bytes += n;
	if (file->bytes % STREAM_FORGET < n)
		stream_forget(trace, file);
	return 0;
}

void ktr__trace_stream_name(const struct ktr__trace *trace, uint32_t row, char *name, size_t size)
{
	static const char suffix[KTR_RING_KINDS][8] = { "", KTR_STREAM_KEEP, KTR_STREAM_KERNEL };

	snprintf(name, size, "%s%u%s",
		 trace->path == KTR_PATH_RSEQ ? KTR_STREAM_CPU : KTR_STREAM_RING,
		 row % trace->n_rings, suffix[row / trace->n_rings % KTR_RING_KINDS]);
}

int ktr__trace_stream(struct ktr__trace *trace, uint32_t row, struct ktr__file **file)
{
	char name[NAME_MAX + 1];
	int rc = 0;

	*file = &trace->stream[row];
	if ((*file)->fd < 0) {
		ktr__trace_stream_name(trace, row, name, sizeof(name));
		rc = stream_open_file(trace, trace->dir_fd, name, *file);
	}
	return rc;
}

void ktr__trace_open_ahead(struct ktr__trace *trace, uint32_t max, uint32_t n_kinds)
{
	struct ktr__file *file;

	for (uint32_t i = 0; i < n_kinds * trace->n_rings; i++)
		if (i % trace->n_rings < max && ktr__trace_stream(trace, i, &file))
			return; /* each is tried again when it is needed */
}

static int stream_gone(struct ktr__trace *trace, const struct ktr__file *file)
{
	struct stat st;

	return file->fd >= 0 && trace->sys->fstat(file->fd, &st) == 0 && st.st_nlink == 0;
}

int ktr__trace_gone(struct ktr__trace *trace)
{
	int gone = stream_gone(trace, &trace->metadata);

	for (int i = 0; !gone && i < KTR_SIDECARS; i++)
		gone = stream_gone(trace, &trace->side[i]);
	/* Empty ones may be removed by who likes to. */
	for (uint32_t i = 0; !gone && i < KTR_RING_KINDS * trace->n_rings; i++)
		gone = trace->stream[i].bytes && stream_gone(trace, &trace->stream[i]);
	return gone;
}

void ktr__trace_where(const struct ktr__trace *trace, char *path, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", trace->dir_fd);
	n = readlink(link, path, size - 1);
	path[n > 0 && path[0] == '/' ? n : 0] = '\0';
}
