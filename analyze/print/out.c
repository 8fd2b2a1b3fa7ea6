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

int ktr__out_flush(struct ktr__out *out)
{
	size_t at = 0;

	while (at < out->n && !out->error) {
		ssize_t n = write(out->fd, out->buffer + at, out->n - at);

		if (n >= 0)
			at += (size_t)n;
		else if (errno != EINTR)
			out->error = errno;
	}
	out->n = 0;
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
