/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a repair changes files: by cutting them, or by writing another one and renaming it. What is cut
 * is on the disk elsewhere before. A file half written has the name FILE_NEW, and the next repair
 * removes it.
 */
#include "analyze/rewrite/fsck_file.h"

#include "analyze/print/unfinished.h"
#include "analyze/read/lines.h"
#include "analyze/rewrite/fsck.h"
#include "ktr/session/session_map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LOST "lost+found"
#define FILE_NEW  "being-written"

/* Has ktr/lost+found open. 0 or -errno. */
static int fsck_file_lost(struct ktr__fsck *fsck)
{
	if (fsck->lost_fd >= 0)
		return 0;
	if (mkdirat(fsck->side_fd, FILE_LOST, 0700) && errno != EEXIST)
		return -errno;
	fsck->lost_fd = openat(fsck->side_fd, FILE_LOST,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fsck->lost_fd < 0 ? -errno : 0;
}

static int fsck_file_write(int fd, const char *bytes, uint64_t n_bytes)
{
	while (n_bytes) {
		ssize_t n = write(fd, bytes, n_bytes < SSIZE_MAX ? n_bytes : SSIZE_MAX);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		n_bytes -= (uint64_t)n;
	}
	return 0;
}

void ktr__mend_begin(struct ktr__mend *mend, struct ktr__fsck *fsck, int rc)
{
	*mend = (struct ktr__mend){ fsck, -1, rc, -1 };
	if (fsck->only_look || rc)
		return;
	mend->rc = fsck_file_lost(fsck);
	if (mend->rc)
		return;
	mend->fd = openat(fsck->lost_fd, FILE_NEW,
			  O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (mend->fd < 0)
		mend->rc = -errno;
	else
		mend->unfinished = ktr__unfinished_file(fsck->lost_fd, FILE_NEW);
}

void ktr__mend_put(struct ktr__mend *mend, const void *bytes, uint64_t n_bytes)
{
	if (mend->fd >= 0 && !mend->rc)
		mend->rc = fsck_file_write(mend->fd, bytes, n_bytes);
}

int ktr__mend_commit(struct ktr__mend *mend, int dir_fd, const char *name)
{
	struct ktr__fsck *fsck = mend->fsck;

	if (mend->fd < 0)
		return mend->rc;
	if (!mend->rc && fsync(mend->fd))
		mend->rc = -errno;
	close(mend->fd);
	if (!mend->rc && renameat(fsck->lost_fd, FILE_NEW, dir_fd, name))
		mend->rc = -errno;
	if (mend->rc)
		unlinkat(fsck->lost_fd, FILE_NEW, 0);
	else
		fsync(dir_fd);
	ktr__unfinished_done(mend->unfinished);
	return mend->rc;
}

/* A name in lost+found that is free: NAME.NUMBER, or with more after it. Its descriptor, or -errno. */
static int fsck_file_free(struct ktr__fsck *fsck, const char *name, uint64_t number)
{
	char kept[NAME_MAX + 1];
	int fd = -1;

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(kept, sizeof(kept), i ? "%.128s.%llu.%u" : "%.128s.%llu", name,
			 (unsigned long long)number, i);
		fd = openat(fsck->lost_fd, kept,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/* Appends [from, to) of a file to another one. 0 or -errno. */
static int fsck_file_copy(int fd, uint64_t from, uint64_t to, int out)
{
	char buffer[65536];
	int rc = 0;

	while (!rc && from < to) {
		size_t n = to - from < sizeof(buffer) ? (size_t)(to - from) : sizeof(buffer);

		rc = ktr__read_at(fd, from, buffer, n);
		if (!rc)
			rc = fsck_file_write(out, buffer, n);
		from += n;
	}
	return rc;
}

int ktr__mend_keep(struct ktr__fsck *fsck, int fd, const char *name, uint64_t from, uint64_t to)
{
	int rc, out;

	if (fsck->only_look || fsck->keep_nothing || from >= to)
		return 0;
	rc = fsck_file_lost(fsck);
	out = rc ? rc : fsck_file_free(fsck, name, from);
	if (out < 0)
		return out;
	rc = fsck_file_copy(fd, from, to, out);
	if (!rc && fsync(out))
		rc = -errno;
	close(out);
	return rc;
}

int ktr__mend_keep_all(struct ktr__fsck *fsck, int dir_fd, const char *name)
{
	int fd = ktr__lines_open(dir_fd, name), rc;

	if (fd < 0)
		return fd;
	rc = ktr__mend_keep(fsck, fd, name, 0, (uint64_t)lseek(fd, 0, SEEK_END));
	close(fd);
	return rc;
}

/* The first n_bytes as a file of its own, so that other names of this one keep all of it. */
static int fsck_file_part(struct ktr__fsck *fsck, int fd, int dir_fd, const char *name, uint64_t n_bytes)
{
	struct ktr__mend mend;

	ktr__mend_begin(&mend, fsck, 0);
	if (!mend.rc)
		mend.rc = fsck_file_copy(fd, 0, n_bytes, mend.fd);
	return ktr__mend_commit(&mend, dir_fd, name);
}

int ktr__mend_cut(struct ktr__fsck *fsck, int dir_fd, const char *name, uint64_t n_bytes)
{
	struct stat st;
	int fd, rc;

	if (fsck->only_look)
		return 0;
	fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno
			    : ktr__mend_keep(fsck, fd, name, n_bytes, (uint64_t)st.st_size);
	if (!rc && st.st_nlink > 1)
		rc = fsck_file_part(fsck, fd, dir_fd, name, n_bytes);
	else if (!rc && (ftruncate(fd, (off_t)n_bytes) || fsync(fd)))
		rc = -errno;
	close(fd);
	return rc;
}

int ktr__mend_aside(struct ktr__fsck *fsck, int dir_fd, const char *name)
{
	int rc;

	if (fsck->only_look)
		return 0;
	if (fsck->keep_nothing)
		return unlinkat(dir_fd, name, 0) ? -errno : 0;
	rc = fsck_file_lost(fsck);
	return rc ? rc : renameat(dir_fd, name, fsck->lost_fd, name) ? -errno : 0;
}

int ktr__mend_move(struct ktr__fsck *fsck, int dir_fd, const char *name)
{
	int rc = fsck->only_look || fsck->keep_nothing ? 0 : ktr__mend_keep_all(fsck, dir_fd, name);

	if (!rc && !fsck->only_look && unlinkat(dir_fd, name, 0))
		rc = -errno;
	return rc;
}
