/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of CPUs as text: "0-3,8", "0-31:4" (every fourth), "all", "none", or one hexadecimal mask
 * of any length ("0xff", CPU 0 rightmost) as taskset(1) reads it.
 *
 * The hexadecimal words separated by commas that FreeBSD's debug.ktr.cpumask prints are not read:
 * "10,20" would mean two things. Lists are printed with ranges and without strides, the form that
 * cpuset(7) calls list format.
 */
#include "conf/cpulist.h"

#include "conf/names.h"
#include "conf/number.h"
#include "conf/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int cpulist_has(const uint64_t *bits, unsigned cpu)
{
	return (int)(bits[cpu / 64] >> (cpu % 64) & 1);
}

static void cpulist_add(uint64_t *bits, unsigned cpu)
{
	bits[cpu / 64] |= 1ull << (cpu % 64);
}

static int cpulist_bad(const char *text, const char *at, struct ktr_error *err)
{
	return ktr__bad_value(text, at, EINVAL, "is not a CPU list such as 0-3,8 or all or none", err);
}

static int cpulist_absent(const char *text, const char *at, unsigned n_bits, struct ktr_error *err)
{
	return ktr_error_at(err, NULL, 0, (unsigned)(at - text) + 1, ERANGE,
			    "\"%.*s\" names a CPU that does not exist, the last one is %u",
			    ktr__shown(strcspn(at, ", \t")), at, n_bits ? n_bits - 1 : 0);
}

/* Hexadecimal digits after 0x, lowest CPUs last. */
static int cpulist_hex(const char *text, const char *digits, uint64_t *bits, unsigned n_bits,
		       struct ktr_error *err)
{
	size_t length = strspn(digits, "0123456789abcdefABCDEF");

	if (!length || *ktr__skip_blanks(digits + length))
		return cpulist_bad(text, digits + length, err);
	for (size_t i = 0; i < length; i++) {
		unsigned nibble = ktr__hex_digit(digits[length - 1 - i]);

		for (unsigned b = 0; b < 4; b++) {
			if (!(nibble >> b & 1))
				continue;
			if (i * 4 + b >= n_bits)
				return cpulist_absent(text, digits - 2, n_bits, err);
			cpulist_add(bits, (unsigned)i * 4 + b);
		}
	}
	return 0;
}

static int cpulist_number(const char **at, uint64_t *number)
{
	const char *p = *at;
	uint64_t n = 0;

	if (!ktr__is_digit(*p))
		return -EINVAL;
	for (; ktr__is_digit(*p); p++)
		n = n < UINT32_MAX ? n * 10 + (unsigned)(*p - '0') : n;
	*at = p;
	*number = n;
	return 0;
}

/* One item: N, N-M or N-M:S. *at moves after it. */
static int cpulist_item(const char *text, const char **at, uint64_t *bits, unsigned n_bits,
			struct ktr_error *err)
{
	const char *start = *at;
	uint64_t first, last, step = 1;

	if (cpulist_number(at, &first))
		return cpulist_bad(text, *at, err);
	last = first;
	if (**at == '-') {
		(*at)++;
		if (cpulist_number(at, &last) || last < first)
			return cpulist_bad(text, *at, err);
		if (**at == ':') {
			(*at)++;
			if (cpulist_number(at, &step) || !step)
				return cpulist_bad(text, *at, err);
		}
	}
	if (last >= n_bits)
		return cpulist_absent(text, start, n_bits, err);
	for (uint64_t cpu = first; cpu <= last; cpu += step)
		cpulist_add(bits, (unsigned)cpu);
	return 0;
}

int ktr__parse_cpus(const char *text, uint64_t *bits, unsigned n_bits, struct ktr_error *err)
{
	const char *p = ktr__skip_blanks(text);
	size_t length = strcspn(p, " \t");
	int all = ktr__same_word(p, length, "all"), rc;

	memset(bits, 0, (n_bits + 63) / 64 * sizeof(*bits));
	if (all || ktr__same_word(p, length, "none")) {
		if (*ktr__skip_blanks(p + length))
			return cpulist_bad(text, p + length, err);
		for (unsigned cpu = 0; all && cpu < n_bits; cpu++)
			cpulist_add(bits, cpu);
		return 0;
	}
	if (p[0] == '0' && ktr__lower(p[1]) == 'x')
		return cpulist_hex(text, p + 2, bits, n_bits, err);
	for (;; p = ktr__skip_blanks(p + 1)) {
		rc = cpulist_item(text, &p, bits, n_bits, err);
		if (rc)
			return rc;
		p = ktr__skip_blanks(p);
		if (!*p)
			return 0;
		if (*p != ',')
			return cpulist_bad(text, p, err);
	}
}

static int cpulist_word(const char *word, char *buffer, size_t size)
{
	size_t length = strlen(word);

	if (length >= size)
		return -ENOSPC;
	memcpy(buffer, word, length + 1);
	return 0;
}

int ktr__print_cpus(const uint64_t *bits, unsigned n_bits, char *buffer, size_t size)
{
	unsigned first, last;
	size_t at = 0;
	int n;

	for (first = 0; first < n_bits && !cpulist_has(bits, first);)
		first++;
	if (first == n_bits)
		return cpulist_word("none", buffer, size);
	for (; first < n_bits; first = last + 2) {
		if (!cpulist_has(bits, first)) {
			last = first - 1;
			continue;
		}
		for (last = first; last + 1 < n_bits && cpulist_has(bits, last + 1);)
			last++;
		if (last - first + 1 == n_bits)
			return cpulist_word("all", buffer, size);
		n = snprintf(buffer + at, size - at, first == last ? "%s%u" : "%s%u-%u",
			     at ? "," : "", first, last);
		if (n < 0 || (size_t)n >= size - at)
			return -ENOSPC;
		at += (size_t)n;
	}
	return 0;
}
