/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree: registration, search, walks, rows that stand for many knobs. */
#include "test_conf.h"

static uint64_t numbers[8];

#define ROW(row_name, index)                                                                       \
	{                                                                                          \
		.name = row_name, .type = KTR_KNOB_UINT, .access = KTR_KNOB_RW,                    \
		.help = "a number", .variable = &numbers[index]                                    \
	}

static const struct ktr_knob rows_a[] = { ROW("debug.ktr.mask", 0), ROW("debug.ktr.entries", 1),
					  ROW("debug.ktrx", 2) };
static const struct ktr_knob rows_b[] = { ROW("app.workers", 3), ROW("app.depth", 4) };

/* Interfaces as somebody else's list names them: with dots, gaps, and bytes to be wary of. */
static struct named_bits cards[] = {
	{ "eth0", 0 }, { "", 0 }, { "vlan.7", 0 }, { "a b=\"\033", 0 }, { NULL, 0 }
};

static int get_lost(const struct ktr_knob_at *at, struct ktr_value *value)
{
	value->number = at->instance * 10;
	return 0;
}

static const struct ktr_knob rows_card[] = {
	{ .name = "net.card.*.lost",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_RD,
	  .help = "lost",
	  .instances = list_names,
	  .get = get_lost },
	{ .name = "net.list.*",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_RD,
	  .help = "listed",
	  .instances = list_names,
	  .get = get_lost },
};

static struct ktr_knobs table_a, table_b, table_card;
static struct ktr_conf conf;

static void fill(void)
{
	table_a = (struct ktr_knobs){ .rows = rows_a, .n_rows = 3 };
	table_b = (struct ktr_knobs){ .rows = rows_b, .n_rows = 2 };
	table_card = (struct ktr_knobs){ .rows = rows_card, .n_rows = 2, .context = cards };
	memset(&conf, 0, sizeof(conf));
	CU_ASSERT_EQUAL_FATAL(ktr_conf_register(&conf, &table_a, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ktr_conf_register(&conf, &table_b, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ktr_conf_register(&conf, &table_card, NULL), 0);
}

/* All names below prefix, each followed by a blank. */
static const char *walk(const char *prefix)
{
	static char names[1024];
	struct ktr_knob_at at;

	names[0] = '\0';
	memset(&at, 0, sizeof(at));
	while (ktr_conf_next(&conf, prefix, &at))
		sprintf(names + strlen(names), "%s ", at.name);
	return names;
}

static void walks_in_order(void)
{
	static struct ktr_conf empty;
	struct ktr_knob_at at = { 0 };

	fill();
	CU_ASSERT_STRING_EQUAL(walk(NULL),
			       "debug.ktr.mask debug.ktr.entries debug.ktrx app.workers app.depth "
			       "net.card.eth0.lost net.card.vlan.7.lost net.card.a?b???.lost "
			       "net.list.eth0 net.list.vlan.7 net.list.a?b??? ");
	CU_ASSERT_STRING_EQUAL(walk(NULL), walk(""));
	CU_ASSERT_STRING_EQUAL(walk("debug.ktr"), "debug.ktr.mask debug.ktr.entries ");
	CU_ASSERT_STRING_EQUAL(walk("debug"), "debug.ktr.mask debug.ktr.entries debug.ktrx ");
	CU_ASSERT_STRING_EQUAL(walk("debug.ktr.mask"), "debug.ktr.mask ");
	CU_ASSERT_STRING_EQUAL(walk("debug.kt"), "");
	CU_ASSERT_STRING_EQUAL(walk("net.card.vlan"), "net.card.vlan.7.lost ");
	CU_ASSERT_EQUAL(ktr_conf_next(&empty, NULL, &at), 0);
}

static void found_by_name(void)
{
	struct ktr_knob_at at;

	fill();
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "debug.ktr.entries", &at, NULL), 0);
	CU_ASSERT_PTR_EQUAL(at.knob, &rows_a[1]);
	CU_ASSERT_PTR_EQUAL(at.table, &table_a);
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "net.card.vlan.7.lost", &at, NULL), 0);
	CU_ASSERT_PTR_EQUAL(at.knob, &rows_card[0]);
	CU_ASSERT_EQUAL(at.instance, 2);
	CU_ASSERT_STRING_EQUAL(at.name, "net.card.vlan.7.lost");
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "net.list.eth0", &at, NULL), 0);
	CU_ASSERT_PTR_EQUAL(at.knob, &rows_card[1]);
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "net.card.*.lost", &at, NULL), -ENOENT);
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "net.card..lost", &at, NULL), -ENOENT);
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "net.card.eth0", &at, NULL), -ENOENT);
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "", &at, NULL), -ENOENT);
}

