/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Appends under a lock of the file, which all of us take: when the disk is full in the middle of a record, what
 * there is of it is cut off again, and nobody has appended behind it meanwhile.
 */
#include "writer/ktrace/out.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many of the first n bytes of the buffer are whole records. */
static size_t out_whole(const struct ktr__ktrace_out *out, size_t n)
{
	struct ktr__ktrace_header header;
	size_t at = 0;

	while (n - at >= sizeof(header)) {
		memcpy(&header, out->buffer + at, sizeof(header));
		if (n - at - sizeof(header) < (size_t)header.len)
			break;
		at += sizeof(header) + (size_t)header.len;
	}
	return at;
}

static int out_write(struct ktr__ktrace_out *out)
{
	struct stat before;
	size_t done = 0;
	ssize_t n;
	int rc = 0;

	if (fstat(out->fd, &before) < 0)
		return -errno;
	while (done < out->n && !rc) {
		n = write(out->fd, out->buffer + done, out->n - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			rc = -errno;
	}
	if (rc && out_whole(out, done) != done &&
	    ftruncate(out->fd, before.st_size + (off_t)out_whole(out, done)) < 0)
		return -errno;
	return rc;
}

int ktr__ktrace_flush(struct ktr__ktrace_out *out)
{
	int rc, locked;

	if (!out->n)
		return 0;
	do
		locked = flock(out->fd, LOCK_EX);
	while (locked < 0 && errno == EINTR);
	rc = out_write(out);
	if (locked == 0)
		flock(out->fd, LOCK_UN);
	out->n = 0;
	return rc;
}

int ktr__ktrace_out(struct ktr__ktrace_out *out, struct ktr__ktrace_header *header,
		    const struct ktr__ktrace_part part[2])
{
	size_t len = part[0].n + part[1].n;

	if (len > KTR__KTRACE_OUT_BYTES - KTR__KTRACE_OUT_FULL - sizeof(*header))
		return -EFBIG;
	header->len = (int32_t)len;
	memcpy(out->buffer + out->n, header, sizeof(*header));
	out->n += sizeof(*header);
	for (int i = 0; i < 2; i++)
		if (part[i].n) {
			memcpy(out->buffer + out->n, part[i].bytes, part[i].n);
			out->n += part[i].n;
		}
	return out->n >= KTR__KTRACE_OUT_FULL ? ktr__ktrace_flush(out) : 0;
}
