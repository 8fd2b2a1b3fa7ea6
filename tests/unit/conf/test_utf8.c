/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes made fit for terminals and JSON. */
#include "tests/unit/suite.h"

#include "conf/kit/utf8.h"

#include <stdlib.h>
#include <string.h>

static void characters_are_well_formed_or_not(void)
{
	static const struct {
		const char *bytes;
		size_t length;
	} cases[] = {
		{ "", 0 },
		{ "a", 1 },
		{ "\x7f", 1 },
		{ "\x80", 0 },
		{ "\xc3\xa9", 2 },
		{ "\xc3", 0 },
		{ "\xc0\xaf", 0 },
		{ "\xc1\xbf", 0 },
		{ "\xe2\x82\xac", 3 },
		{ "\xe2\x82", 0 },
		{ "\xe0\x9f\xbf", 0 },
		{ "\xed\xa0\x80", 0 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xf0\x9f\x98\x80", 4 },
		{ "\xf0\x8f\xbf\xbf", 0 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xf5\x80\x80\x80", 0 },
		{ "\xff", 0 },
		{ "\xe2\x28\xa1", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT(ktr__utf8_char(cases[i].bytes, strlen(cases[i].bytes)) ==
			  cases[i].length);
}

static void plain_text_ends_where_it_ends(void)
{
	char text[40];

	for (int byte = 0; byte < 256; byte++)
		for (size_t at = 0; at < sizeof(text); at++) {
			int plain = byte >= 0x20 && byte < 0x7f;

			memset(text, 'x', sizeof(text));
			text[at] = (char)byte;
			CU_ASSERT(ktr__utf8_plain(text, sizeof(text)) ==
				  (plain ? sizeof(text) : at));
			CU_ASSERT(ktr__utf8_plain(text, at) == at);
			/* Whatever is left after whole words. */
			for (size_t n = at + 1; n < sizeof(text); n++)
				CU_ASSERT(ktr__utf8_plain(text, n) == (plain ? n : at));
			for (size_t n = 0; n < sizeof(text); n++)
				CU_ASSERT(ktr__utf8_is_plain(text, n) == (plain || n <= at));
		}
}

static void utf8_visible_is(const char *bytes, size_t n, const char *expected)
{
	char to[64];
	size_t length = ktr__utf8_visible(to, bytes, n);

	CU_ASSERT(length == strlen(expected) && memcmp(to, expected, length) == 0);
}

static void what_could_do_harm_is_escaped(void)
{
	utf8_visible_is("a\tb\nc\rd", 7, "a\\tb\\nc\\rd");
	utf8_visible_is("\033[31m", 5, "\\x1b[31m");
	utf8_visible_is("x\0y", 3, "x\\x00y");
	utf8_visible_is("\xc2\x9b"
			"31m",
			5, "\\xc2\\x9b31m");
	utf8_visible_is("\xc2\xa0\xc3\xa9", 4, "\xc2\xa0\xc3\xa9");
	utf8_visible_is("\xff\xfe", 2, "\\xff\\xfe");
	utf8_visible_is("\x7f", 1, "\\x7f");
}

/*
 * Random bytes: the result is well-formed, within its bound, and repairing it again changes
 * nothing.
 */
static void random_bytes_are_repaired(void)
{
	char bytes[50], once[150], twice[450], seen[200];

	srandom(6);
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)random() % sizeof(bytes), m, at = 0, length;

		for (size_t i = 0; i < n; i++)
			bytes[i] = (char)(random() % 3 ? 0x80 + random() % 0x80 : random());
		m = ktr__utf8_repair(once, bytes, n);
		CU_ASSERT(m <= 3 * n);
		while (at < m && (length = ktr__utf8_char(once + at, m - at)) > 0)
			at += length;
		CU_ASSERT(at == m);
		CU_ASSERT(ktr__utf8_repair(twice, once, m) == m && memcmp(once, twice, m) == 0);
		m = ktr__utf8_visible(seen, bytes, n);
		CU_ASSERT(m <= 4 * n);
		for (at = 0; at < m; at++)
			CU_ASSERT((unsigned char)seen[at] >= 0x20 && seen[at] != 0x7f);
	}
}

SUITE(utf8, TEST(characters_are_well_formed_or_not), TEST(plain_text_ends_where_it_ends),
      TEST(what_could_do_harm_is_escaped), TEST(random_bytes_are_repaired));