static void unknown_names_offer_the_nearest(void)
{
	static const char *const pairs[][2] = {
		{ "debug.ktr.masc",
		  "unknown knob \"debug.ktr.masc\", the nearest is \"debug.ktr.mask\"" },
		{ "mask", "the nearest is \"debug.ktr.mask\"" },
		{ "net.card.eht0.lost", "the nearest is \"net.card.eth0.lost\"" },
		{ "kern.ostype", "unknown knob \"kern.ostype\"" },
	};
	struct ktr_knob_at at;

	fill();
	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct ktr_error err = KTR_ERROR_NONE;

		CU_ASSERT_EQUAL(ktr_conf_find(&conf, pairs[i][0], &at, &err), -ENOENT);
		CU_ASSERT_EQUAL(err.code, ENOENT);
		CU_ASSERT_TRUE(error_says(&err, pairs[i][1]));
	}
	{
		struct ktr_error err = KTR_ERROR_NONE;

		ktr_conf_find(&conf, "kern.ostype", &at, &err);
		CU_ASSERT_PTR_NULL(strstr(err.text, "nearest"));
	}
}

static void names_are_taken_once(void)
{
	struct ktr_knobs again = { .rows = rows_b, .n_rows = 2 };
	static const struct ktr_knob twice[] = { ROW("x.y", 0), ROW("x.y", 1) };
	struct ktr_knobs doubled = { .rows = twice, .n_rows = 2 }, empty = { .rows = twice };
	struct ktr_error err = KTR_ERROR_NONE;

	fill();
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &again, &err), -EEXIST);
	CU_ASSERT_TRUE(error_says(&err, "app.workers is registered already"));
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &doubled, NULL), -EEXIST);
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &table_a, NULL), -EEXIST);
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &table_card, NULL), -EEXIST);
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &empty, NULL), 0);
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &empty, NULL), -EEXIST);
	CU_ASSERT_EQUAL(ktr_conf_unregister(&conf, &empty), 0);
	CU_ASSERT_EQUAL(ktr_conf_unregister(&conf, &again), -ENOENT);
	CU_ASSERT_EQUAL(ktr_conf_unregister(&conf, &table_b), 0);
	CU_ASSERT_STRING_EQUAL(walk("app"), "");
	CU_ASSERT_STRING_EQUAL(walk("net.list"), "net.list.eth0 net.list.vlan.7 net.list.a?b??? ");
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &again, NULL), 0);
	CU_ASSERT_STRING_EQUAL(walk("app"), "app.workers app.depth ");
}

static int set_nothing(const struct ktr_knob_at *at, const struct ktr_value *value,
		       struct ktr_error *err)
{
	(void)at, (void)value, (void)err;
	return 0;
}

