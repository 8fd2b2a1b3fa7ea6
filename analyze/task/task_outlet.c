/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A descriptor's O_NONBLOCK belongs to all that share its open file, so it is left as it is: sockets have a flag
 * for one call, and pipes and devices are opened once more by their link in /proc. Regular files never wait, and
 * keep their place only where they are not opened anew. A pipe that may not be opened, of another user's, is asked
 * each time whether it has room.
 *
 * A piece of which a part was written goes on before any other: so the stream stays one of whole buffers.
 */
#include "analyze/task/task_outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int ktr__outlet_open(struct ktr__outlet *outlet, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	char path[64];
	struct stat st;

	*outlet = (struct ktr__outlet){ .fd = fd, .out = -1 };
	if (flags < 0 || fstat(fd, &st))
		return -errno;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	outlet->is_socket = S_ISSOCK(st.st_mode);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		outlet->out = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (outlet->out < 0) {
		outlet->out = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		outlet->waits = !(flags & O_NONBLOCK) && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
	}
	if (outlet->out < 0)
		return -errno;
	pthread_mutex_init(&outlet->lock, NULL);
	return 0;
}

static void outlet_drop(struct ktr__outlet *outlet)
{
	while (outlet->first) {
		struct ktr__outlet_piece *piece = outlet->first;

		outlet->first = piece->next;
		outlet->n_unsent += piece->n_samples;
		free(piece);
	}
	outlet->n_pieces = 0;
}

void ktr__outlet_close(struct ktr__outlet *outlet)
{
	if (outlet->out < 0)
		return;
	pthread_mutex_lock(&outlet->lock);
	outlet_drop(outlet);
	close(outlet->out);
	outlet->out = -1;
	pthread_mutex_unlock(&outlet->lock);
	pthread_mutex_destroy(&outlet->lock);
}

int ktr__outlet_put(struct ktr__outlet *outlet, struct ktr__outlet_piece *piece, int is_last)
{
	struct ktr__outlet_piece **at = &outlet->first;
	int rc;

	pthread_mutex_lock(&outlet->lock);
	rc = outlet->code ? outlet->code : outlet->n_pieces >= KTR__OUTLET_PIECES && !is_last ? -EAGAIN : 0;
	if (!rc) {
		while (*at)
			at = &(*at)->next;
		piece->next = NULL;
		*at = piece;
		outlet->n_pieces++;
	}
	pthread_mutex_unlock(&outlet->lock);
	return rc;
}

static ssize_t outlet_write(const struct ktr__outlet *outlet, const struct ktr__outlet_piece *piece)
{
	struct pollfd poll_out = { .fd = outlet->out, .events = POLLOUT };
	const unsigned char *from = piece->bytes + piece->at;
	size_t n = piece->n_bytes - piece->at;

	/* A pipe that says it can be written to has room for so much. */
	if (outlet->waits) {
		n = n < PIPE_BUF ? n : PIPE_BUF;
		if (poll(&poll_out, 1, 0) != 1) {
			errno = EAGAIN;
			return -1;
		}
	}
	return outlet->is_socket ? send(outlet->out, from, n, MSG_DONTWAIT | MSG_NOSIGNAL) :
				   write(outlet->out, from, n);
}

static int outlet_flush_locked(struct ktr__outlet *outlet)
{
	while (!outlet->code && outlet->first) {
		struct ktr__outlet_piece *piece = outlet->first;
		ssize_t n = outlet_write(outlet, piece);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 1;
		if (n < 0) {
			outlet->code = -errno;
			outlet_drop(outlet);
			break;
		}
		piece->at += (uint32_t)n;
		if (piece->at < piece->n_bytes)
			continue;
		outlet->first = piece->next;
		outlet->n_pieces--;
		free(piece);
	}
	return outlet->code;
}

int ktr__outlet_flush(struct ktr__outlet *outlet)
{
	int rc;

	pthread_mutex_lock(&outlet->lock);
	rc = outlet_flush_locked(outlet);
	pthread_mutex_unlock(&outlet->lock);
	return rc;
}
