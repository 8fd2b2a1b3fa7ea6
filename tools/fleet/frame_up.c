/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compressor that looks for what repeats finds the upper bytes of such a number 8 bytes further back, again and
 * again. Here that is known: the lower bytes that differ are literals, and what is above them a match, as many
 * bytes in all (make bench-ship).
 *
 * Of the format (lz4_Block_format.md): a sequence is a token, literals, and a match of at least 4 bytes; a match
 * begins at least 12 bytes before the end, and the last 5 bytes are literals. So the last number is.
 */
#include "tools/fleet/frame_up.h"

#include <stddef.h>
#include <string.h>

#define FRAME_UP_MATCH	4u  /* [bytes] the shortest */
#define FRAME_UP_TOKEN	15u /* of a length, more follows */

/* What of a length does not go into a token. */
static uint8_t *frame_up_length(uint8_t *to, size_t n)
{
	for (; n >= 255; n -= 255)
		*to++ = 255;
	*to++ = (uint8_t)n;
	return to;
}

/* A sequence of any length; without a match: the last one. */
static uint8_t *frame_up_sequence(uint8_t *to, const uint8_t *literals, size_t n, size_t match)
{
	uint8_t *token = to++;
	size_t more = match ? match - FRAME_UP_MATCH : 0;

	*token = (uint8_t)((n < FRAME_UP_TOKEN ? n : FRAME_UP_TOKEN) << 4 |
			   (more < FRAME_UP_TOKEN ? more : FRAME_UP_TOKEN));
	if (n >= FRAME_UP_TOKEN)
		to = frame_up_length(to, n - FRAME_UP_TOKEN);
	memcpy(to, literals, n);
	to += n;
	if (!match)
		return to;
	*to++ = 8;
	*to++ = 0;
	return more >= FRAME_UP_TOKEN ? frame_up_length(to, more - FRAME_UP_TOKEN) : to;
}

static inline uint64_t frame_up_load(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* How many bytes differ, up to the highest that does, where that are four at most. */
static inline unsigned frame_up_few(uint64_t bits)
{
	return 1u + (bits > 0xff) + (bits > 0xffff) + (bits > 0xffffff);
}

/* Numbers from `at` on, as long as one to four lower bytes differ: where they end. No literals are left before. */
static const uint8_t *frame_up_run(uint8_t **out, const uint8_t *at, const uint8_t *last)
{
	uint64_t before = frame_up_load(at - 8), value;
	uint8_t *to = *out;

	for (; at <= last; at += 8, before = value) {
		unsigned n;

		value = frame_up_load(at);
		if ((value ^ before) - 1 >= 0xffffffffu)
			break;
		n = frame_up_few(value ^ before);
		/* What is too much is written over, and lies within what the number could have come to. */
		to[0] = (uint8_t)(n << 4 | (8 - n - FRAME_UP_MATCH));
		memcpy(to + 1, &value, sizeof(value));
		memcpy(to + 1 + n, (const uint8_t[]){ 8, 0 }, 2);
		to += 3 + n;
	}
	*out = to;
	return at;
}

uint32_t frame_up_pack(uint8_t *to, const uint8_t *bytes, uint32_t n)
{
	const uint8_t *const begin = to, *const end = bytes + n, *const last = end - 16;
	const uint8_t *literals = bytes, *at = bytes + 8;

	while (n >= 24 && at <= last) {
		uint64_t value = frame_up_load(at), bits = value ^ frame_up_load(at - 8);
		unsigned differ = bits ? frame_up_few(bits) : 0;
		size_t match = 8 - differ, n_literals = (size_t)(at - literals) + differ;

		at += 8;
		if (bits > 0xffffffff)
			continue;
		for (; at <= last && frame_up_load(at) == value; at += 8)
			match += 8;
		to = frame_up_sequence(to, literals, n_literals, match);
		at = frame_up_run(&to, at, last);
		literals = at;
	}
	to = frame_up_sequence(to, literals, (size_t)(end - literals), 0);
	return (uint32_t)(to - begin);
}
