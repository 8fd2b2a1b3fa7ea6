/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The methods are those of ClickHouse: enum CompressionMethodByte of its sources.
 *
 * What is short is gathered, and what is long packed where it lies: most columns of a large block are never copied
 * before they are packed.
 */
#include "tools/fleet/frame.h"

#include "tools/fleet/frame_up.h"

#if KTR_HAVE_LZ4
#include <lz4.h>
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_LONG ((size_t)64 << 10) /* [bytes] are packed where they lie: as far back as LZ4 looks */

#if KTR_HAVE_LZ4
#define FRAME_METHOD FRAME_LZ4
#define FRAME_BOUND(n) ((size_t)LZ4_COMPRESSBOUND(n))

/* Returns how many bytes it came to, at most FRAME_BOUND(n). */
static uint32_t frame_pack(uint8_t *to, const uint8_t *bytes, uint32_t n, unsigned what)
{
	if (what == NATIVE_UP)
		return frame_up_pack(to, bytes, n);
	return (uint32_t)LZ4_compress_default((const char *)bytes, (char *)to, (int)n, (int)FRAME_BOUND(n));
}
#else
#define FRAME_METHOD FRAME_PLAIN
#define FRAME_BOUND(n) ((size_t)(n))

static uint32_t frame_pack(uint8_t *to, const uint8_t *bytes, uint32_t n, unsigned what)
{
	(void)what;
	memcpy(to, bytes, n);
	return n;
}
#endif

int frame_write(struct native_buffer *out, const uint8_t *bytes, size_t n, unsigned what)
{
	while (n) {
		uint32_t whole = (uint32_t)(n < FRAME_BYTES ? n : FRAME_BYTES), packed;
		uint8_t *frame = native_buffer_room(out, FRAME_HEAD + FRAME_BOUND(whole));

		if (!frame)
			return -ENOMEM;
		packed = frame_pack(frame + FRAME_HEAD, bytes, whole, what) + FRAME_HEAD - 16;
		memset(frame, 0, 16);
		frame[16] = FRAME_METHOD;
		memcpy(frame + 17, &packed, 4); /* little-endian, as the machines are that this builds for */
		memcpy(frame + 21, &whole, 4);
		out->n += 16 + packed;
		bytes += whole;
		n -= whole;
	}
	return 0;
}

/* A whole piece of bytes that repeat: what it comes to is known from the one before. 1, or 0: it is not. */
static int frame_same(struct frame_writer *w, const uint8_t *bytes, size_t n, unsigned same)
{
	struct frame_known *known = w->known;

	if (!known || n != NATIVE_SAME_BYTES || same > sizeof(known->bytes))
		return 0;
	if (known->same != same || memcmp(known->bytes, bytes, same) != 0) {
		known->frame.n = 0;
		known->same = same;
		memcpy(known->bytes, bytes, same);
		w->failed |= frame_write(&known->frame, bytes, n, 0);
	}
	native_buffer_add(w->out, known->frame.at, known->frame.n);
	return 1;
}

/* What is in no frame yet comes before what follows. */
static void frame_few(struct frame_writer *w)
{
	w->failed |= frame_write(w->out, w->few.at, w->few.n, 0);
	w->few.n = 0;
}

void frame_put(void *writer, const void *bytes, size_t n, unsigned same)
{
	struct frame_writer *w = writer;

	if (same == NATIVE_PACKED || n >= FRAME_LONG || w->few.n + n > FRAME_BYTES)
		frame_few(w);
	if (same == NATIVE_PACKED)
		native_buffer_add(w->out, bytes, n);
	else if (n < FRAME_LONG)
		native_buffer_add(&w->few, bytes, n);
	else if (same == NATIVE_UP || !same || !frame_same(w, bytes, n, same))
		w->failed |= frame_write(w->out, bytes, n, same);
}

int frame_end(struct frame_writer *w)
{
	w->failed |= frame_write(w->out, w->few.at, w->few.n, 0) || w->few.failed || w->out->failed;
	native_buffer_free(&w->few);
	return w->failed ? -ENOMEM : 0;
}
