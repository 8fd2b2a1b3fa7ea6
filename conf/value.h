/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values as text: number.h, quote.h, cpulist.h and names.h have one parser and one printer for each kind, each pair
 * inverse to the other; here is what they share.
 *
 * Parsers take a NUL-terminated text with blanks allowed around it and return 0, -EINVAL (not of this kind) or
 * -ERANGE (does not fit), and fill err, which may be NULL; its column is the byte, from 1, at which the text stops
 * making sense. Nothing is stored on failure unless said otherwise. Printers write a NUL-terminated text and return
 * 0, or -ENOSPC when it does not fit; they print a form that the parser reads back to the same value. None
 * allocates; the locale has no say.
 */
#ifndef CONF_VALUE_H
#define CONF_VALUE_H

#include <stddef.h>

/* [bytes] How much of a word is quoted in an error text. */
#define KTR__SHOWN_BYTES 40

static inline int ktr__is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline char ktr__lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline const char *ktr__skip_blanks(const char *p)
{
	while (ktr__is_blank(*p))
		p++;
	return p;
}

static inline int ktr__is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* For "%.*s": the length of a word in an error text. */
static inline int ktr__shown(size_t length)
{
	return length > KTR__SHOWN_BYTES ? KTR__SHOWN_BYTES : (int)length;
}

#endif
