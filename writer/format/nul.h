/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a string of a packet ends. */
#ifndef WRITER_NUL_H
#define WRITER_NUL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Where the first NUL of 16 bytes is; 16: there is none. */
#ifdef __SSE2__
static inline unsigned ktr__nul16(const uint8_t *at)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);

	return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) |
				       1u << 16);
}
#else
/* The lowest bit that is set is in the first byte that is zero; 0: none is. */
static inline uint64_t ktr__nul_zeros(const uint8_t *at)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return (word - ones) & ~word & (ones << 7);
}

/* In which of the two words it is cannot be foretold: that is no branch. */
static inline unsigned ktr__nul16(const uint8_t *at)
{
	uint64_t low = ktr__nul_zeros(at), high = ktr__nul_zeros(at + 8);
	uint64_t found = low ? low : high;

	return found ? (low ? 0 : 8) + ((unsigned)__builtin_ctzll(found) >> 3) : 16;
}
#endif

/* Where the string at `at` ends; NULL where it has no NUL. Most end within 16 bytes, paths within some of those. */
static inline const uint8_t *ktr__nul(const uint8_t *at, const uint8_t *end)
{
	for (unsigned i = 0; i < 6 && __builtin_expect(end - at >= 16, 1); i++) {
		unsigned n = ktr__nul16(at);

		at += n;
		if (__builtin_expect(n < 16, 1))
			return at;
	}
	return memchr(at, 0, (size_t)(end - at));
}

#endif
