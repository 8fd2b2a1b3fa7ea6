/* SPDX-License-Identifier: BSD-2-Clause */
/* One knob of each type: read, written, refused, and where its value came from. */
#include "test_conf.h"

#include <unistd.h>

static struct named_bits classes[] = { { "net", 2 },       { "lock", 8 },        { "malloc", 0x80 },
				       { "proc", 0x1000 }, { "sched", 1 << 29 }, { NULL, 0 } };

/* What the rows stand for. */
static struct {
	int flag;
	int64_t level;
	uint64_t count, bytes, delay, mask, mode;
	char path[16];
	uint64_t cpus[1];
	uint64_t start_only, run_only, write_only;
	uint64_t handled;
	unsigned origin, n_sets;
} v;

static int get_handled(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	value->number = v.handled;
	return 0;
}

/* Takes even numbers, refuses 13 without a word, every other odd one with a sentence. */
static int set_handled(const struct ktr_knob_at *at, const struct ktr_value *value,
		       struct ktr_error *err)
{
	if (value->number == 13)
		return -EBUSY;
	if (value->number & 1)
		return ktr_error_set(err, EBUSY, "%u is odd", (unsigned)value->number);
	v.handled = value->number;
	v.origin = at->origin;
	v.n_sets++;
	return 0;
}

static int get_broken(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at, (void)value;
	return -EIO;
}

static int get_text(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	return (size_t)snprintf(value->text, value->text_size, "line 1\nline 2\n") <
			       value->text_size
		       ? 0
		       : -ENOSPC;
}

/* A machine of 4 CPUs: the row cannot know, the handler does. */
static int get_some_cpus(const struct ktr_knob_at *at, struct ktr_value *value)
{
	(void)at;
	value->n_bits = 4;
	value->bits[0] = v.cpus[0] & 15;
	return 0;
}

static int set_some_cpus(const struct ktr_knob_at *at, const struct ktr_value *value,
			 struct ktr_error *err)
{
	(void)at, (void)err;
	v.cpus[0] = value->bits[0];
	return 0;
}

#define RWT KTR_KNOB_RWTUN

