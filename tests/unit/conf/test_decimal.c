/* SPDX-License-Identifier: BSD-2-Clause */
/* Digits, where their number changes and between. */
#include "tests/unit/suite.h"

#include "conf/kit/decimal.h"

#include <inttypes.h>
#include <stdio.h>

static void decimal_is(uint64_t number)
{
	char wanted[KTR__DECIMAL_MAX + 1], got[KTR__DECIMAL_MAX + 1], *end, *first;

	snprintf(wanted, sizeof(wanted), "%" PRIu64, number);
	end = ktr__decimal_put(got, number);
	*end = '\0';
	CU_ASSERT_STRING_EQUAL(got, wanted);
	got[KTR__DECIMAL_MAX] = '\0';
	first = ktr__decimal(got + KTR__DECIMAL_MAX, number);
	CU_ASSERT_STRING_EQUAL(first, wanted);
}

static void as_printf_has_them(void)
{
	uint64_t state = 1;

	for (uint64_t power = 1; power; power = power < UINT64_MAX / 10 ? power * 10 : 0)
		for (uint64_t off = 0; off < 3; off++)
			decimal_is(power - 1 + off);
	for (unsigned bit = 0; bit < 64; bit++) {
		decimal_is(1ull << bit);
		decimal_is((1ull << bit) - 1);
	}
	decimal_is(UINT64_MAX);
	for (unsigned i = 0; i < 20000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
		decimal_is(state >> i % 64);
	}
}

static void nine_digits_are_always_nine(void)
{
	uint32_t state = 1;

	for (unsigned i = 0; i < 100000; i++) {
		/* The first and the last ten thousand, and some between. */
		uint32_t number = i < 10000 ? i : i < 20000 ? 999989999u + i - 9999 : state % 1000000000u;
		char wanted[16], got[16] = "";

		state = state * 1664525u + 1013904223u; /* Knuth, the art of computer programming 2, 3.3.4 */
		ktr__decimal_nine(got, number);
		snprintf(wanted, sizeof(wanted), "%09" PRIu32, number);
		if (strcmp(got, wanted) != 0)
			CU_ASSERT_STRING_EQUAL(got, wanted);
	}
}

SUITE(decimal, TEST(as_printf_has_them), TEST(nine_digits_are_always_nine));
