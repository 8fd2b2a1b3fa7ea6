/* SPDX-License-Identifier: BSD-2-Clause */
/* The text and JSON forms of one small walk with everything nasty in it, to the letter. */
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/print/sink_json.h"
#include "analyze/print/sink_text.h"

#include <sys/mman.h>

static void sinks_fill(struct made *made)
{
	uint32_t words = made_site(made, KTR_GEN, "dir/a.c", 10, "%s|%s", "s,s", 2, KTR_ARG_STR,
				   KTR_ARG_STR);
	uint32_t numbers = made_site(made, KTR_NET | KTR_VFS, "b.c", 20, "%zu %ld %p %g",
				     "max,min,p,x[1, 2]", 4, KTR_ARG_U64, KTR_ARG_I64, KTR_ARG_PTR,
				     KTR_ARG_F64);
	uint32_t state = made_site(
		made, KTR_SCHED, "c.c", 30,
		"KTRGRAPH group:\"g\", id:\"%s\", state:\"%s\", attributes: n:%d", "id,st,n", 3,
		KTR_ARG_STR, KTR_ARG_STR, KTR_ARG_I32);
	uint32_t thread = made_thread(made, 4242, 4200, "w\033[1m\xff");
	union {
		double number;
		uint64_t bits;
	} x;

	made_event(made, 0, 1000, words, thread, "tab\t\033[31m", "caf\xc3\xa9 \xff");
	x.number = 0.5;
	made_event(made, 1, 1000002000, numbers, thread, UINT64_MAX, (uint64_t)INT64_MIN,
		   (uint64_t)0x1f, x.bits);
	x.bits = 0x7ff8000000000000;
	made_event(made, 1, 1000003000 | KTR_TIME_APPROX, numbers, 0, (uint64_t)1, (uint64_t)2,
		   (uint64_t)0, x.bits);
	x.bits = 0xfff0000000000000;
	made_event(made, 1, 1000004000, numbers, 0, (uint64_t)3, (uint64_t)-4, (uint64_t)1, x.bits);
	made_event(made, 2, 2000000000, words, thread, NULL, "");
	made_event(made, 0, 2000000001, state, thread, "row", "a state", (uint64_t)-1);
}

/* Runs one sink over a source and returns what it wrote; the caller frees it. */
static char *sinks_run(const char *path, struct ktr__sink_text *text, struct ktr__sink_json *json)
{
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct ktr_sink *sink = text ? &text->sink : &json->sink;
	struct ktr_reader *reader;
	struct ktr__out out;
	char *got = calloc(1, 1 << 20);

	CU_ASSERT_FATAL(ktr_reader_open(path, NULL, &reader, NULL) == 0);
	CU_ASSERT_FATAL(ktr__out_open(&out, fd) == 0);
	if (text) {
		text->out = &out;
		text->info = ktr_reader_info(reader);
		ktr__sink_text_init(text);
		ktr__sink_text_header(text);
	} else {
		json->out = &out;
		json->reader = reader;
		CU_ASSERT(ktr__sink_json_init(json) == 0);
	}
	CU_ASSERT(ktr_reader_walk(reader, &sink, 1) == 0);
	if (json)
		CU_ASSERT(ktr__sink_json_fini(json) == 0);
	CU_ASSERT(ktr__out_close(&out) == 0);
	CU_ASSERT(pread(fd, got, (1 << 20) - 1, 0) > 0);
	close(fd);
	ktr_reader_close(reader);
	return got;
}

static void sinks_same(const char *got, const char *expected)
{
	CU_ASSERT_STRING_EQUAL(got, expected);
	if (strcmp(got, expected) != 0)
		fprintf(stderr, "\n%s", got);
}