static const struct ktr_knob rows[] = {
	{ .name = "t.flag", .type = KTR_KNOB_BOOL, .access = RWT, .variable = &v.flag },
	{ .name = "t.level",
	  .type = KTR_KNOB_INT,
	  .access = RWT,
	  .min = -5,
	  .max = 5,
	  .variable = &v.level },
	{ .name = "t.count",
	  .type = KTR_KNOB_UINT,
	  .access = RWT,
	  .variable = &v.count,
	  .min = 64,
	  .max = 8192,
	  .unit = "entries" },
	{ .name = "t.bytes", .type = KTR_KNOB_SIZE, .access = RWT, .variable = &v.bytes },
	{ .name = "t.delay",
	  .type = KTR_KNOB_DURATION,
	  .access = RWT,
	  .min = 1000,
	  .variable = &v.delay },
	{ .name = "t.path", .type = KTR_KNOB_STRING, .access = RWT, .max = 15, .variable = v.path },
	{ .name = "t.mask",
	  .type = KTR_KNOB_MASK,
	  .access = RWT,
	  .names = list_names,
	  .max = 0xffffffff,
	  .variable = &v.mask },
	{ .name = "t.mode",
	  .type = KTR_KNOB_CHOICE,
	  .access = RWT,
	  .names = list_names,
	  .variable = &v.mode },
	{ .name = "t.cpus", .type = KTR_KNOB_CPUS, .access = RWT, .max = 8, .variable = v.cpus },
	{ .name = "t.version", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RD, .variable = &v.count },
	{ .name = "t.start_only",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_RDTUN,
	  .variable = &v.start_only },
	{ .name = "t.run_only",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_RW,
	  .variable = &v.run_only },
	{ .name = "t.write_only",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_WR,
	  .variable = &v.write_only },
	{ .name = "t.handled",
	  .type = KTR_KNOB_UINT,
	  .access = RWT,
	  .get = get_handled,
	  .set = set_handled },
	{ .name = "t.broken", .type = KTR_KNOB_UINT, .access = KTR_KNOB_RD, .get = get_broken },
	{ .name = "t.text", .type = KTR_KNOB_TEXT, .access = KTR_KNOB_RD, .get = get_text },
	{ .name = "t.some_cpus",
	  .type = KTR_KNOB_CPUS,
	  .access = RWT,
	  .get = get_some_cpus,
	  .set = set_some_cpus },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static struct ktr_origin origins[N_ROWS];
static struct ktr_knobs table;
static struct ktr_conf conf;
static char text[KTR_VALUE_BYTES];

static void begin(void)
{
	memset(&v, 0, sizeof(v));
	memset(origins, 0, sizeof(origins));
	memset(&conf, 0, sizeof(conf));
	table = (struct ktr_knobs){
		.rows = rows, .n_rows = N_ROWS, .context = classes, .origins = origins
	};
	CU_ASSERT_EQUAL_FATAL(ktr_conf_register(&conf, &table, NULL), 0);
}

static const char *get(const char *name)
{
	CU_ASSERT_EQUAL(ktr_conf_get(&conf, name, text, sizeof(text), NULL), 0);
	return text;
}

static int set_as(const char *name, const char *value, unsigned kind, struct ktr_error *err)
{
	struct ktr_origin origin;
	struct ktr_knob_at at;
	int rc = ktr_conf_find(&conf, name, &at, err);

	ktr_origin_set(&origin, kind, "/etc/ktr/loader.conf", 3);
	return rc ? rc : ktr_knob_write(&at, value, &origin, err);
}

static void each_type_is_set_and_read(void)
{
	static const char *const triples[][3] = {
		{ "t.flag", "yes", "1" },
		{ "t.level", "-0x5", "-5" },
		{ "t.count", "0x40", "64" },
		{ "t.bytes", "1.5K", "1536" },
		{ "t.delay", "0.05s", "50ms" },
		{ "t.path", "/tmp/x", "/tmp/x" },
		{ "t.path", "\"a\\n\"", "\"a\\n\"" },
		{ "t.mask", "SCHED|0x8", "lock|sched" },
		{ "t.mask", "+net", "net|lock|sched" },
		{ "t.mask", "-lock", "net|sched" },
		{ "t.mode", "proc", "proc" },
		{ "t.cpus", "0-2,7", "0-2,7" },
		{ "t.cpus", "0xff", "all" },
		{ "t.some_cpus", "0,2", "0,2" },
		{ "t.some_cpus", "all", "all" },
		{ "t.handled", "12", "12" },
	};

	begin();
	for (unsigned i = 0; i < sizeof(triples) / sizeof(triples[0]); i++) {
		struct ktr_error err = KTR_ERROR_NONE;

		CU_ASSERT_EQUAL(ktr_conf_set(&conf, triples[i][0], triples[i][1], &err), 0);
		CU_ASSERT_EQUAL(err.code, 0);
		CU_ASSERT_STRING_EQUAL(get(triples[i][0]), triples[i][2]);
	}
	CU_ASSERT_EQUAL(v.flag, 1);
	CU_ASSERT_EQUAL(v.level, -5);
	CU_ASSERT_EQUAL(v.bytes, 1536);
	CU_ASSERT_EQUAL(v.delay, 50000000);
	CU_ASSERT_STRING_EQUAL(v.path, "a\n");
	CU_ASSERT_EQUAL(v.mask, 0x20000002);
	CU_ASSERT_EQUAL(v.cpus[0], 15);
	CU_ASSERT_STRING_EQUAL(get("t.text"), "line 1\nline 2\n");
}

static void other_forms_of_printing(void)
{
	struct ktr_knob_at at;

	begin();
	ktr_conf_set(&conf, "t.mask", "sched", NULL);
	ktr_conf_find(&conf, "t.mask", &at, NULL);
	CU_ASSERT_EQUAL(ktr_knob_read(&at, KTR_PRINT_HEX, text, sizeof(text), NULL), 0);
	CU_ASSERT_STRING_EQUAL(text, "0x20000000");
	CU_ASSERT_EQUAL(ktr_knob_read(&at, KTR_PRINT_NUMBER, text, sizeof(text), NULL), 0);
	CU_ASSERT_STRING_EQUAL(text, "536870912");
	ktr_conf_set(&conf, "t.bytes", "4M", NULL);
	ktr_conf_find(&conf, "t.bytes", &at, NULL);
	CU_ASSERT_EQUAL(ktr_knob_read(&at, KTR_PRINT_HUMAN, text, sizeof(text), NULL), 0);
	CU_ASSERT_STRING_EQUAL(text, "4M");
}

/* One clear sentence for each kind of mistake; the old value stands. */
static void mistakes(void)
{
	static const struct {
		const char *name, *value;
		int rc;
		unsigned column;
		const char *says;
	} bad[] = {
		{ "t.cuont", "1", -ENOENT, 0,
		  "unknown knob \"t.cuont\", the nearest is \"t.count\"" },
		{ "t.version", "3", -EPERM, 0, "t.version is read-only" },
		{ "t.text", "3", -EPERM, 0, "t.text is read-only" },
		{ "t.start_only", "3", -EPERM, 0, "t.start_only cannot be set at run time" },
		{ "t.flag", "maybe", -EINVAL, 1, "t.flag: \"maybe\" is not 0, 1, yes" },
		{ "t.count", "many", -EINVAL, 1, "t.count: \"many\" is not a number" },
		{ "t.count", "12 34", -EINVAL, 4, "t.count: \"12 34\" is not a number" },
		{ "t.count", "63", -ERANGE, 0, "t.count: 63 is below the least, 64 entries" },
		{ "t.count", "8193", -ERANGE, 0,
		  "t.count: 8193 is above the greatest, 8192 entries" },
		{ "t.count", "-1", -ERANGE, 1, "t.count: \"-1\" is below 0" },
		{ "t.level", "-6", -ERANGE, 0, "t.level: -6 is below the least, -5" },
		{ "t.level", "6", -ERANGE, 0, "t.level: 6 is above the greatest, 5" },
		{ "t.bytes", "1 apple", -EINVAL, 3, "t.bytes: \"1 apple\" is not a size" },
		{ "t.bytes", "99999999E", -ERANGE, 1, "does not fit in 64 bits" },
		{ "t.delay", "1 fortnight", -EINVAL, 3, "is not a duration" },
		{ "t.delay", "999ns", -ERANGE, 0, "t.delay: 999ns is below the least, 1us" },
		{ "t.path", "0123456789abcdef", -ERANGE, 0, "t.path: longer than 15 bytes" },
		{ "t.path", "\"x", -EINVAL, 3, "t.path: the closing quote is missing" },
		{ "t.mask", "net|shed", -EINVAL, 5,
		  "t.mask: unknown name \"shed\", the nearest is "
		  "\"sched\"" },
		{ "t.mask", "0x100000008", -ERANGE, 0, "t.mask: bits 0x100000000 cannot be set" },
		{ "t.mode", "prok", -EINVAL, 1, "unknown name \"prok\", the nearest is \"proc\"" },
		{ "t.cpus", "0-8", -ERANGE, 1,
		  "names a CPU that does not exist, the last one is 7" },
		{ "t.cpus", "x", -EINVAL, 1, "is not a CPU list" },
		{ "t.some_cpus", "4", -ERANGE, 1, "the last one is 3" },
		{ "t.handled", "5", -EBUSY, 0, "t.handled: 5 is odd" },
		{ "t.handled", "13", -EBUSY, 0, "t.handled: Device or resource busy" },
	};
	struct ktr_error err;

	begin();
	v.count = 100;
	v.mask = 8;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ktr_error_clear(&err);
		CU_ASSERT_EQUAL(ktr_conf_set(&conf, bad[i].name, bad[i].value, &err), bad[i].rc);
		CU_ASSERT_EQUAL(err.code, -bad[i].rc);
		CU_ASSERT_EQUAL(err.column, bad[i].column);
		CU_ASSERT_TRUE(error_says(&err, bad[i].says));
		CU_ASSERT_EQUAL(ktr_conf_set(&conf, bad[i].name, bad[i].value, NULL), bad[i].rc);
	}
	CU_ASSERT_EQUAL(v.count, 100);
	CU_ASSERT_EQUAL(v.mask, 8);
	CU_ASSERT_EQUAL(v.handled, 0);
	CU_ASSERT_EQUAL(v.n_sets, 0);
	for (unsigned i = 0; i < N_ROWS; i++)
		CU_ASSERT_EQUAL(origins[i].kind, KTR_ORIGIN_DEFAULT);
}

