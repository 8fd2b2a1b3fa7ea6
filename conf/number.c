/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as text: integers, booleans, sizes and durations, read and printed.
 *
 * Integers follow C: 0x is hexadecimal, a leading 0 octal, everything else decimal. Sizes and
 * durations are an integer or a decimal fraction and a unit; what they come to must be a whole
 * number of bytes or nanoseconds, because rounding would print something else than was written.
 * Suffixes of sizes are powers of 1024 whether or not a B follows, as in FreeBSD's
 * expand_number(3).
 */
#include "conf/number.h"

#include "conf/names.h"
#include "conf/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct number_unit {
	char name[8];
	uint64_t scale;
};

/* Printing tries them from the top, so the name that is printed precedes its synonyms. */
static const struct number_unit number_sizes[] = {
#define NUMBER_SIZE(letter, log2) { letter, 1ull << (log2) },
#define NUMBER_SIZES(tail)                                                                       \
	NUMBER_SIZE("E" tail, 60) NUMBER_SIZE("P" tail, 50) NUMBER_SIZE("T" tail, 40)            \
	NUMBER_SIZE("G" tail, 30) NUMBER_SIZE("M" tail, 20) NUMBER_SIZE("K" tail, 10)
	NUMBER_SIZES("") { "", 1 }, { "B", 1 }, NUMBER_SIZES("B") NUMBER_SIZES("iB")
};

static const struct number_unit number_durations[] = {
	{ "d", 86400000000000ull },
	{ "h", 3600000000000ull },
	{ "min", 60000000000ull },
	{ "s", 1000000000ull },
	{ "ms", 1000000ull },
	{ "us", 1000ull },
	{ "ns", 1 },
	{ "", 1 },
	{ "m", 60000000000ull },
	{ "sec", 1000000000ull },
	{ "\xc2\xb5s", 1000ull },
	{ "\xce\xbcs", 1000ull },
};

/* The two kinds of number with a unit. */
static const struct number_kind {
	const struct number_unit *units;
	size_t n_units;
	const char *wrong;
	const char *fraction;
} number_size = {
	number_sizes, sizeof(number_sizes) / sizeof(number_sizes[0]),
	"is not a size: a number and K, M, G, T, P or E", "is not a whole number of bytes",
}, number_duration = {
	number_durations, sizeof(number_durations) / sizeof(number_durations[0]),
	"is not a duration: a number and ns, us, ms, s, min, h or d",
	"is not a whole number of nanoseconds",
};

size_t ktr__word_length(const char *word)
{
	size_t length = strlen(word);

	while (length && ktr__is_blank(word[length - 1]))
		length--;
	return length;
}

