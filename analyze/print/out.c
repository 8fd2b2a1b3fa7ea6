/* SPDX-License-Identifier: BSD-2-Clause */
/* A buffer before write(2). */
#include "analyze/print/out.h"

#include "conf/kit/decimal.h"
#include "conf/kit/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define OUT_BYTES (4 * KTR__OUT_LINE)

int ktr__out_open(struct ktr__out *out, int fd)
{
	*out = (struct ktr__out){ .fd = fd, .room = OUT_BYTES, .buffer = malloc(OUT_BYTES) };
	return out->buffer ? 0 : -ENOMEM;
}

static int out_grow(struct ktr__out *out)
{
	char *buffer = realloc(out->buffer, 2 * out->room);

	if (!buffer)
		out->error = ENOMEM;
	if (out->error)
		return -out->error;
	out->buffer = buffer;
	out->room *= 2;
	return 0;
}

static void out_write(struct ktr__out *out, const char *bytes, size_t left)
{
	while (left && !out->error) {
		ssize_t n = write(out->fd, bytes, left);

		if (n < 0 && errno != EINTR)
			out->error = errno;
		bytes += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
}

int ktr__out_flush(struct ktr__out *out)
{
	if (out->grows)
		return out_grow(out);
	out_write(out, out->buffer, out->n);
	out->n = 0;
	return -out->error;
}

int ktr__out_write(struct ktr__out *out, const char *bytes, size_t n)
{
	int rc = ktr__out_flush(out);

	if (!rc)
		out_write(out, bytes, n);
	return -out->error;
}

int ktr__out_close(struct ktr__out *out)
{
	int rc = out->buffer ? ktr__out_flush(out) : 0;

	free(out->buffer);
	out->buffer = NULL;
	out->room = 0;
	return rc;
}

void ktr__out_fill(struct ktr__out *out, char byte, size_t n)
{
	if (n > out->room - out->n)
		n = out->room - out->n;
	memset(out->buffer + out->n, byte, n);
	out->n += n;
}

void ktr__out_number(struct ktr__out *out, uint64_t number, unsigned width, char before)
{
	char digits[KTR__DECIMAL_MAX], *end = digits + sizeof(digits), *first = ktr__decimal(end, number);

	if ((size_t)(end - first) < width)
		ktr__out_fill(out, before, width - (size_t)(end - first));
	ktr__out_bytes(out, first, (size_t)(end - first));
}

void ktr__out_visible(struct ktr__out *out, const char *bytes, size_t n, unsigned width)
{
	size_t plain = ktr__utf8_plain(bytes, n), before = out->n;

	ktr__out_bytes(out, bytes, plain);
	if (plain < n && 4 * (n - plain) <= out->room - out->n)
		out->n += ktr__utf8_visible(out->buffer + out->n, bytes + plain, n - plain);
	if (out->n - before < width)
		ktr__out_fill(out, ' ', width - (out->n - before));
}
