/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compresses and encodes as it goes, so that memory does not grow with what is put in.
 */
#include "visualize/page/blob.h"

#include <errno.h>
#include <string.h>

/*
 * [zlib's level] A page of the demo's trace comes to 8.1 bytes per event with 2, 7.7 with 4, 7.6 with 6,
 * which takes 0.75, 0.91 and 1.31 s for 1.5 million events (ktr timeline demo-out/trace -o x.html).
 */
#define BLOB_LEVEL 4

/* All but the last piece of a blob must be a multiple of three bytes long. */
static void blob_encode(struct ktr__blob *blob, size_t n)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[KTR__BLOB_BYTES / 3 * 4], *to = text;
	const uint8_t *at = blob->bytes;

	for (; n >= 3; at += 3, n -= 3) {
		uint32_t word = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];

		*to++ = digit[word >> 18];
		*to++ = digit[word >> 12 & 63];
		*to++ = digit[word >> 6 & 63];
		*to++ = digit[word & 63];
	}
	if (n > 0) {
		uint32_t word = (uint32_t)at[0] << 16 | (n == 2 ? (uint32_t)at[1] << 8 : 0);

		*to++ = digit[word >> 18];
		*to++ = digit[word >> 12 & 63];
		*to++ = n == 2 ? digit[word >> 6 & 63] : '=';
		*to++ = '=';
	}
	fwrite(text, 1, (size_t)(to - text), blob->to);
}

int ktr__blob_begin(struct ktr__blob *blob, FILE *to, const char *id)
{
	blob->to = to;
	memset(&blob->z, 0, sizeof(blob->z));
	if (deflateInit(&blob->z, BLOB_LEVEL) != Z_OK)
		return -ENOMEM;
	blob->z.next_out = blob->bytes;
	blob->z.avail_out = sizeof(blob->bytes);
	fprintf(to, "<script type=\"application/x-ktr\" id=\"%s\">", id);
	return 0;
}

static void blob_run(struct ktr__blob *blob, const void *bytes, size_t n, int flush)
{
	int rc;

	/* zlib does not write to its input; its type for it says otherwise. */
	blob->z.next_in = (z_const Bytef *)(uintptr_t)bytes;
	blob->z.avail_in = (uInt)n;
	do {
		if (blob->z.avail_out == 0) {
			blob_encode(blob, sizeof(blob->bytes));
			blob->z.next_out = blob->bytes;
			blob->z.avail_out = sizeof(blob->bytes);
		}
		rc = deflate(&blob->z, flush);
	} while (blob->z.avail_in > 0 || (flush == Z_FINISH && rc == Z_OK));
}

void ktr__blob_add(struct ktr__blob *blob, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		size_t some = n < 1u << 30 ? n : 1u << 30;

		blob_run(blob, at, some, Z_NO_FLUSH);
		at += some;
		n -= some;
	}
}

void ktr__blob_end(struct ktr__blob *blob)
{
	blob_run(blob, "", 0, Z_FINISH);
	blob_encode(blob, sizeof(blob->bytes) - blob->z.avail_out);
	deflateEnd(&blob->z);
	fputs("</script>\n", blob->to);
}