static void reading_mistakes(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_knob_at at;

	begin();
	CU_ASSERT_EQUAL(ktr_conf_get(&conf, "t.write_only", text, sizeof(text), &err), -EPERM);
	CU_ASSERT_TRUE(error_says(&err, "t.write_only is write-only"));
	CU_ASSERT_EQUAL(ktr_conf_set(&conf, "t.write_only", "4", NULL), 0);
	CU_ASSERT_EQUAL(v.write_only, 4);
	ktr_error_clear(&err);
	CU_ASSERT_EQUAL(ktr_conf_get(&conf, "t.broken", text, sizeof(text), &err), -EIO);
	CU_ASSERT_TRUE(error_says(&err, "t.broken: Input/output error"));
	v.count = 12345;
	CU_ASSERT_EQUAL(ktr_conf_get(&conf, "t.count", text, 5, NULL), -ENOSPC);
	CU_ASSERT_EQUAL(ktr_conf_get(&conf, "t.count", text, 6, NULL), 0);
	CU_ASSERT_EQUAL(ktr_conf_get(&conf, "t.count", text, 0, NULL), -ENOSPC);
	CU_ASSERT_EQUAL(ktr_conf_get(&conf, "t.text", text, 14, NULL), -ENOSPC);
	CU_ASSERT_EQUAL(ktr_conf_get(&conf, "nothing", text, 14, NULL), -ENOENT);
	CU_ASSERT_EQUAL(ktr_conf_find(&conf, "t.broken", &at, NULL), 0);
}

