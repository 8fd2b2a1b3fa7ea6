/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session's file, opened once more: by those who want a lock of their own, which belongs to an open file. Of the
 * recording side, and of the writer, too.
 */
#include "ktr/session/session_again.h"

#include "ktr/session/session_map.h"
#include "ktr/session/session_rw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
		snprintf(path, sizeof(path), "/proc/self/fd/%d", session->fd);
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
