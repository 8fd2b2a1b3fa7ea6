/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks at UTF-8 a character at a time, and at ASCII eight bytes at a time: nearly all text is
 * that.
 */
#include "conf/kit/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t ktr__utf8_char(const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	unsigned low = 0x80, high = 0xbf;
	size_t length;

	if (!n || p[0] < 0x80)
		return n != 0;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n < length)
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0; /* shorter forms exist */
	else if (p[0] == 0xed)
		high = 0x9f; /* surrogates */
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f; /* beyond U+10FFFF */
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return length;
}

size_t ktr__utf8_plain(const char *bytes, size_t n)
{
	size_t at = 0;
	uint64_t word;

	for (; at + 8 <= n; at += 8) {
		memcpy(&word, bytes + at, 8);
		if (ktr__utf8_unplain(word))
			break;
	}
	/* What is left of a longer text is looked at with some of what was before it. */
	if (at + 8 > n && at != n && n >= 8) {
		memcpy(&word, bytes + n - 8, 8);
		if (!ktr__utf8_unplain(word))
			return n;
	} else if (n < 8 && !ktr__utf8_unplain(ktr__utf8_few(bytes, n))) {
		return n;
	}
	while (at < n && bytes[at] >= 0x20 && bytes[at] < 0x7f)
		at++;
	return at;
}

/* U+061C, U+200E and F, U+202A to E, U+2066 to 9 turn the direction; U+2028 and U+2029 end lines. */
int ktr__utf8_is_control(const char *bytes, size_t length)
{
	const unsigned char *p = (const unsigned char *)bytes;

	if (length == 1)
		return p[0] < 0x20 || p[0] == 0x7f;
	if (length == 2)
		return (p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xd8 && p[1] == 0x9c);
	if (length != 3 || p[0] != 0xe2)
		return 0;
	return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
	       (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

static size_t utf8_escape(char *to, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";
	char letter = byte == '\n' ? 'n' : byte == '\t' ? 't' : byte == '\r' ? 'r' : 0;

	to[0] = '\\';
	if (letter) {
		to[1] = letter;
		return 2;
	}
	to[1] = 'x';
	to[2] = digits[byte >> 4];
	to[3] = digits[byte & 15];
	return 4;
}

size_t ktr__utf8_visible(char *to, const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;
	char *at = to;

	for (size_t i = 0; i < n;) {
		size_t length = ktr__utf8_char(bytes + i, n - i);

		if (length && !ktr__utf8_is_control(bytes + i, length)) {
			memcpy(at, bytes + i, length);
			at += length;
			i += length;
			continue;
		}
		for (length = length ? length : 1; length; length--)
			at += utf8_escape(at, p[i++]);
	}
	return (size_t)(at - to);
}

int ktr__utf8_is_formula(const char *bytes, size_t n)
{
	char number[64], *end;

	/* What begins all but a few texts is told by its place. */
	if (n == 0 || bytes[0] > '@' || !memchr("=+-@\t\r", bytes[0], 6))
		return 0;
	if (n >= sizeof(number) || (bytes[0] != '-' && bytes[0] != '+') || memchr("+-", bytes[n > 1], 2))
		return 1;
	memcpy(number, bytes, n);
	number[n] = '\0';
	(void)strtod(number, &end);
	return end != number + n;
}

size_t ktr__utf8_repair(char *to, const char *bytes, size_t n)
{
	char *at = to;

	for (size_t i = 0; i < n;) {
		size_t length = ktr__utf8_char(bytes + i, n - i);

		if (length) {
			memcpy(at, bytes + i, length);
			at += length;
			i += length;
		} else {
			memcpy(at, "\xef\xbf\xbd", 3);
			at += 3;
			i++;
		}
	}
	return (size_t)(at - to);
}
