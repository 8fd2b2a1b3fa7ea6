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
#include "conf/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct number_unit {
	char name[8];
	uint64_t scale;
};

static const struct number_unit number_sizes[] = {
	{ "E", 1ull << 60 }, { "P", 1ull << 50 }, { "T", 1ull << 40 }, { "G", 1ull << 30 },
	{ "M", 1ull << 20 }, { "K", 1ull << 10 }, { "", 1 },           { "B", 1 },
};

/* Printing tries them from the top, so the name that is printed precedes its synonyms. */
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

#define NUMBER_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static unsigned number_digit(char c)
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

	if (p[0] == '0' && ktr__lower(p[1]) == 'x' && number_digit(p[2]) < 16) {
		base = 16;
		p += 2;
	} else if (p[0] == '0' && ktr__is_digit(p[1])) {
		base = 8;
	}
	for (; (digit = number_digit(*p)) < base; p++) {
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

static int number_bad(const char *text, const char *at, const char *what, struct ktr_error *err)
{
	return ktr_error_at(err, NULL, 0, (unsigned)(at - text) + 1, EINVAL, "\"%.*s\" is not %s",
			    ktr__shown(strlen(text)), text, what);
}

static int number_huge(const char *text, const char *at, struct ktr_error *err)
{
	return ktr_error_at(err, NULL, 0, (unsigned)(at - text) + 1, ERANGE,
			    "\"%.*s\" does not fit in 64 bits", ktr__shown(strlen(text)), text);
}

/* Sign and magnitude with nothing behind them. */
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
		return number_bad(text, p, "a number", err);
	return rc ? number_huge(text, start, err) : 0;
}

int ktr__parse_int(const char *text, int64_t *number, struct ktr_error *err)
{
	uint64_t magnitude;
	int negative, rc;

	rc = number_signed(text, &negative, &magnitude, err);
	if (rc)
		return rc;
	if (magnitude > (uint64_t)INT64_MAX + (unsigned)negative)
		return number_huge(text, ktr__skip_blanks(text), err);
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
		return ktr_error_at(err, NULL, 0, (unsigned)(ktr__skip_blanks(text) - text) + 1,
				    ERANGE, "\"%.*s\" is below 0", ktr__shown(strlen(text)), text);
	*number = magnitude;
	return 0;
}

int ktr__parse_bool(const char *text, uint64_t *number, struct ktr_error *err)
{
	static const char words[2][4][6] = { { "0", "no", "off", "false" },
					     { "1", "yes", "on", "true" } };
	const char *start = ktr__skip_blanks(text);
	size_t length = strlen(start);

	while (length && ktr__is_blank(start[length - 1]))
		length--;
	for (unsigned value = 0; value < 2; value++) {
		for (unsigned i = 0; i < 4; i++) {
			if (ktr__same_word(start, length, words[value][i])) {
				*number = value;
				return 0;
			}
		}
	}
	return number_bad(text, start, "0, 1, yes, no, on, off, true or false", err);
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

/* "iB" and "B" may follow the letter of a size: K, KB and KiB mean the same. */
static size_t number_size_length(const char *unit, size_t length)
{
	if (length > 1 && ktr__lower(unit[length - 1]) == 'b')
		length -= length > 2 && ktr__lower(unit[length - 2]) == 'i' ? 2 : 1;
	return length;
}

static const struct number_unit *number_unit(const struct number_unit *units, size_t n_units,
					     const char *word, size_t length)
{
	for (size_t i = 0; i < n_units; i++)
		if (ktr__same_word(word, length, units[i].name))
			return &units[i];
	return NULL;
}

static int number_scaled(const char *text, int is_size, uint64_t *number, struct ktr_error *err)
{
	const char *what = is_size ? "a size: a number and K, M, G, T, P or E"
				   : "a duration: a number and ns, us, ms, s, min, h or d";
	const char *start = ktr__skip_blanks(text), *p = start, *point, *end, *word;
	const struct number_unit *unit;
	uint64_t whole, part;
	size_t length;
	int rc = ktr__parse_digits(&p, &whole);

	if (rc == -EINVAL)
		return number_bad(text, p, what, err);
	point = end = p;
	if (*p == '.' && (*start != '0' || p == start + 1)) /* neither octal nor hexadecimal */
		while (ktr__is_digit(*++end))
			;
	word = ktr__skip_blanks(end);
	for (length = strlen(word); length && ktr__is_blank(word[length - 1]);)
		length--;
	unit = is_size ? number_unit(number_sizes, NUMBER_COUNT(number_sizes), word,
				     number_size_length(word, length))
		       : number_unit(number_durations, NUMBER_COUNT(number_durations), word,
				     length);
	if (!unit || end == point + 1)
		return number_bad(text, word, what, err);
	if (number_fraction(point, end, unit->scale, &part))
		return number_bad(
			text, start,
			is_size ? "a whole number of bytes" : "a whole number of nanoseconds", err);
	if (rc || __builtin_mul_overflow(whole, unit->scale, &whole) ||
	    __builtin_add_overflow(whole, part, &whole))
		return number_huge(text, start, err);
	*number = whole;
	return 0;
}

int ktr__parse_size(const char *text, uint64_t *number, struct ktr_error *err)
{
	return number_scaled(text, 1, number, err);
}

int ktr__parse_duration(const char *text, uint64_t *ns, struct ktr_error *err)
{
	return number_scaled(text, 0, ns, err);
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
