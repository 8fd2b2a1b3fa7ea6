/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session's file, opened once more: by those who want a lock of their own, which belongs to an open file; and the
 * file beside it, whose lock says that somebody looks after the session. Of the recording side and of the writer.
 */
#include "ktr/session/session_again.h"

#include "ktr/session/ring_area.h"
#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ktr__session_is(const struct ktr__session_rw *session, int code, const struct stat *st)
{
	return code == 0 && st->st_ino == session->ino && st->st_dev == session->dev;
}

bool ktr__session_fd_ours(const struct ktr__session_rw *session)
{
	struct stat st;

	return session->fd >= 0 && ktr__session_is(session, fstat(session->fd, &st), &st);
}

int ktr__session_open_again(const struct ktr__session_rw *session)
{
	struct stat st;
	char path[40];
	int fd = -1;

	if (ktr__session_fd_ours(session)) {
		snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", session->fd);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (fd < 0)
		fd = open(session->path, O_RDWR | O_CLOEXEC | ktr__map_nofollow(session->path));
	if (fd >= 0 && !ktr__session_is(session, fstat(fd, &st), &st)) {
		close(fd);
		fd = -1;
		errno = EAGAIN; /* replaced meanwhile */
	}
	return fd;
}

int ktr__session_lock(const struct ktr__session_rw *session, uint64_t at)
{
	int fd = ktr__session_open_again(session), code;

	if (fd < 0)
		return -errno;
	code = ktr__byte_lock(fd, at, F_WRLCK);
	if (!code)
		return fd;
	close(fd);
	return code;
}

/* A lock of an open file (Linux 3.15) is looked at without taking it, so that any number may look at once. */
bool ktr__session_attended(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	size_t n = strlen(path), suffix = sizeof(KTR_SESSION_SUFFIX) - 1;
	char run[520];
	int fd;

	if (n < suffix || n - suffix + sizeof(KTR_SESSION_RUN_SUFFIX) > sizeof(run))
		return false;
	strcpy(mempcpy(run, path, n - suffix), KTR_SESSION_RUN_SUFFIX);
	fd = open(run, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (fcntl(fd, F_OFD_GETLK, &lock))
		lock.l_type = F_UNLCK;
	close(fd);
	return lock.l_type != F_UNLCK;
}
