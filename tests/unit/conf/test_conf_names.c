/* SPDX-License-Identifier: BSD-2-Clause */
/* Masks and choices by name: FreeBSD's classes, lists made to confuse, and round trips. */
#include "conf/names.h"
#include "test_conf.h"

static struct named_bits classes[] = {
	{ "GEN", 1ull << 0 },
	{ "NET", 1ull << 1 },
	{ "DEV", 1ull << 2 },
	{ "LOCK", 1ull << 3 },
	{ "SMP", 1ull << 4 },
	{ "SUBSYS", 1ull << 5 },
	{ "PMAP", 1ull << 6 },
	{ "MALLOC", 1ull << 7 },
	{ "", 0 },
	{ "TRAP", 1ull << 8 },
	{ "PROC", 1ull << 12 },
	{ "SCHED", 1ull << 29 },
	{ "PTRACE", 1ull << 31 },
	{ "my.class", 1ull << 32 },
	{ "KTR_odd", 1ull << 33 },
	{ "threads", 0x20001000 },
	{ NULL, 0 },
};

#define ALL 0x3a00011ffull

static int parse(const char *text, uint64_t current, uint64_t *mask, struct ktr_error *err)
{
	return ktr__parse_mask(text, list_names, classes, current, mask, err);
}

static void masks_read(void)
{
	static const struct {
		const char *text;
		uint64_t current;
		uint64_t mask;
	} good[] = {
		{ "sched|lock", 0xff, 0x20000008 },
		{ "SCHED,LOCK", 0, 0x20000008 },
		{ "KTR_SCHED", 0, 0x20000000 },
		{ "ktr_sched KTR_lock", 0, 0x20000008 },
		{ " sched | lock ", 0, 0x20000008 },
		{ "none", 0xff, 0 },
		{ "all", 0, ALL },
		{ "KTR_ALL", 0, ALL },
		{ "all,-malloc", 0, ALL & ~0x80ull },
		{ "all -malloc -net", 0, ALL & ~0x82ull },
		{ "+net", 0x8, 0xa },
		{ "-lock", 0xa, 2 },
		{ "-lock,+gen", 0xa, 3 },
		{ "net,-net", 0xff, 0 },
		{ "0x8", 0, 8 },
		{ "8|net", 0, 10 },
		{ "010", 0, 8 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "+0x100", 1, 0x101 },
		{ "my.class", 0, 1ull << 32 },
		{ "odd", 0, 1ull << 33 },
		{ "KTR_odd", 0, 1ull << 33 },
		{ "threads", 0, 0x20001000 },
		{ "0", 5, 0 },
		{ "none,+net", 5, 2 },
		{ "-all", 5, 0 },
	};

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t mask = 77;
		int rc = parse(good[i].text, good[i].current, &mask, NULL);

		if (rc || mask != good[i].mask)
			fprintf(stderr, "\"%s\": %d, %llx\n", good[i].text, rc,
				(unsigned long long)mask);
		CU_ASSERT_EQUAL(rc, 0);
		CU_ASSERT_EQUAL(mask, good[i].mask);
	}
}

