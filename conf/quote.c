/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings as text: as they are where that is unmistakable, else between double quotes with the
 * escapes of C.
 *
 * A text that begins with a quote must be a complete quoted string; any other is taken byte for
 * byte, backslashes and blanks included, so that paths and expressions need no care. Printing
 * quotes what would not survive that: a leading quote, blanks at either end, control bytes.
 */
#include "conf/quote.h"

#include "conf/number.h"
#include "conf/value.h"

#include <errno.h>
#include <string.h>

/* Pairs of letter and byte; the rest of the control bytes are written as \xHH. */
static const char quote_escapes[] = "n\nt\tr\ra\ab\bf\fv\ve\033\"\"\\\\";

static int quote_bad(const char *text, const char *at, const char *what, struct ktr_error *err)
{
	return ktr_error_at(err, NULL, 0, (unsigned)(at - text) + 1, EINVAL, "%s", what);
}

/* One escape after its backslash: the byte it stands for, or -1. */
static int quote_unescape(const char **at)
{
	const char *p = *at;
	unsigned high, low;

	if (*p == 'x') {
		high = ktr__hex_digit(p[1]);
		low = high > 15 ? 16 : ktr__hex_digit(p[2]);
		*at = p + 3;
		return low > 15 || !(high | low) ? -1 : (int)(high * 16 + low);
	}
	for (const char *pair = quote_escapes; *pair; pair += 2) {
		if (*p == *pair) {
			*at = p + 1;
			return (unsigned char)pair[1];
		}
	}
	return -1;
}

static int quote_too_long(size_t size, struct ktr_error *err)
{
	return ktr_error_set(err, ERANGE, "longer than %zu bytes", size - 1);
}

int ktr__parse_string(const char *text, char *buffer, size_t size, struct ktr_error *err)
{
	const char *p = ktr__skip_blanks(text), *from;
	size_t n = 0;
	int byte;

	if (*p != '"') {
		n = strlen(text);
		if (n >= size)
			return quote_too_long(size, err);
		memcpy(buffer, text, n + 1);
		return 0;
	}
	for (p++; *p != '"'; buffer[n++] = (char)byte) {
		from = p;
		if (!*p)
			return quote_bad(text, p, "the closing quote is missing", err);
		byte = (unsigned char)*p++;
		if (byte == '\\')
			byte = quote_unescape(&p);
		if (byte < 0)
			return quote_bad(text, from,
					 "not an escape: \\\" \\\\ \\n \\t \\r \\a \\b \\f"
					 " \\v \\e and \\xHH are, \\x00 is not",
					 err);
		if (n + 1 >= size)
			return quote_too_long(size, err);
	}
	if (*ktr__skip_blanks(p + 1))
		return quote_bad(text, p + 1, "something follows the closing quote", err);
	buffer[n] = '\0';
	return 0;
}

static int quote_is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static int quote_is_plain(const char *string, size_t length)
{
	if (length && ktr__is_blank(string[length - 1]))
		return 0;
	if (ktr__is_blank(string[0]) || string[0] == '"')
		return 0;
	for (size_t i = 0; i < length; i++)
		if (quote_is_control(string[i]))
			return 0;
	return 1;
}

/* The escape for a byte, at most 4 bytes; returns its length. */
static size_t quote_escape(char byte, char escape[4])
{
	static const char digits[] = "0123456789abcdef";

	escape[0] = '\\';
	for (const char *pair = quote_escapes; *pair; pair += 2) {
		if (byte == pair[1]) {
			escape[1] = pair[0];
			return 2;
		}
	}
	if (!quote_is_control(byte)) {
		escape[0] = byte;
		return 1;
	}
	escape[1] = 'x';
	escape[2] = digits[(unsigned char)byte >> 4];
	escape[3] = digits[byte & 15];
	return 4;
}

int ktr__print_string(const char *string, char *buffer, size_t size)
{
	size_t length = strlen(string), at = 0, n;
	char escape[4];

	if (quote_is_plain(string, length)) {
		if (length >= size)
			return -ENOSPC;
		memcpy(buffer, string, length + 1);
		return 0;
	}
	if (size < 3)
		return -ENOSPC;
	buffer[at++] = '"';
	for (size_t i = 0; i < length; i++, at += n) {
		n = quote_escape(string[i], escape);
		if (at + n + 2 > size)
			return -ENOSPC;
		memcpy(buffer + at, escape, n);
	}
	buffer[at++] = '"';
	buffer[at] = '\0';
	return 0;
}
