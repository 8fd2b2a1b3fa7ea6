/* SPDX-License-Identifier: BSD-2-Clause */
/* Integers, booleans, sizes and durations: what they mean, what is refused, and round trips. */
#include "conf/number.h"
#include "test_conf.h"

struct good {
	const char *text;
	uint64_t number;
};

struct bad {
	const char *text;
	int rc;
	unsigned column;
};

typedef int parser(const char *text, uint64_t *number, struct ktr_error *err);

static int parse_int(const char *text, uint64_t *number, struct ktr_error *err)
{
	return ktr__parse_int(text, (int64_t *)number, err);
}

static void expect_good(parser *parse, const struct good *good)
{
	for (; good->text; good++) {
		struct ktr_error err = KTR_ERROR_NONE;
		uint64_t number = 77;
		int rc = parse(good->text, &number, &err);

		if (rc || number != good->number || err.code)
			fprintf(stderr, "\"%s\": %d, %llu\n", good->text, rc,
				(unsigned long long)number);
		CU_ASSERT_EQUAL(rc, 0);
		CU_ASSERT_EQUAL(number, good->number);
		CU_ASSERT_EQUAL(err.code, 0);
	}
}

static void expect_bad(parser *parse, const struct bad *bad)
{
	for (; bad->text; bad++) {
		struct ktr_error err = KTR_ERROR_NONE;
		uint64_t number = 77;
		int rc = parse(bad->text, &number, &err);

		if (rc != bad->rc || err.column != bad->column)
			fprintf(stderr, "\"%s\": %d at %u: %s\n", bad->text, rc, err.column,
				err.text);
		CU_ASSERT_EQUAL(rc, bad->rc);
		CU_ASSERT_EQUAL(err.code, -bad->rc);
		CU_ASSERT_EQUAL(err.column, bad->column);
		CU_ASSERT_TRUE(err.text[0]);
		CU_ASSERT_EQUAL(number, 77);
		CU_ASSERT_EQUAL(parse(bad->text, &number, NULL), bad->rc);
	}
}

static void unsigned_numbers(void)
{
	static const struct good good[] = {
		{ "0", 0 },
		{ "00", 0 },
		{ "7", 7 },
		{ " 7 ", 7 },
		{ "\t7", 7 },
		{ "+7", 7 },
		{ "-0", 0 },
		{ "010", 8 },
		{ "0x10", 16 },
		{ "0XfF", 255 },
		{ "0777", 511 },
		{ "18446744073709551615", UINT64_MAX },
		{ "0xffffffffffffffff", UINT64_MAX },
		{ "01777777777777777777777", UINT64_MAX },
		{ NULL, 0 },
	};
	static const struct bad bad[] = {
		{ "", -EINVAL, 1 },
		{ " ", -EINVAL, 2 },
		{ "x", -EINVAL, 1 },
		{ "7x", -EINVAL, 2 },
		{ "7 7", -EINVAL, 3 },
		{ "09", -EINVAL, 2 },
		{ "0x", -EINVAL, 2 },
		{ "0xg", -EINVAL, 2 },
		{ "-1", -ERANGE, 1 },
		{ "1.5", -EINVAL, 2 },
		{ "--1", -EINVAL, 2 },
		{ "+", -EINVAL, 2 },
		{ "1e3", -EINVAL, 2 },
		{ "18446744073709551616", -ERANGE, 1 },
		{ "0x10000000000000000", -ERANGE, 1 },
		{ "99999999999999999999999999", -ERANGE, 1 },
		{ NULL, 0, 0 },
	};

	expect_good(ktr__parse_uint, good);
	expect_bad(ktr__parse_uint, bad);
}