static void masks_refused(void)
{
	static const struct {
		const char *text;
		int rc;
		unsigned column;
		const char *says;
	} bad[] = {
		{ "", -EINVAL, 1, "a name is missing" },
		{ "  ", -EINVAL, 3, "a name is missing" },
		{ "net|", -EINVAL, 4, "a name is missing" },
		{ "|net", -EINVAL, 1, "missing" },
		{ "net||lock", -EINVAL, 5, "missing" },
		{ "net, ,lock", -EINVAL, 6, "missing" },
		{ "+ net", -EINVAL, 2, "missing" },
		{ "shed", -EINVAL, 1, "the nearest is \"SCHED\"" },
		{ "net|lokc", -EINVAL, 5, "the nearest is \"LOCK\"" },
		{ "KTR_SHED", -EINVAL, 1, "unknown name \"SHED\", the nearest is \"SCHED\"" },
		{ "net,-maloc", -EINVAL, 6, "the nearest is \"MALLOC\"" },
		{ "zzz", -EINVAL, 1, "unknown name \"zzz\"" },
		{ "8x", -EINVAL, 1, "unknown name" },
		{ "net|18446744073709551616", -ERANGE, 5, "64 bits" },
		{ "net;lock", -EINVAL, 1, "unknown name" },
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ktr_error err = KTR_ERROR_NONE;
		uint64_t mask = 77;
		int rc = parse(bad[i].text, 0, &mask, &err);

		if (rc != bad[i].rc || err.column != bad[i].column)
			fprintf(stderr, "\"%s\": %d at %u: %s\n", bad[i].text, rc, err.column,
				err.text);
		CU_ASSERT_EQUAL(rc, bad[i].rc);
		CU_ASSERT_EQUAL(err.column, bad[i].column);
		CU_ASSERT_TRUE(error_says(&err, bad[i].says));
		CU_ASSERT_EQUAL(mask, 77);
		CU_ASSERT_EQUAL(parse(bad[i].text, 0, &mask, NULL), bad[i].rc);
	}
}

static void no_suggestion_when_nothing_is_near(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t mask;

	parse("zzzzzz", 0, &mask, &err);
	CU_ASSERT_PTR_NULL(strstr(err.text, "nearest"));
}

static void masks_print(void)
{
	char text[256];

	ktr__print_mask(0x20000008, list_names, classes, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "LOCK|SCHED");
	ktr__print_mask(0x20000808, list_names, classes, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "LOCK|SCHED|0x800");
	ktr__print_mask(0, list_names, classes, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "none");
	ktr__print_mask(ALL, list_names, classes, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "all");
	ktr__print_mask(ALL & ~0x82ull, list_names, classes, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "all,-NET,-MALLOC");
	ktr__print_mask(0x800, list_names, classes, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "0x800");
	ktr__print_mask(0x800, list_names, classes, KTR_PRINT_NUMBER, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "2048");
	ktr__print_mask(0x8, list_names, classes, KTR_PRINT_HEX, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "0x8");
	ktr__print_mask(0x8, NULL, NULL, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "8");
	CU_ASSERT_EQUAL(ktr__print_mask(0xa, list_names, classes, 0, text, 8), -ENOSPC);
	CU_ASSERT_EQUAL(ktr__print_mask(0xa, list_names, classes, 0, text, 9), 0);
	CU_ASSERT_STRING_EQUAL(text, "NET|LOCK");
}

static void all_may_be_defined_by_the_list(void)
{
	static struct named_bits list[] = {
		{ "all", 0xf }, { "a", 1 }, { "b", 0x100 }, { NULL, 0 }
	};
	uint64_t mask;
	char text[64];

	CU_ASSERT_EQUAL(ktr__parse_mask("all", list_names, list, 0, &mask, NULL), 0);
	CU_ASSERT_EQUAL(mask, 0xf);
	ktr__print_mask(0xf, list_names, list, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "all");
	ktr__print_mask(0x10f, list_names, list, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "all|b");
	ktr__print_mask(0x307, list_names, list, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "all,-0x8|b|0x200");
	ktr__print_mask(0x103, list_names, list, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "a|b|0x2");
}

/* Names that would read back as something else: each must print as a number. */
static struct named_bits confusing[] = {
	{ "none", 1 },          { "all", 2 },          { "12", 4 },         { "0x3", 8 },
	{ "a b", 16 },          { "a|b", 32 },         { "-c", 64 },        { "+d", 128 },
	{ "Foo", 256 },         { "foo", 512 },        { "KTR_foo", 1024 }, { "bar", 2048 },
	{ "bar", 4096 },        { "tab\there", 8192 }, { "\"q", 16384 },    { "KTR_", 32768 },
	{ "e\x80\xff", 65536 }, { "0", 1 << 17 },      { "x=y#", 1 << 18 }, { NULL, 0 },
};

