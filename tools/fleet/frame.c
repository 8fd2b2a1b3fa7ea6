/* SPDX-License-Identifier: BSD-2-Clause */
/* The methods are those of ClickHouse: enum CompressionMethodByte of its sources. */
#include "tools/fleet/frame.h"

#if KTR_HAVE_LZ4
#include <lz4.h>
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if KTR_HAVE_LZ4
#define FRAME_METHOD FRAME_LZ4
#define FRAME_BOUND  ((size_t)LZ4_COMPRESSBOUND(FRAME_BYTES))

/* Returns how many bytes it came to, at most FRAME_BOUND. */
static uint32_t frame_pack(uint8_t *to, const uint8_t *bytes, size_t n)
{
	return (uint32_t)LZ4_compress_default((const char *)bytes, (char *)to, (int)n, (int)FRAME_BOUND);
}
#else
#define FRAME_METHOD FRAME_PLAIN
#define FRAME_BOUND  FRAME_BYTES

static uint32_t frame_pack(uint8_t *to, const uint8_t *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return (uint32_t)n;
}
#endif

int frame_write(struct native_buffer *out, const uint8_t *bytes, size_t n)
{
	uint8_t *frame = calloc(1, FRAME_HEAD + FRAME_BOUND);

	if (!frame)
		return -ENOMEM;
	while (n) {
		uint32_t whole = (uint32_t)(n < FRAME_BYTES ? n : FRAME_BYTES);
		uint32_t packed = frame_pack(frame + FRAME_HEAD, bytes, whole) + FRAME_HEAD - 16;

		frame[16] = FRAME_METHOD;
		memcpy(frame + 17, &packed, 4); /* little-endian, as the machines are that this builds for */
		memcpy(frame + 21, &whole, 4);
		native_buffer_add(out, frame, 16 + packed);
		bytes += whole;
		n -= whole;
	}
	free(frame);
	return out->failed ? -ENOMEM : 0;
}