static void rank_of_origins(void)
{
	struct ktr_error err = KTR_ERROR_NONE;

	begin();
	CU_ASSERT_EQUAL(set_as("t.bytes", "1", KTR_ORIGIN_FILE, NULL), 0);
	CU_ASSERT_EQUAL(set_as("t.bytes", "2", KTR_ORIGIN_FILE, NULL), 0);
	CU_ASSERT_EQUAL(set_as("t.bytes", "3", KTR_ORIGIN_ENVIRONMENT, NULL), 0);
	CU_ASSERT_EQUAL(set_as("t.bytes", "4", KTR_ORIGIN_FILE, &err), 1);
	CU_ASSERT_EQUAL(err.code, 0);
	CU_ASSERT_EQUAL(v.bytes, 3);
	CU_ASSERT_EQUAL(set_as("t.bytes", "5", KTR_ORIGIN_API, NULL), 0);
	CU_ASSERT_EQUAL(set_as("t.bytes", "6", KTR_ORIGIN_ENVIRONMENT, NULL), 1);
	CU_ASSERT_EQUAL(v.bytes, 5);
	CU_ASSERT_EQUAL(set_as("t.bytes", "7", KTR_ORIGIN_SYSCTL, NULL), 0);
	CU_ASSERT_EQUAL(set_as("t.bytes", "8", KTR_ORIGIN_FILE, NULL), 1);
	CU_ASSERT_EQUAL(v.bytes, 7);
	CU_ASSERT_EQUAL(set_as("t.bytes", "9", KTR_ORIGIN_API, NULL), 0);
	CU_ASSERT_EQUAL(v.bytes, 9);
}

static void what_may_be_set_when(void)
{
	struct ktr_error err = KTR_ERROR_NONE;

	begin();
	CU_ASSERT_EQUAL(set_as("t.start_only", "1", KTR_ORIGIN_FILE, NULL), 0);
	CU_ASSERT_EQUAL(set_as("t.start_only", "2", KTR_ORIGIN_ENVIRONMENT, NULL), 0);
	CU_ASSERT_EQUAL(set_as("t.start_only", "3", KTR_ORIGIN_SYSCTL, NULL), -EPERM);
	CU_ASSERT_EQUAL(v.start_only, 2);
	CU_ASSERT_EQUAL(set_as("t.run_only", "1", KTR_ORIGIN_FILE, &err), -EPERM);
	CU_ASSERT_TRUE(error_says(&err, "t.run_only cannot be set at start, only at run time"));
	CU_ASSERT_EQUAL(set_as("t.run_only", "1", KTR_ORIGIN_SYSCTL, NULL), 0);
	CU_ASSERT_EQUAL(v.run_only, 1);
	ktr_error_clear(&err);
	CU_ASSERT_EQUAL(set_as("t.version", "1", KTR_ORIGIN_FILE, &err), -EPERM);
	CU_ASSERT_TRUE(error_says(&err, "t.version is read-only"));
	CU_ASSERT_EQUAL(set_as("t.handled", "2", KTR_ORIGIN_ENVIRONMENT, NULL), 0);
	CU_ASSERT_EQUAL(v.origin, KTR_ORIGIN_ENVIRONMENT);
}

static const char *origin_of(const char *name)
{
	static char line[200];
	struct ktr_origin origin;
	struct ktr_knob_at at;

	CU_ASSERT_EQUAL(ktr_conf_find(&conf, name, &at, NULL), 0);
	ktr_knob_origin(&at, &origin);
	return ktr_origin_print(&origin, line, sizeof(line));
}