static void signed_numbers(void)
{
	static const struct good good[] = {
		{ "-1", UINT64_MAX },
		{ "-0x10", (uint64_t)-16 },
		{ "+12", 12 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", (uint64_t)INT64_MIN },
		{ NULL, 0 },
	};
	static const struct bad bad[] = {
		{ "9223372036854775808", -ERANGE, 1 },
		{ "-9223372036854775809", -ERANGE, 1 },
		{ "- 1", -EINVAL, 3 },
		{ "", -EINVAL, 1 },
		{ NULL, 0, 0 },
	};

	expect_good(parse_int, good);
	expect_bad(parse_int, bad);
}

static void booleans(void)
{
	static const struct good good[] = {
		{ "1", 1 },   { "0", 0 },    { "yes", 1 },   { "NO", 0 }, { " on ", 1 },
		{ "Off", 0 }, { "true", 1 }, { "FALSE", 0 }, { NULL, 0 },
	};
	static const struct bad bad[] = {
		{ "", -EINVAL, 1 },     { "2", -EINVAL, 1 },      { "ye", -EINVAL, 1 },
		{ "yess", -EINVAL, 1 }, { "on off", -EINVAL, 1 }, { NULL, 0, 0 },
	};

	expect_good(ktr__parse_bool, good);
	expect_bad(ktr__parse_bool, bad);
}

static void sizes(void)
{
	static const struct good good[] = {
		{ "0", 0 },
		{ "5", 5 },
		{ "5b", 5 },
		{ "1K", 1024 },
		{ "1k", 1024 },
		{ "1kb", 1024 },
		{ "1KiB", 1024 },
		{ "64 K", 65536 },
		{ "2M", 2097152 },
		{ "1.5K", 1536 },
		{ "0.5k", 512 },
		{ "1.25M", 1310720 },
		{ "3G", 3221225472 },
		{ "1T", 1ull << 40 },
		{ "2P", 2ull << 50 },
		{ "15E", 15ull << 60 },
		{ "0x10K", 16384 },
		{ "15.5e", 0xf800000000000000 },
		{ "1.000000000000000000000K", 1024 },
		{ "0.0009765625K", 1 },
		{ NULL, 0 },
	};
	static const struct bad bad[] = {
		{ "", -EINVAL, 1 },
		{ "K", -EINVAL, 1 },
		{ "1.K", -EINVAL, 3 },
		{ ".5K", -EINVAL, 1 },
		{ "1.1K", -EINVAL, 1 },
		{ "1.5", -EINVAL, 1 },
		{ "1KK", -EINVAL, 2 },
		{ "1i", -EINVAL, 2 },
		{ "1 K x", -EINVAL, 3 },
		{ "-1K", -EINVAL, 1 },
		{ "16E", -ERANGE, 1 },
		{ "18446744073709551615K", -ERANGE, 1 },
		{ "18446744073709551616", -ERANGE, 1 },
		{ "010.5K", -EINVAL, 4 },
		{ NULL, 0, 0 },
	};

	expect_good(ktr__parse_size, good);
	expect_bad(ktr__parse_size, bad);
}

static void durations(void)
{
	static const struct good good[] = {
		{ "0", 0 },
		{ "0s", 0 },
		{ "17", 17 },
		{ "17ns", 17 },
		{ "3us", 3000 },
		{ "3\xc2\xb5s", 3000 },
		{ "3\xce\xbcs", 3000 },
		{ "50ms", 50000000 },
		{ "1.5s", 1500000000 },
		{ "2 min", 120000000000 },
		{ "2m", 120000000000 },
		{ "0.25h", 900000000000 },
		{ "1d", 86400000000000 },
		{ "1SEC", 1000000000 },
		{ "0.000000001s", 1 },
		{ NULL, 0 },
	};
	static const struct bad bad[] = {
		{ "", -EINVAL, 1 },
		{ "ms", -EINVAL, 1 },
		{ "5 parsecs", -EINVAL, 3 },
		{ "0.5ns", -EINVAL, 1 },
		{ "0.0000000001s", -EINVAL, 1 },
		{ "213504d", -ERANGE, 1 },
		{ "1s2", -EINVAL, 2 },
		{ "-1s", -EINVAL, 1 },
		{ NULL, 0, 0 },
	};

	expect_good(ktr__parse_duration, good);
	expect_bad(ktr__parse_duration, bad);
}

static void printed_forms(void)
{
	char text[64];

	ktr__print_size(65536, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "65536");
	ktr__print_size(65536, KTR_PRINT_HUMAN, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "64K");
	ktr__print_size(65537, KTR_PRINT_HUMAN, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "65537");
	ktr__print_size(0, KTR_PRINT_HUMAN, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "0");
	ktr__print_duration(0, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "0s");
	ktr__print_duration(90000000000, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "90s");
	ktr__print_duration(50000000, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "50ms");
	ktr__print_duration(3600000000000, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "1h");
	ktr__print_int(-16, KTR_PRINT_HEX, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "-0x10");
	CU_ASSERT_EQUAL(ktr__print_uint(1000, 0, text, 4), -ENOSPC);
	CU_ASSERT_EQUAL(ktr__print_uint(1000, 0, text, 5), 0);
	CU_ASSERT_EQUAL(ktr__print_int(-100, 0, text, 4), -ENOSPC);
	CU_ASSERT_EQUAL(ktr__print_duration(1, 0, text, 3), -ENOSPC);
}

static void numbers_round_trip(void)
{
	uint64_t state = 1, n, back;
	int64_t signed_back;
	char text[64];

	for (unsigned i = 0; i < 200000; i++) {
		unsigned flags = random_next(&state) % 8;

		n = random_number(&state);
		if (i % 3 == 0)
			n <<= random_next(&state) % 64;
		if (i % 5 == 0)
			n = n % 1000000 * 1000000;
		CU_ASSERT_FATAL(ktr__print_uint(n, flags, text, sizeof(text)) == 0);
		CU_ASSERT_FATAL(ktr__parse_uint(text, &back, NULL) == 0 && back == n);
		CU_ASSERT_FATAL(ktr__print_int((int64_t)n, flags, text, sizeof(text)) == 0);
		CU_ASSERT_FATAL(ktr__parse_int(text, &signed_back, NULL) == 0 &&
				signed_back == (int64_t)n);
		CU_ASSERT_FATAL(ktr__print_size(n, flags, text, sizeof(text)) == 0);
		CU_ASSERT_FATAL(ktr__parse_size(text, &back, NULL) == 0 && back == n);
		CU_ASSERT_FATAL(ktr__print_duration(n, flags, text, sizeof(text)) == 0);
		CU_ASSERT_FATAL(ktr__parse_duration(text, &back, NULL) == 0 && back == n);
	}
}

SUITE(conf_number, TEST(unsigned_numbers), TEST(signed_numbers), TEST(booleans), TEST(sizes),
      TEST(durations), TEST(printed_forms), TEST(numbers_round_trip));
