/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compressor of LZ4 blocks: greedy, one candidate for each hash of four bytes; where it finds nothing it goes on
 * in longer and longer steps. The format: a token of two lengths (literals, match - 4), each going on in bytes of
 * 255 from 15 on; the literals; the distance back, two bytes. The last five bytes of a block are literals, and no
 * match begins in its last twelve.
 */
#include "tools/fleet/lz4_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LZ4_HASH_LOG2 14
#define LZ4_LAST      5	 /* [bytes] literals at the end */
#define LZ4_MARGIN    12 /* [bytes] before the end, where no match begins any more */
#define LZ4_METHOD    0x82
#define LZ4_HEAD      25 /* [bytes] 16 of the checksum, the method,
	two lengths; the first counts the 9 from the method on */

static inline uint32_t lz4_load(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static inline uint32_t lz4_hash(uint32_t word)
{
	return word * 2654435761u >> (32 - LZ4_HASH_LOG2);
}

static uint8_t *lz4_length(uint8_t *to, size_t n)
{
	for (; n >= 255; n -= 255)
		*to++ = 255;
	*to++ = (uint8_t)n;
	return to;
}

/* A sequence; match 0: literals alone, which end the block. */
static uint8_t *lz4_sequence(uint8_t *to, const uint8_t *literals, size_t n, size_t match, size_t back)
{
	uint8_t *token = to++;
	size_t more = match ? match - 4 : 0;

	*token = (uint8_t)((n < 15 ? n : 15) << 4 | (more < 15 ? more : 15));
	if (n >= 15)
		to = lz4_length(to, n - 15);
	if (n)
		memcpy(to, literals, n);
	to += n;
	if (!match)
		return to;
	*to++ = (uint8_t)back;
	*to++ = (uint8_t)(back >> 8);
	return more >= 15 ? lz4_length(to, more - 15) : to;
}

static size_t lz4_match(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	const uint8_t *begin = a;

	for (; a + 8 <= end; a += 8, b += 8) {
		uint64_t x, y;

		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		if (x != y)
			return (size_t)(a - begin) + ((size_t)__builtin_ctzll(x ^ y) >> 3); /* little-endian */
	}
	while (a < end && *a == *b)
		a++, b++;
	return (size_t)(a - begin);
}

size_t lz4_frame_block(uint8_t *to, const uint8_t *bytes, size_t n)
{
	const uint8_t *at = bytes, *literals = bytes, *end = bytes + n;
	uint32_t table[1 << LZ4_HASH_LOG2]; /* where a hash was seen last, + 1 */
	uint8_t *begin = to;
	unsigned misses = 0;

	memset(table, 0, sizeof(table));
	while (n > LZ4_MARGIN && at < end - LZ4_MARGIN) {
		uint32_t word = lz4_load(at), *slot = &table[lz4_hash(word)];
		const uint8_t *from = *slot ? bytes + *slot - 1 : NULL;
		size_t match;

		*slot = (uint32_t)(at - bytes) + 1;
		if (!from || at - from > 65535 || lz4_load(from) != word) {
			at += 1 + (misses++ >> 6);
			continue;
		}
		misses = 0;
		match = 4 + lz4_match(at + 4, from + 4, end - LZ4_LAST);
		to = lz4_sequence(to, literals, (size_t)(at - literals), match, (size_t)(at - from));
		at += match;
		literals = at;
	}
	return (size_t)(lz4_sequence(to, literals, (size_t)(end - literals), 0, 0) - begin);
}

int lz4_frame_write(struct native_buffer *out, const uint8_t *bytes, size_t n)
{
	uint8_t *frame = malloc(LZ4_HEAD + LZ4_FRAME_BOUND(LZ4_FRAME_BYTES));

	if (!frame)
		return -ENOMEM;
	while (n) {
		uint32_t whole = (uint32_t)(n < LZ4_FRAME_BYTES ? n : LZ4_FRAME_BYTES);
		uint32_t packed = (uint32_t)lz4_frame_block(frame + LZ4_HEAD, bytes, whole) + 9;

		memset(frame, 0, 16);
		frame[16] = LZ4_METHOD;
		memcpy(frame + 17, &packed, 4);
		memcpy(frame + 21, &whole, 4);
		native_buffer_add(out, frame, 16 + packed);
		bytes += whole;
		n -= whole;
	}
	free(frame);
	return out->failed ? -ENOMEM : 0;
}