static void origins_print(void)
{
	struct ktr_origin origin;
	char line[200], path[300];

	begin();
	CU_ASSERT_STRING_EQUAL(origin_of("t.bytes"), "default");
	set_as("t.bytes", "1", KTR_ORIGIN_FILE, NULL);
	CU_ASSERT_STRING_EQUAL(origin_of("t.bytes"), "/etc/ktr/loader.conf:3");
	CU_ASSERT_STRING_EQUAL(origin_of("t.count"), "default");
	ktr_conf_set(&conf, "t.bytes", "1", NULL);
	snprintf(line, sizeof(line), "API by pid %d", (int)getpid());
	CU_ASSERT_STRING_EQUAL(origin_of("t.bytes"), line);
	set_as("t.bytes", "1", KTR_ORIGIN_SYSCTL, NULL);
	CU_ASSERT_STRING_EQUAL(origin_of("t.bytes"), "sysctl");
	origins[3].pid = 7;
	CU_ASSERT_STRING_EQUAL(origin_of("t.bytes"), "sysctl by pid 7");
	ktr_origin_set(&origin, KTR_ORIGIN_ENVIRONMENT, "KTR_MASK", 0);
	CU_ASSERT_STRING_EQUAL(ktr_origin_print(&origin, line, sizeof(line)),
			       "environment KTR_MASK");
	memset(path, 'p', sizeof(path));
	strcpy(path + sizeof(path) - 6, "/name");
	ktr_origin_set(&origin, KTR_ORIGIN_FILE, path, 12);
	CU_ASSERT_EQUAL(strlen(origin.file), sizeof(origin.file) - 1);
	ktr_origin_print(&origin, line, sizeof(line));
	CU_ASSERT_STRING_EQUAL(line + strlen(line) - 8, "/name:12");
	table.origins = NULL;
	CU_ASSERT_STRING_EQUAL(origin_of("t.bytes"), "default");
}

static void hostile_origin_records_print(void)
{
	struct ktr_origin origin;
	char line[200];
	uint64_t state = 6;

	for (unsigned i = 0; i < 2000; i++) {
		for (unsigned j = 0; j < sizeof(origin); j++)
			((unsigned char *)&origin)[j] = (unsigned char)random_next(&state);
		origin.kind = i % 7;
		ktr_origin_print(&origin, line, sizeof(line));
		CU_ASSERT_FATAL(strlen(line) < sizeof(line));
		for (const char *p = line; *p; p++)
			CU_ASSERT_FATAL((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
}

/* Whatever a knob prints, in every form, sets it to the same value. */
static void printed_values_set_the_same(void)
{
	static const char *const names[] = { "t.bytes", "t.delay", "t.mask", "t.cpus", "t.path" };
	uint64_t state = 7;

	begin();
	for (unsigned i = 0; i < 20000; i++) {
		struct ktr_knob_at at;
		char before[16];

		v.bytes = random_number(&state);
		v.delay = random_number(&state) | 1024;
		v.mask = random_next(&state) & 0xffffffff;
		v.cpus[0] = random_next(&state) & 0xff;
		for (unsigned j = 0; j < 15; j++)
			v.path[j] = (char)(random_next(&state) >> 8);
		memcpy(before, v.path, sizeof(before));
		ktr_conf_find(&conf, names[i % 5], &at, NULL);
		CU_ASSERT_FATAL(
			ktr_knob_read(&at, random_next(&state) % 8, text, sizeof(text), NULL) == 0);
		{
			uint64_t was[4] = { v.bytes, v.delay, v.mask, v.cpus[0] };

			v.bytes = v.delay = v.mask = v.cpus[0] = 0;
			v.path[0] = '\0';
			CU_ASSERT_FATAL(ktr_knob_write(&at, text, NULL, NULL) == 0);
			CU_ASSERT_FATAL(i % 5 == 4 ? strcmp(before, v.path) == 0
						   : was[i % 5] == (i % 5 == 0   ? v.bytes
								    : i % 5 == 1 ? v.delay
								    : i % 5 == 2 ? v.mask
										 : v.cpus[0]));
		}
	}
}

SUITE(conf_knob, TEST(each_type_is_set_and_read), TEST(other_forms_of_printing), TEST(mistakes),
      TEST(reading_mistakes), TEST(rank_of_origins), TEST(what_may_be_set_when),
      TEST(origins_print), TEST(hostile_origin_records_print), TEST(printed_values_set_the_same));
