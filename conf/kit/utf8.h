/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that a program logged, made fit for a terminal or for JSON.
 */
#ifndef ANALYZE_UTF8_H
#define ANALYZE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Length of the well-formed UTF-8 character that n bytes begin with (Unicode 15, table 3-7); 0
 * when they do not begin with one.
 */
size_t ktr__utf8_char(const char *bytes, size_t n);

/* How many leading bytes are printable ASCII. */
size_t ktr__utf8_plain(const char *bytes, size_t n);

/*
 * Top bits are set where a byte of the word is below 0x20, DEL, or above 0x7f (the lowest such byte's always is;
 * those above it may be wrongly). 0: all eight are printable ASCII.
 */
static inline uint64_t ktr__utf8_unplain(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;

	return ((word - ones * 0x20) | ((word ^ ones * 0x7f) - ones) | word) & ones * 0x80;
}

/* Top bits are set where a byte of the word is this one, and may be above the lowest that is. 0: none is. */
static inline uint64_t ktr__utf8_equal(uint64_t word, char byte)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t differs = word ^ ones * (unsigned char)byte;

	return (differs - ones) & ~differs & ones * 0x80;
}

/* All bytes of a text of fewer than eight, in a word, some of them more than once; of none blanks. */
static inline uint64_t ktr__utf8_few(const char *bytes, size_t n)
{
	uint32_t first, last;

	if (n >= 4) {
		memcpy(&first, bytes, 4);
		memcpy(&last, bytes + n - 4, 4);
		return (uint64_t)last << 32 | first;
	}
	if (n == 0)
		return 0x2020202020202020u;
	return 0x2020202020000000u | (uint64_t)(unsigned char)bytes[0] << 16 |
	       (uint64_t)(unsigned char)bytes[n / 2] << 8 | (unsigned char)bytes[n - 1];
}

/* What odd() says of all bytes, of eight at a time, some of them more than once: 0 if it is 0 of all. */
static inline __attribute__((always_inline)) uint64_t ktr__utf8_any(const char *bytes, size_t n,
								    uint64_t (*odd)(uint64_t word))
{
	uint64_t word, any = 0;

	if (n < 8)
		return odd(ktr__utf8_few(bytes, n));
	for (size_t at = 0; at + 8 < n; at += 8) {
		memcpy(&word, bytes + at, 8);
		any |= odd(word);
	}
	memcpy(&word, bytes + n - 8, 8);
	return any | odd(word);
}

/* Are all bytes printable ASCII? Made for what is short, and nearly always is. */
static inline int ktr__utf8_is_plain(const char *bytes, size_t n)
{
	return !ktr__utf8_any(bytes, n, ktr__utf8_unplain);
}

/*
 * Is this well-formed character a control character (C1 and DEL included), or one that turns the direction of what
 * follows or ends a line elsewhere than here?
 */
int ktr__utf8_is_control(const char *bytes, size_t length);

/*
 * Writes bytes so that they neither move a cursor nor break a line or turn its direction: control
 * characters, C1 and bidirectional ones included, and what is not UTF-8 become \xNN (\n, \t, \r as such),
 * everything else stays. At most 4 * n bytes are written, no NUL. Returns their number.
 */
size_t ktr__utf8_visible(char *to, const char *bytes, size_t n);

/*
 * Would a spreadsheet take a cell for a formula? So it is with what begins with = + - @, a tab or a carriage
 * return (OWASP, "CSV Injection"), unless it is a number, such as -7. A quote in front makes text of it.
 */
int ktr__utf8_is_formula(const char *bytes, size_t n);

/*
 * Writes bytes as well-formed UTF-8: what is not becomes U+FFFD, one for each byte. At most 3 * n
 * bytes are written, no NUL. Returns their number.
 */
size_t ktr__utf8_repair(char *to, const char *bytes, size_t n);

#endif