unsigned ktr__hex_digit(char c)
{
	if (ktr__is_digit(c))
		return (unsigned)(c - '0');
	c = ktr__lower(c);
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

int ktr__parse_digits(const char **at, uint64_t *number)
{
	const char *p = *at;
	uint64_t n = 0;
	unsigned base = 10, digit;
	int rc = -EINVAL;

	if (p[0] == '0' && ktr__lower(p[1]) == 'x' && ktr__hex_digit(p[2]) < 16) {
		base = 16;
		p += 2;
	} else if (p[0] == '0' && ktr__is_digit(p[1])) {
		base = 8;
	}
	for (; (digit = ktr__hex_digit(*p)) < base; p++) {
		if (rc == -EINVAL)
			rc = 0;
		if (__builtin_mul_overflow(n, (uint64_t)base, &n) ||
		    __builtin_add_overflow(n, (uint64_t)digit, &n))
			rc = -ERANGE;
	}
	*at = p;
	*number = n;
	return rc;
}

int ktr__bad_value(const char *text, const char *at, int code, const char *what,
		   struct ktr_error *err)
{
	return ktr_error_at(err, NULL, 0, (unsigned)(at - text) + 1, code, "\"%.*s\" %s",
			    ktr__shown(strlen(text)), text, what);
}

static const char number_too_large[] = "does not fit in 64 bits";

/* Sign and magnitude with nothing after them. */
static int number_signed(const char *text, int *negative, uint64_t *number, struct ktr_error *err)
{
	const char *start = ktr__skip_blanks(text), *p = start;
	int rc;

	*negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	rc = ktr__parse_digits(&p, number);
	p = ktr__skip_blanks(p);
	if (rc == -EINVAL || *p)
		return ktr__bad_value(text, p, EINVAL, "is not a number", err);
	return rc ? ktr__bad_value(text, start, rc, number_too_large, err) : 0;
}

int ktr__parse_int(const char *text, int64_t *number, struct ktr_error *err)
{
	uint64_t magnitude;
	int negative, rc;

	rc = number_signed(text, &negative, &magnitude, err);
	if (rc)
		return rc;
	if (magnitude > (uint64_t)INT64_MAX + (unsigned)negative)
		return ktr__bad_value(text, ktr__skip_blanks(text), ERANGE, number_too_large, err);
	*number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return 0;
}

int ktr__parse_uint(const char *text, uint64_t *number, struct ktr_error *err)
{
	uint64_t magnitude;
	int negative, rc;

	rc = number_signed(text, &negative, &magnitude, err);
	if (rc)
		return rc;
	if (negative && magnitude)
		return ktr__bad_value(text, ktr__skip_blanks(text), ERANGE, "is below 0", err);
	*number = magnitude;
	return 0;
}

int ktr__parse_bool(const char *text, uint64_t *number, struct ktr_error *err)
{
	static const char words[8][6] = { "0", "no", "off", "false", "1", "yes", "on", "true" };
	const char *start = ktr__skip_blanks(text);
	size_t length = ktr__word_length(start);

	for (unsigned i = 0; i < 8; i++)
		if (ktr__same_word(start, length, words[i])) {
			*number = i / 4;
			return 0;
		}
	return ktr__bad_value(text, start, EINVAL, "is not 0, 1, yes, no, on, off, true or false", err);
}

/*
 * Decimals from point to end times scale, by Horner's rule from the last digit on: if the whole is
 * an integer, so is every step. 0 or -EINVAL. The greatest scale, 2^60, leaves room for a digit.
 */
static int number_fraction(const char *point, const char *end, uint64_t scale, uint64_t *part)
{
	uint64_t n = 0;

	while (--end > point) {
		n += (unsigned)(*end - '0') * scale;
		if (n % 10)
			return -EINVAL;
		n /= 10;
	}
	*part = n;
	return 0;
}

static const struct number_unit *number_unit(const struct number_kind *kind, const char *word)
{
	size_t length = ktr__word_length(word);

	for (size_t i = 0; i < kind->n_units; i++)
		if (ktr__same_word(word, length, kind->units[i].name))
			return &kind->units[i];
	return NULL;
}

static int number_scaled(const char *text, const struct number_kind *kind, uint64_t *number,
			 struct ktr_error *err)
{
	const char *start = ktr__skip_blanks(text), *p = start, *point, *end, *word;
	const struct number_unit *unit;
	uint64_t whole, part;
	int rc = ktr__parse_digits(&p, &whole);

	if (rc == -EINVAL)
		return ktr__bad_value(text, p, EINVAL, kind->wrong, err);
	point = end = p;
	if (*p == '.' && (*start != '0' || p == start + 1)) /* neither octal nor hexadecimal */
		while (ktr__is_digit(*++end))
			;
	word = ktr__skip_blanks(end);
	unit = number_unit(kind, word);
	if (!unit || end == point + 1)
		return ktr__bad_value(text, word, EINVAL, kind->wrong, err);
	if (number_fraction(point, end, unit->scale, &part))
		return ktr__bad_value(text, start, EINVAL, kind->fraction, err);
	if (rc || __builtin_mul_overflow(whole, unit->scale, &whole) ||
	    __builtin_add_overflow(whole, part, &whole))
		return ktr__bad_value(text, start, ERANGE, number_too_large, err);
	*number = whole;
	return 0;
}

int ktr__parse_size(const char *text, uint64_t *number, struct ktr_error *err)
{
	return number_scaled(text, &number_size, number, err);
}

int ktr__parse_duration(const char *text, uint64_t *ns, struct ktr_error *err)
{
	return number_scaled(text, &number_duration, ns, err);
}

static int number_fits(int length, size_t size)
{
	return length >= 0 && (size_t)length < size ? 0 : -ENOSPC;
}

int ktr__print_uint(uint64_t number, unsigned flags, char *buffer, size_t size)
{
	if (flags & KTR_PRINT_HEX)
		return number_fits(snprintf(buffer, size, "0x%llx", (unsigned long long)number),
				   size);
	return number_fits(snprintf(buffer, size, "%llu", (unsigned long long)number), size);
}

int ktr__print_int(int64_t number, unsigned flags, char *buffer, size_t size)
{
	uint64_t magnitude = (uint64_t)number;

	if (number < 0 && size) {
		*buffer++ = '-';
		size--;
		magnitude = 0 - magnitude;
	}
	return ktr__print_uint(magnitude, flags, buffer, size);
}

static int number_print_scaled(uint64_t number, const struct number_unit *unit, char *buffer,
			       size_t size)
{
	while (number % unit->scale)
		unit++;
	return number_fits(snprintf(buffer, size, "%llu%s",
				    (unsigned long long)(number / unit->scale), unit->name),
			   size);
}

int ktr__print_size(uint64_t number, unsigned flags, char *buffer, size_t size)
{
	if (number && (flags & KTR_PRINT_HUMAN))
		return number_print_scaled(number, number_sizes, buffer, size);
	return ktr__print_uint(number, flags, buffer, size);
}

int ktr__print_duration(uint64_t ns, unsigned flags, char *buffer, size_t size)
{
	if (flags & KTR_PRINT_HEX)
		return ktr__print_uint(ns, flags, buffer, size);
	return number_print_scaled(ns, ns ? number_durations : number_durations + 3, buffer, size);
}
