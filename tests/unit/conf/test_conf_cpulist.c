/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of CPUs: every input form, what is refused, and round trips at every width. */
#include "conf/cpulist.h"
#include "test_conf.h"

#define WORDS (KTR_CPUS_MAX / 64)

static void lists_read(void)
{
	static const struct {
		const char *text;
		uint64_t bits;
	} good[] = {
		{ "0", 1 },          { "0-3,8", 0x10f },
		{ " 1 , 2 ", 6 },    { "3-3", 8 },
		{ "all", ~0ull },    { "ALL", ~0ull },
		{ " none ", 0 },     { "0xff", 0xff },
		{ "0XAB", 0xab },    { "0x0000000000000000000000001", 1 },
		{ "0-63", ~0ull },   { "0-63:4", 0x1111111111111111 },
		{ "1-2:5", 2 },      { "63", 1ull << 63 },
		{ "0-3,1-5", 0x3f }, { "007", 0x80 },
	};

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t bits = 1234;

		CU_ASSERT_EQUAL(ktr__parse_cpus(good[i].text, &bits, 64, NULL), 0);
		if (bits != good[i].bits)
			fprintf(stderr, "\"%s\": %llx\n", good[i].text, (unsigned long long)bits);
		CU_ASSERT_EQUAL(bits, good[i].bits);
	}
}

static void lists_refused(void)
{
	static const struct {
		const char *text;
		int rc;
		unsigned column;
	} bad[] = {
		{ "", -EINVAL, 1 },
		{ ",", -EINVAL, 1 },
		{ "1,", -EINVAL, 3 },
		{ ",1", -EINVAL, 1 },
		{ "1,,2", -EINVAL, 3 },
		{ "1 2", -EINVAL, 3 },
		{ "a", -EINVAL, 1 },
		{ "3-1", -EINVAL, 4 },
		{ "1-", -EINVAL, 3 },
		{ "-1", -EINVAL, 1 },
		{ "1-3:0", -EINVAL, 6 },
		{ "1-3:", -EINVAL, 5 },
		{ "1:2", -EINVAL, 2 },
		{ "8", -ERANGE, 1 },
		{ "0-8", -ERANGE, 1 },
		{ "1,4294967296", -ERANGE, 3 },
		{ "18446744073709551616", -ERANGE, 1 },
		{ "0x100", -ERANGE, 1 },
		{ "0x", -EINVAL, 3 },
		{ "0xfg", -EINVAL, 4 },
		{ "all,1", -EINVAL, 1 },
		{ "none 1", -EINVAL, 5 },
		{ "ff,1", -EINVAL, 1 },
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ktr_error err = KTR_ERROR_NONE;
		uint64_t bits = 0;
		int rc = ktr__parse_cpus(bad[i].text, &bits, 8, &err);

		if (rc != bad[i].rc || err.column != bad[i].column)
			fprintf(stderr, "\"%s\": %d at %u: %s\n", bad[i].text, rc, err.column,
				err.text);
		CU_ASSERT_EQUAL(rc, bad[i].rc);
		CU_ASSERT_EQUAL(err.column, bad[i].column);
	}
}

static void absent_cpu_is_named(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t bits;

	ktr__parse_cpus("0,12", &bits, 8, &err);
	CU_ASSERT_TRUE(
		error_says(&err, "\"12\" names a CPU that does not exist, the last one is 7"));
}

static void longest_list_fits(void)
{
	uint64_t bits[WORDS], back[WORDS];
	static char text[KTR_VALUE_BYTES];

	memset(bits, 0x55, sizeof(bits));
	CU_ASSERT_EQUAL(ktr__print_cpus(bits, KTR_CPUS_MAX, text, sizeof(text)), 0);
	CU_ASSERT_EQUAL(strlen(text), 19924);
	CU_ASSERT_EQUAL(ktr__parse_cpus(text, back, KTR_CPUS_MAX, NULL), 0);
	CU_ASSERT_EQUAL(memcmp(bits, back, sizeof(bits)), 0);
	CU_ASSERT_EQUAL(ktr__print_cpus(bits, KTR_CPUS_MAX, text, 19924), -ENOSPC);
	CU_ASSERT_EQUAL(ktr__print_cpus(bits, KTR_CPUS_MAX, text, 19925), 0);
}

static void printed_forms(void)
{
	uint64_t bits = 0x10f;
	char text[32];

	CU_ASSERT_EQUAL(ktr__print_cpus(&bits, 64, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "0-3,8");
	bits = 0xff;
	CU_ASSERT_EQUAL(ktr__print_cpus(&bits, 8, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "all");
	bits = 0;
	CU_ASSERT_EQUAL(ktr__print_cpus(&bits, 8, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "none");
	CU_ASSERT_EQUAL(ktr__print_cpus(&bits, 8, text, 4), -ENOSPC);
	bits = 1;
	CU_ASSERT_EQUAL(ktr__print_cpus(&bits, 1, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "all");
}

static void lists_round_trip(void)
{
	uint64_t bits[WORDS], back[WORDS], state = 3;
	static char text[KTR_VALUE_BYTES];

	for (unsigned i = 0; i < 3000; i++) {
		unsigned n_bits = (unsigned)(random_number(&state) % KTR_CPUS_MAX) + 1;
		unsigned words = (n_bits + 63) / 64, shape = i % 4;

		for (unsigned w = 0; w < words; w++) {
			bits[w] = shape == 0 ? random_next(&state) : shape == 1 ? 0 : ~0ull;
			if (shape == 2)
				bits[w] = random_next(&state) & random_next(&state) &
					  random_next(&state) & random_next(&state);
			if (shape == 3 && random_next(&state) % 4 == 0)
				bits[w] = 0;
		}
		if (n_bits % 64)
			bits[words - 1] &= (1ull << n_bits % 64) - 1;
		CU_ASSERT_FATAL(ktr__print_cpus(bits, n_bits, text, sizeof(text)) == 0);
		CU_ASSERT_FATAL(ktr__parse_cpus(text, back, n_bits, NULL) == 0);
		CU_ASSERT_FATAL(memcmp(bits, back, words * sizeof(*bits)) == 0);
	}
}

SUITE(conf_cpulist, TEST(lists_read), TEST(lists_refused), TEST(absent_cpu_is_named),
      TEST(longest_list_fits), TEST(printed_forms), TEST(lists_round_trip));
