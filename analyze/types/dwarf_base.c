/* SPDX-License-Identifier: BSD-2-Clause */
/* gcc writes "long unsigned int", clang "unsigned long": here they are the same, and called as gdb does. */
#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW

#include "analyze/types/dwarf_base.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

enum ktr__types_encoding ktr__base_encoding(uint64_t ate)
{
	switch (ate) {
	case DW_ATE_signed:
		return KTR__TYPES_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_address:
		return KTR__TYPES_UNSIGNED;
	case DW_ATE_signed_char:
		return KTR__TYPES_CHAR;
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return KTR__TYPES_UCHAR;
	case DW_ATE_boolean:
		return KTR__TYPES_BOOL;
	case DW_ATE_float:
		return KTR__TYPES_FLOAT;
	case DW_ATE_complex_float:
		return KTR__TYPES_COMPLEX;
	case DW_ATE_decimal_float:
		return KTR__TYPES_DECIMAL;
	default:
		return KTR__TYPES_NONE;
	}
}

/* The words that whole numbers are called by, in any order. */
enum { BASE_LONG, BASE_SHORT, BASE_INT, BASE_CHAR, BASE_SIGNED, BASE_UNSIGNED, BASE_WORDS };

static const char *const base_words[] = { "long", "short", "int", "char", "signed", "unsigned" };

/* The word that a text begins with, or -1. *n: its length. */
static int base_word(const char *text, size_t *n)
{
	for (int i = 0; i < BASE_WORDS; i++) {
		*n = strlen(base_words[i]);
		if (strncmp(text, base_words[i], *n) == 0 && !isalnum((unsigned char)text[*n]) && text[*n] != '_')
			return i;
	}
	return -1;
}

/* Counts the words that a text begins with; returns the length of that. */
static size_t base_count(const char *text, unsigned count[BASE_WORDS])
{
	size_t at = 0, end = 0, n;
	int word;

	memset(count, 0, BASE_WORDS * sizeof(*count));
	while ((word = base_word(text + at, &n)) >= 0) {
		count[word]++;
		end = at + n;
		at = end + strspn(text + end, " ");
	}
	return end;
}

static void base_write(const unsigned count[BASE_WORDS], char *to, size_t size)
{
	const char *sign = count[BASE_UNSIGNED]                        ? "unsigned "
			   : count[BASE_SIGNED] && count[BASE_CHAR] ? "signed "
								       : "";
	const char *kind = count[BASE_CHAR]       ? "char"
			   : count[BASE_SHORT]    ? "short"
			   : count[BASE_LONG] > 1 ? "long long"
			   : count[BASE_LONG]     ? "long"
						  : "int";

	snprintf(to, size, "%s%s", sign, kind);
}

void ktr__base_name(const char *name, char *to, size_t size)
{
	unsigned count[BASE_WORDS];
	size_t n = base_count(name, count);

	if (n && !name[n])
		base_write(count, to, size);
	else
		snprintf(to, size, "%s", name);
}

void ktr__base_in_template(const char *name, char *to, size_t size)
{
	const char *p = strchr(name, '<');
	unsigned count[BASE_WORDS];
	size_t used, n;
	char before = '<';

	used = (size_t)snprintf(to, size, "%.*s", (int)(p - name), name);
	while (*p && used + 32 < size) {
		n = isalnum((unsigned char)before) || before == '_' ? 0 : base_count(p, count);
		/* long double is no whole number. */
		if (n && strncmp(p + n, " double", 7) != 0) {
			base_write(count, to + used, size - used);
			used += strlen(to + used);
			p += n;
		} else {
			to[used++] = *p++;
		}
		before = p[-1];
	}
	to[used] = '\0';
}

#endif
