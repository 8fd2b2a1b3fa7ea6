/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings: plain and quoted, what is refused, and round trips. */
#include "conf/quote.h"
#include "test_conf.h"

static void strings_read(void)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "/tmp/ktr.out", "/tmp/ktr.out" },
		{ "a b", "a b" },
		{ "\\n", "\\n" },
		{ "it's \"so\"", "it's \"so\"" },
		{ " x ", " x " },
		{ "\"\"", "" },
		{ "\"a b \"", "a b " },
		{ " \"q\" ", "q" },
		{ "\"a\\\"b\\\\c\"", "a\"b\\c" },
		{ "\"\\n\\t\\r\\e\\a\\b\\f\\v\"", "\n\t\r\033\a\b\f\v" },
		{ "\"\\x41\\xfF\"", "A\xff" },
	};
	char string[64];

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		CU_ASSERT_EQUAL(ktr__parse_string(pairs[i][0], string, sizeof(string), NULL), 0);
		CU_ASSERT_STRING_EQUAL(string, pairs[i][1]);
	}
}

static void strings_refused(void)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *says;
	} bad[] = {
		{ "\"", 2, "closing quote is missing" },
		{ "\"abc", 5, "closing quote is missing" },
		{ "\"abc\\\"", 7, "closing quote is missing" },
		{ "\"a\" b", 4, "follows" },
		{ "\"a\\qb\"", 3, "not an escape" },
		{ "\"\\x0g\"", 2, "not an escape" },
		{ "\"\\x00\"", 2, "not an escape" },
		{ "\"\\x", 2, "not an escape" },
		{ "\"\\", 2, "not an escape" },
	};
	char string[64];

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ktr_error err = KTR_ERROR_NONE;

		CU_ASSERT_EQUAL(ktr__parse_string(bad[i].text, string, sizeof(string), &err),
				-EINVAL);
		CU_ASSERT_EQUAL(err.column, bad[i].column);
		CU_ASSERT_TRUE(error_says(&err, bad[i].says));
	}
}

static void strings_too_long(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char string[5];

	CU_ASSERT_EQUAL(ktr__parse_string("1234", string, 5, NULL), 0);
	CU_ASSERT_EQUAL(ktr__parse_string("12345", string, 5, &err), -ERANGE);
	CU_ASSERT_TRUE(error_says(&err, "longer than 4 bytes"));
	CU_ASSERT_EQUAL(ktr__parse_string("\"1234\"", string, 5, NULL), 0);
	CU_ASSERT_EQUAL(ktr__parse_string("\"123\\n5\"", string, 5, NULL), -ERANGE);
	CU_ASSERT_EQUAL(ktr__print_string("12345", string, 5), -ENOSPC);
	CU_ASSERT_EQUAL(ktr__print_string("1234", string, 5), 0);
	CU_ASSERT_EQUAL(ktr__print_string(" 1", string, 5), 0);
	CU_ASSERT_STRING_EQUAL(string, "\" 1\"");
	CU_ASSERT_EQUAL(ktr__print_string(" 12", string, 5), -ENOSPC);
	CU_ASSERT_EQUAL(ktr__print_string("1 ", string, 5), 0);
	CU_ASSERT_STRING_EQUAL(string, "\"1 \"");
	CU_ASSERT_EQUAL(ktr__print_string("\n", string, 4), -ENOSPC);
	CU_ASSERT_EQUAL(ktr__print_string("\n", string, 2), -ENOSPC);
}

static void strings_round_trip(void)
{
	static const char nasty[] = "\"\\ \t\n\001\177$'ax\x80\xff=#";
	uint64_t state = 2;
	char string[40], text[200], back[40];

	for (unsigned i = 0; i < 100000; i++) {
		size_t length = random_next(&state) % sizeof(string);

		for (size_t j = 0; j < length; j++)
			string[j] = i & 1 ? nasty[random_next(&state) % (sizeof(nasty) - 1)]
					  : (char)(random_next(&state) % 255 + 1);
		string[length] = '\0';
		CU_ASSERT_FATAL(ktr__print_string(string, text, sizeof(text)) == 0);
		CU_ASSERT_FATAL(ktr__parse_string(text, back, sizeof(back), NULL) == 0);
		CU_ASSERT_FATAL(strcmp(string, back) == 0);
		for (const char *p = text; *p; p++)
			CU_ASSERT_FATAL((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
}

SUITE(conf_quote, TEST(strings_read), TEST(strings_refused), TEST(strings_too_long),
      TEST(strings_round_trip));
