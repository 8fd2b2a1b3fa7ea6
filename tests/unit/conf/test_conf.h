/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of conf/ share: random values that are the same in every run, and names. */
#ifndef TESTS_TEST_CONF_H
#define TESTS_TEST_CONF_H

#include <ktr/conf.h>

#include "tests/unit/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators"). */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* Numbers of every magnitude rather than mostly huge ones. */
static inline uint64_t random_number(uint64_t *state)
{
	uint64_t n = random_next(state);

	return n >> (random_next(state) % 64);
}

struct named_bits {
	const char *name;
	uint64_t bits;
};

/* A list of names as the parsers take it: context is an array that ends with a NULL name. */
static inline int list_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	const struct named_bits *list = context;

	for (unsigned i = 0; i <= idx; i++)
		if (!list[i].name)
			return -ENOENT;
	if (!list[idx].name[0])
		return 1;
	snprintf(name, size, "%s", list[idx].name);
	*value = list[idx].bits;
	return 0;
}

/* Is needle in the error's text? Says what the text is when not. */
static inline int error_says(const struct ktr_error *err, const char *needle)
{
	if (strstr(err->text, needle))
		return 1;
	fprintf(stderr, "error text is: %s\n", err->text);
	return 0;
}

#endif
