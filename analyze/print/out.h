/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text on its way to a file descriptor, through one buffer. Errors stick: what comes after one is
 * dropped, and ktr__out_flush() tells. Not for several threads.
 */
#ifndef ANALYZE_OUT_H
#define ANALYZE_OUT_H

#include "conf/kit/copy.h"
#include "conf/kit/decimal.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* [bytes] A line may be this long; the buffer is several times longer. */
#define KTR__OUT_LINE ((size_t)128 * 1024)

struct ktr__out {
	int fd;
	int error; /* errno of the first write that failed, or 0 */
	size_t n;
	size_t room;
	char *buffer; /* owned */
	int grows;    /* nothing is written: where there is no room, there is more made */
};

/* 0 or -ENOMEM. */
int ktr__out_open(struct ktr__out *out, int fd);

/* Writes what is in the buffer; of one that grows, makes room for another line. 0 or -errno, now or earlier. */
int ktr__out_flush(struct ktr__out *out);

/* Writes bytes after what is in the buffer, past it. 0 or -errno. */
int ktr__out_write(struct ktr__out *out, const char *bytes, size_t n);

/* Flushes and frees the buffer; leaves the descriptor open. 0 or -errno. */
int ktr__out_close(struct ktr__out *out);

/* Has room for KTR__OUT_LINE bytes after out->n; to be called once a line. 0 or -errno. */
static inline int ktr__out_line(struct ktr__out *out)
{
	return out->room - out->n >= KTR__OUT_LINE ? 0 : ktr__out_flush(out);
}

/* The calls below take their room from the line's; longer bytes are cut. */
static inline void ktr__out_bytes(struct ktr__out *out, const char *bytes, size_t n)
{
	if (n > out->room - out->n)
		n = out->room - out->n;
	ktr__copy(out->buffer + out->n, bytes, n);
	out->n += n;
}

static inline void ktr__out_text(struct ktr__out *out, const char *text)
{
	ktr__out_bytes(out, text, strlen(text));
}

static inline void ktr__out_char(struct ktr__out *out, char byte)
{
	if (out->n < out->room)
		out->buffer[out->n++] = byte;
}

/* A number, as it is. */
static inline void ktr__out_decimal(struct ktr__out *out, uint64_t number)
{
	char digits[KTR__DECIMAL_MAX];

	if (out->room - out->n >= sizeof(digits))
		out->n = (size_t)(ktr__decimal_put(out->buffer + out->n, number) - out->buffer);
	else
		ktr__out_bytes(out, digits, (size_t)(ktr__decimal_put(digits, number) - digits));
}

void ktr__out_fill(struct ktr__out *out, char byte, size_t n);

/* A number, right-aligned in width with blanks or zeros before it. */
void ktr__out_number(struct ktr__out *out, uint64_t number, unsigned width, char before);

/* Bytes as of ktr__utf8_visible(), left-aligned in width. */
void ktr__out_visible(struct ktr__out *out, const char *bytes, size_t n, unsigned width);

#endif