static void rows_must_be_well_formed(void)
{
	static char text[8];
	static const struct ktr_knob bad[] = {
		{ .type = KTR_KNOB_UINT, .access = KTR_KNOB_RD, .variable = numbers },
		{ .name = "", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RD, .variable = numbers },
		{ .name = ".a", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RD, .variable = numbers },
		{ .name = "a.", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RD, .variable = numbers },
		{ .name = "a..b",
		  .type = KTR_KNOB_UINT,
		  .access = KTR_KNOB_RD,
		  .variable = numbers },
		{ .name = "a b",
		  .type = KTR_KNOB_UINT,
		  .access = KTR_KNOB_RD,
		  .variable = numbers },
		{ .name = "a=b",
		  .type = KTR_KNOB_UINT,
		  .access = KTR_KNOB_RD,
		  .variable = numbers },
		{ .name = "a", .type = 0, .access = KTR_KNOB_RD, .variable = numbers },
		{ .name = "a", .type = KTR_KNOB_TEXT + 1, .access = KTR_KNOB_RD, .get = get_lost },
		{ .name = "a", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RD },
		{ .name = "a", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RW, .get = get_lost },
		{ .name = "a", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RW, .set = set_nothing },
		{ .name = "a", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RDTUN, .get = get_lost },
		{ .name = "a.*", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RD, .get = get_lost },
		{ .name = "a.*.*",
		  .type = KTR_KNOB_UINT,
		  .access = KTR_KNOB_RD,
		  .get = get_lost,
		  .instances = list_names },
		{ .name = "a*.b",
		  .type = KTR_KNOB_UINT,
		  .access = KTR_KNOB_RD,
		  .get = get_lost,
		  .instances = list_names },
		{ .name = "a",
		  .type = KTR_KNOB_UINT,
		  .access = KTR_KNOB_RD,
		  .get = get_lost,
		  .instances = list_names },
		{ .name = "a", .type = KTR_KNOB_CHOICE, .access = KTR_KNOB_RD, .get = get_lost },
		{ .name = "a", .type = KTR_KNOB_STRING, .access = KTR_KNOB_RD, .variable = text },
		{ .name = "a",
		  .type = KTR_KNOB_STRING,
		  .access = KTR_KNOB_RD,
		  .variable = text,
		  .max = KTR_KNOB_STRING_BYTES },
		{ .name = "a",
		  .type = KTR_KNOB_CPUS,
		  .access = KTR_KNOB_RD,
		  .get = get_lost,
		  .max = KTR_CPUS_MAX + 1 },
		{ .name = "a",
		  .type = KTR_KNOB_TEXT,
		  .access = KTR_KNOB_RW,
		  .get = get_lost,
		  .set = set_nothing },
		{ .name = "a",
		  .type = KTR_KNOB_TEXT,
		  .access = KTR_KNOB_RD,
		  .variable = text,
		  .max = 7 },
		{ .name = "a23456789.123456789.123456789.123456789.123456789.123456789.123456789."
			  "123456789.123456789.123456789.123456789.123456789.12345678",
		  .type = KTR_KNOB_UINT,
		  .access = KTR_KNOB_RD,
		  .variable = numbers },
	};
	struct ktr_conf tree = { NULL };

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ktr_knobs table = { .rows = &bad[i], .n_rows = 1 };
		struct ktr_error err = KTR_ERROR_NONE;
		int rc = ktr_conf_register(&tree, &table, &err);

		if (rc != -EINVAL)
			fprintf(stderr, "row %u is taken: %d\n", i, rc);
		CU_ASSERT_EQUAL(rc, -EINVAL);
		CU_ASSERT_TRUE(error_says(&err, "knob row 0"));
		CU_ASSERT_PTR_NULL(tree.tables);
	}
}

static void overlong_instance_names_are_passed_over(void)
{
	static struct named_bits list[] = { { NULL, 0 }, { "short", 0 }, { NULL, 0 } };
	static char name[200];
	struct ktr_knobs table = { .rows = rows_card, .n_rows = 1, .context = list };
	struct ktr_knob_at at;

	memset(name, 'n', sizeof(name) - 1);
	list[0].name = name;
	memset(&conf, 0, sizeof(conf));
	CU_ASSERT_EQUAL(ktr_conf_register(&conf, &table, NULL), 0);
	CU_ASSERT_STRING_EQUAL(walk("net"), "net.card.short.lost ");
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "net.card.short.lost", &at, NULL), 0);
	CU_ASSERT_EQUAL(at.instance, 1);
}

SUITE(conf_tree, TEST(walks_in_order), TEST(found_by_name), TEST(unknown_names_offer_the_nearest),
      TEST(names_are_taken_once), TEST(rows_must_be_well_formed),
      TEST(overlong_instance_names_are_passed_over));