static void confusing_names_give_way_to_numbers(void)
{
	uint64_t back;
	char text[512];

	for (unsigned i = 0; i < 64; i++) {
		uint64_t mask = 1ull << i;

		CU_ASSERT_EQUAL(ktr__print_mask(mask, list_names, confusing, 0, text, sizeof(text)),
				0);
		CU_ASSERT_EQUAL(ktr__parse_mask(text, list_names, confusing, 0, &back, NULL), 0);
		CU_ASSERT_EQUAL(back, mask);
	}
	ktr__print_mask(0x300, list_names, confusing, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "Foo|foo");
	ktr__print_mask(0x1800, list_names, confusing, 0, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "bar|0x1000");
}

static void masks_round_trip(void)
{
	static struct named_bits *const lists[] = { classes, confusing };
	uint64_t state = 4, mask, back, current;
	char text[1024];

	for (unsigned i = 0; i < 40000; i++) {
		struct named_bits *list = lists[i & 1];
		unsigned flags = random_next(&state) % 4 == 0 ? random_next(&state) % 8 : 0;

		mask = random_next(&state);
		if (i & 2)
			mask &= list == classes ? ALL : 0x7ffff;
		if (i & 4)
			mask |= random_next(&state) & (list == classes ? ALL : 0x7ffff);
		if (i & 8)
			mask &= random_next(&state) & random_next(&state);
		current = random_next(&state);
		CU_ASSERT_FATAL(
			ktr__print_mask(mask, list_names, list, flags, text, sizeof(text)) == 0);
		CU_ASSERT_FATAL(ktr__parse_mask(text, list_names, list, current, &back, NULL) == 0);
		CU_ASSERT_FATAL(back == mask);
	}
}

static void choices(void)
{
	static struct named_bits list[] = {
		{ "every", 1 }, { "switch", 8 }, { "", 0 }, { "off", 0 }, { NULL, 0 }
	};
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t number;
	char text[32];

	CU_ASSERT_EQUAL(ktr__parse_choice(" Switch ", list_names, list, &number, NULL), 0);
	CU_ASSERT_EQUAL(number, 8);
	CU_ASSERT_EQUAL(ktr__parse_choice("0x8", list_names, list, &number, NULL), 0);
	CU_ASSERT_EQUAL(number, 8);
	CU_ASSERT_EQUAL(ktr__parse_choice("0", list_names, list, &number, NULL), 0);
	CU_ASSERT_EQUAL(number, 0);
	CU_ASSERT_EQUAL(ktr__parse_choice("2", list_names, list, &number, NULL), -EINVAL);
	CU_ASSERT_EQUAL(ktr__parse_choice("", list_names, list, &number, NULL), -EINVAL);
	CU_ASSERT_EQUAL(ktr__parse_choice("every switch", list_names, list, &number, NULL),
			-EINVAL);
	CU_ASSERT_EQUAL(ktr__parse_choice("swtich", list_names, list, &number, &err), -EINVAL);
	CU_ASSERT_TRUE(error_says(&err, "unknown name \"swtich\", the nearest is \"switch\""));
	CU_ASSERT_EQUAL(ktr__print_choice(8, list_names, list, 0, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "switch");
	CU_ASSERT_EQUAL(ktr__print_choice(8, list_names, list, KTR_PRINT_NUMBER, text, 2), 0);
	CU_ASSERT_STRING_EQUAL(text, "8");
	CU_ASSERT_EQUAL(ktr__print_choice(9, list_names, list, 0, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "9");
	CU_ASSERT_EQUAL(ktr__print_choice(8, list_names, list, 0, text, 6), -ENOSPC);
}

SUITE(conf_names, TEST(masks_read), TEST(masks_refused), TEST(no_suggestion_when_nothing_is_near),
      TEST(masks_print), TEST(all_may_be_defined_by_the_list),
      TEST(confusing_names_give_way_to_numbers), TEST(masks_round_trip), TEST(choices));