static void text_to_the_letter(void)
{
	struct ktr__sink_text text = { .columns = KTR__TEXT_USUAL };
	struct made made;
	char *got;

	made_open(&made);
	sinks_fill(&made);
	made_trace(&made);
	got = sinks_run(made.trace, &text, NULL);
	sinks_same(
		got,
		"            time cpu thread                 class    where                text\n"
		"     0.000000000   0 w\\x1b[1m\\xff/4242      gen      a.c:10               "
		"tab\\t\\x1b[31m|caf\xc3\xa9 \\xff\n"
		"     1.000001000   1 w\\x1b[1m\\xff/4242      net|vfs  b.c:20               "
		"18446744073709551615 -9223372036854775808 0x1f 0.5\n"
		"     1.000002000   1 ?/0                    net|vfs  b.c:20               1 2 (nil) nan\n"
		"     1.000003000   1 ?/0                    net|vfs  b.c:20               3 -4 0x1 -inf\n"
		"     1.999999000   0 w\\x1b[1m\\xff/4242      gen      a.c:10               (null)|\n"
		"     1.999999001   0 w\\x1b[1m\\xff/4242      sched    c.c:30               "
		"g row: a state, n:-1\n");
	free(got);
	text = (struct ktr__sink_text){ .columns = KTR__TEXT_TIME | KTR__TEXT_INDEX,
					.time = KTR__TEXT_UTC };
	got = sinks_run(made.session, &text, NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n         0 2001-09-09T01:46:40.000001000Z tab"));
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n         1 2001-09-09T01:46:42.000000001Z g row: a state, n:-1\n"));
	free(got);
	text = (struct ktr__sink_text){ .columns = KTR__TEXT_TIME, .time = KTR__TEXT_DELTA };
	got = sinks_run(made.session, &text, NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n     0.000000000 tab"));
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n     0.000001000 3 -4"));
	free(got);
	made_close(&made);
}

/* clang-format off */
#define SINKS_EVENT(ns, cpu) "{\"type\":\"event\",\"ts_ns\":" #ns ",\"cpu\":" #cpu ","
#define SINKS_THREAD "\"pid\":4200,\"tid\":4242,\"thread\":\"w\\u001B[1m\xef\xbf\xbd\","
#define SINKS_NOBODY "\"pid\":0,\"tid\":0,\"thread\":\"?\","
#define SINKS_SITE(class_name, id, file, line)                                                     \
	"\"class\":\"" class_name "\",\"site\":" #id ",\"file\":\"" file "\",\"line\":" #line      \
	",\"func\":\"function\","

static const char *const sinks_json[] = {
	SINKS_EVENT(1000, 0) SINKS_THREAD "\"index\":0," SINKS_SITE("gen", 1, "dir/a.c", 10)
	"\"kind\":\"event\",\"msg\":\"tab\\t\\u001B[31m|caf\xc3\xa9 \xef\xbf\xbd\","
	"\"args\":{\"s\":\"tab\\t\\u001B[31m\",\"s_2\":\"caf\xc3\xa9 \xef\xbf\xbd\"}}",

	SINKS_EVENT(1000002000, 1) SINKS_THREAD "\"index\":0," SINKS_SITE("net|vfs", 2, "b.c", 20)
	"\"kind\":\"event\",\"msg\":\"18446744073709551615 -9223372036854775808 0x1f 0.5\","
	"\"args\":{\"max\":\"18446744073709551615\",\"min\":-9223372036854775808,"
	"\"p\":\"0x1f\",\"x[1, 2]\":0.5}}",

	SINKS_EVENT(1000003000, 1) SINKS_NOBODY "\"index\":1,\"approx\":true,"
	SINKS_SITE("net|vfs", 2, "b.c", 20) "\"kind\":\"event\",\"msg\":\"1 2 (nil) nan\","
	"\"args\":{\"max\":1,\"min\":2,\"p\":\"0x0\",\"x[1, 2]\":\"NaN\"}}",

	SINKS_EVENT(1000004000, 1) SINKS_NOBODY "\"index\":2," SINKS_SITE("net|vfs", 2, "b.c", 20)
	"\"kind\":\"event\",\"msg\":\"3 -4 0x1 -inf\","
	"\"args\":{\"max\":3,\"min\":-4,\"p\":\"0x1\",\"x[1, 2]\":\"-Infinity\"}}",

	SINKS_EVENT(2000000000, 0) SINKS_THREAD "\"index\":0,\"keep\":true,"
	SINKS_SITE("gen", 1, "dir/a.c", 10) "\"kind\":\"event\",\"msg\":\"(null)|\","
	"\"args\":{\"s\":null,\"s_2\":\"\"}}",

	SINKS_EVENT(2000000001, 0) SINKS_THREAD "\"index\":1," SINKS_SITE("sched", 3, "c.c", 30)
	"\"kind\":\"state\",\"group\":\"g\",\"msg\":\"KTRGRAPH group:\\\"g\\\", id:\\\"row\\\", "
	"state:\\\"a state\\\", attributes: n:-1\","
	"\"args\":{\"id\":\"row\",\"state\":\"a state\",\"n\":-1}}",
};
/* clang-format on */

static void json_to_the_letter(void)
{
	struct ktr__sink_json json = { .only_events = 1 };
	struct made made;
	char *got, *line;

	made_open(&made);
	sinks_fill(&made);
	made_trace(&made);
	line = got = sinks_run(made.trace, NULL, &json);
	for (size_t i = 0; i < sizeof(sinks_json) / sizeof(sinks_json[0]); i++) {
		char *end = strchr(line, '\n');

		CU_ASSERT_PTR_NOT_NULL_FATAL(end);
		*end = '\0';
		sinks_same(line, sinks_json[i]);
		line = end + 1;
	}
	CU_ASSERT_STRING_EQUAL(line, "");
	free(got);
	made_close(&made);
}

/* A session full of events, as an array: jansson reads it back, and the losses are in it. */
static void json_arrays_parse(void)
{
	struct ktr__sink_json json = { .array = 1 };
	json_error_t why;
	struct made made;
	uint32_t tick;
	json_t *tree, *head, *loss;
	char *got;

	made_open(&made);
	tick = made_site(&made, KTR_GEN, "\xff.c", 1, "\xfe %d", "\"\\\xff\"", 1, KTR_ARG_I32);
	for (uint64_t i = 0; i < 600; i++)
		made_event(&made, 0, 1000 + i, tick, 0, i);
	for (uint64_t i = 0; i < 100; i++)
		made_event(&made, 0, 2000 + i, tick, 0, i);
	made_session(&made);
	got = sinks_run(made.session, NULL, &json);
	tree = json_loads(got, 0, &why);
	CU_ASSERT_FATAL(json_is_array(tree));
	head = json_array_get(tree, 0);
	loss = json_array_get(tree, 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(head, "schema")), "ktr-json-1");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(loss, "type")), "loss");
	CU_ASSERT(json_is_null(json_object_get(loss, "from_ns")));
	CU_ASSERT(json_integer_value(json_object_get(loss, "events")) +
			  (json_int_t)json_array_size(tree) - 2 ==
		  700);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(tree, 2), "file")),
			       "\xef\xbf\xbd.c");
	json_decref(tree);
	free(got);
	made_close(&made);
}

SUITE(sinks, TEST(text_to_the_letter), TEST(json_to_the_letter), TEST(json_arrays_parse));
