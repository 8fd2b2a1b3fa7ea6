/* SPDX-License-Identifier: BSD-2-Clause */
/* Names made from source text, TSDL, and JSON lines that any bytes survive. */
#include "tests/unit/suite.h"

#include "writer/format/codec.h"
#include "writer/format/emit.h"
#include "writer/format/ident.h"
#include "writer/format/metadata.h"
#include "writer/format/sidecar_lines.h"
#include "writer/format/packet.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static char ident[KTR_ARGS_MAX][KTR_IDENT_MAX];

/* Names as one text, "a,b,c". */
static const char *names(const char *source, const char *format, unsigned n)
{
	static char text[KTR_ARGS_MAX * KTR_IDENT_MAX];
	size_t at = 0;

	ktr__ident_args(source, format, n, ident);
	text[0] = 0;
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? "," : "", ident[i]);
	return text;
}

static void names_from_source(void)
{
	CU_ASSERT_STRING_EQUAL(names("n,name", "%d %s", 2), "n,name");
	CU_ASSERT_STRING_EQUAL(names("*peer->name, f(a, b)", "%s %d", 2), "peer_name,f_a_b");
	CU_ASSERT_STRING_EQUAL(names("(int)x,\"a,b\",','", "%d %s %c", 3), "x,a_b,arg2");
	CU_ASSERT_STRING_EQUAL(names("event,string,u32,ktr_x", "%d", 4), "_event,_string,_u32,_ktr_x");
	CU_ASSERT_STRING_EQUAL(names("5,0x10,-1", "%d", 3), "_5,_0x10,_1");
	CU_ASSERT_STRING_EQUAL(names("_x,__y__", "%d", 2), "x,y");
	CU_ASSERT_STRING_EQUAL(names("", "", 3), "arg0,arg1,arg2");
	CU_ASSERT_STRING_EQUAL(names("a", "", 2), "a,arg1");
	CU_ASSERT_STRING_EQUAL(names("w\xc3\xb6rk", "", 1), "w_rk");
	CU_ASSERT_STRING_EQUAL(names("\"open", "", 2), "open,arg1");
	CU_ASSERT_STRING_EQUAL(names(")))a,((b,c", "", 3), "a,b_c,arg2");
}

static void names_differ(void)
{
	CU_ASSERT_STRING_EQUAL(names("x,x,x", "", 3), "x,x_2,x_3");
	CU_ASSERT_STRING_EQUAL(names("x,x_2,x", "", 3), "x,x_2,x_3");
	CU_ASSERT_STRING_EQUAL(names("a+b,a-b", "", 2), "a_b,a_b_2");
	/* Readers take one underscore off, so these two would be one. */
	CU_ASSERT_STRING_EQUAL(names("event,_event", "", 2), "_event,_event_2");
	for (unsigned i = 0; i < 2; i++) {
		char twice[300], *p = twice;

		memset(p, 'a', 100);
		strcpy(p + 100, ",");
		memset(p + 101, 'a', 100);
		p[201] = 0;
		names(twice, "", 2);
		CU_ASSERT_NOT_EQUAL(strcmp(ident[0], ident[1]), 0);
		CU_ASSERT(strlen(ident[i]) < KTR_IDENT_MAX);
	}
}

static void names_of_attributes(void)
{
	CU_ASSERT_STRING_EQUAL(names("id,state,v->x,(int)y",
				     "KTRGRAPH group:\"g\", id:\"%s\", state:\"%s\", "
				     "attributes: shard:%d, lock name:%d",
				     4),
			       "id,state,shard,lock_name");
	CU_ASSERT_STRING_EQUAL(names("id,key", "KTRGRAPH group:\"g\", id:\"%s\", start:0x%jX, attributes: none",
				     2),
			       "id,key");
	CU_ASSERT_STRING_EQUAL(names("id", "KTRGRAPH x, attributes: a:%d, b:%d", 1), "id");
}

static void event_class(void)
{
	struct ktr_site_row row = { .line = 42, .mask = KTR_NET, .n_args = 3,
				    .type = { KTR_ARG_I32, KTR_ARG_STR, KTR_ARG_STACK } };
	const struct ktr__metadata_site site = { 5, &row, "net", "src/a \"b\"\\c\n\xff.c", "", "n,peer,st" };
	struct ktr__emit emit = { 0 };

	ktr__metadata_event(&emit, 0, &site);
	ktr__emit_bytes(&emit, "", 1);
	CU_ASSERT_EQUAL_FATAL(emit.failed, 0);
	CU_ASSERT_STRING_EQUAL(
		emit.text,
		"event { id = 10; stream_id = 0; name = \"net:a \\\"b\\\"\\\\c\\n?.c:42\"; loglevel = 14;"
		" model.emf.uri = \"src/a \\\"b\\\"\\\\c\\n?.c:42\"; fields := struct { i32 n; string peer;"
		" u16 ktr_n2; ptr st[ktr_n2]; }; };\n"
		"event { id = 11; stream_id = 0; name = \"net:a \\\"b\\\"\\\\c\\n?.c:42\"; loglevel = 14;"
		" model.emf.uri = \"src/a \\\"b\\\"\\\\c\\n?.c:42\"; fields := struct { i32 n; string peer;"
		" u16 ktr_n2; ptr st[ktr_n2]; u8 ktr_cut; u8 ktr_null; }; };\n");
	ktr__emit_free(&emit);
}

/* Where the declaration, or the checksum, that begins at text ends: a line, but for the head. */
static size_t declaration(const char *text)
{
	return strcspn(text, "\n");
}

/* Whatever the piece before was long, and the path, no event class and no checksum crosses a page. */
static void pages(void)
{
	struct ktr_site_row row = { .line = 42, .mask = KTR_NET, .n_args = 2,
				    .type = { KTR_ARG_I32, KTR_ARG_STR } };
	char path[8192];
	unsigned wrong = 0, n = 0;

	for (unsigned at = 0; at < 3 * KTR_TRACE_PAGE; at += 97) {
		struct ktr__emit emit = { 0 };
		struct ktr__metadata_site site = { 5, &row, "net", path, "", "n,peer" };

		for (unsigned i = 0; i < 12; i++) {
			size_t length = (at + i * 1031) % 6000;

			memset(path, i % 3 ? 'x' : '"', sizeof(path)); /* a quote takes two bytes */
			path[length] = 0;
			ktr__metadata_event(&emit, at, &site);
		}
		ktr__metadata_end(&emit, at, 0);
		CU_ASSERT_EQUAL_FATAL(emit.failed, 0);
		CU_ASSERT_EQUAL(ktr__metadata_check(emit.text, emit.n), emit.n);
		ktr__emit_bytes(&emit, "", 1);
		for (size_t from = 0; from + 1 < emit.n; from += declaration(emit.text + from) + 1) {
			size_t line = declaration(emit.text + from);

			n += line > 0;
			wrong += line && (at + from) / KTR_TRACE_PAGE != (at + from + line) / KTR_TRACE_PAGE;
		}
		ktr__emit_free(&emit);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(n > 1000);
}

/* Parses a line as JSON and undoes the raw bytes of member "s". */
static int survives(const char *text)
{
	struct two {
		union ktr__member_text s;
		uint64_t n;
	} two = { { text }, 5 };
	static const struct ktr__member members[] = { KTR__MEMBER(two, TEXT, s), KTR__MEMBER(two, U64, n),
						      KTR__MEMBER_END };
	struct ktr__emit emit = { 0 };
	char back[2048] = "";
	json_t *line;
	int ok;

	ktr__json_begin(&emit);
	ktr__json_members(&emit, members, &two, NULL, 1);
	ktr__json_end(&emit);
	if (emit.failed)
		return 0;
	ok = ktr__line_check(emit.text, emit.n - 1) == 0 && memchr(emit.text, '\n', emit.n - 1) == NULL;
	line = json_loadb(emit.text, emit.n, 0, NULL);
	if (line && json_string_value(json_object_get(line, "s")))
		snprintf(back, sizeof(back), "%s", json_string_value(json_object_get(line, "s")));
	ktr__text_raw(back);
	ok = ok && line && json_integer_value(json_object_get(line, "n")) == 5 && strcmp(back, text) == 0;
	json_decref(line);
	ktr__emit_free(&emit);
	return ok;
}

static void any_bytes_survive(void)
{
	static const char *const texts[] = {
		"", "plain", "a\"b\\c/d\n\t\x01\x7f", "w\xc3\xb6rk \xe2\x82\xac \xf0\x9f\x98\x80", "\xff",
		"cut \xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xee\xbe\x80", "\xee\xbf\xbf", "\xee\xbe", "\xee\xbe\x7f", "\xe0\x9f\xbf\xf8\x88\x80\x80\x80",
	};
	char all[256 * 3];
	unsigned bad = 0;

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CU_ASSERT(survives(texts[i]));
	for (unsigned i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = 0;
	CU_ASSERT(survives(all));
	/* Every pair of bytes of the upper half, and some triples. */
	for (unsigned i = 0x80; i < 0x100; i++)
		for (unsigned k = 0x80; k < 0x100; k++) {
			char text[8] = { 'x', (char)i, (char)k, (char)(0x80 + (i * 7 + k) % 128), 'y', 0 };

			bad += !survives(text);
		}
	CU_ASSERT_EQUAL(bad, 0);
}

static void members(void)
{
	struct all {
		uint64_t a;
		int64_t b;
		uint64_t c, d;
		struct ktr__member_octets e;
		struct ktr__member_args f, h;
		uint64_t woven;
		union ktr__member_text name;
		uint64_t tail;
	} all = { UINT64_MAX, INT64_MIN, UINT64_MAX, 1, { 3, { 0, 0xab, 0xff } },
		  { 2, { KTR_ARG_I8, KTR_ARG_STR } }, { 2, { 1, 11 } }, 7, { "abcd" }, 8 };
	static const struct ktr__member table[] = {
		KTR__MEMBER(all, U64, a), KTR__MEMBER(all, I64, b), KTR__MEMBER(all, HEX, c),
		KTR__MEMBER(all, BOOL, d), KTR__MEMBER(all, OCTETS, e), KTR__MEMBER(all, TYPES, f),
		KTR__MEMBER(all, NUMBERS, h), KTR__MEMBER(all, WOVEN, woven), KTR__MEMBER(all, STRING, name),
		KTR__MEMBER(all, TAIL, tail), KTR__MEMBER_END,
	};
	static const char members[] = "{\"a\":9223372036854775807,\"b\":-9223372036854775808,"
				      "\"c\":\"0xffffffffffffffff\",\"d\":true,\"e\":\"00abff\","
				      "\"f\":[\"I8\",\"STR\"],\"h\":[1,11],\"name\":\"abcd\"";
	struct ktr__emit emit = { 0 };

	ktr__line_write(&emit, table, &all, NULL, 0);
	CU_ASSERT_EQUAL_FATAL(emit.failed, 0);
	emit.text[emit.n - KTR_LINE_TAIL - 1] = 0;
	CU_ASSERT_STRING_EQUAL(emit.text, members);
	emit.n = 0;
	ktr__line_write(&emit, table, &all, NULL, 1);
	emit.text[emit.n - KTR_LINE_TAIL - 1] = 0;
	CU_ASSERT_EQUAL(strncmp(emit.text, members, strlen(members)), 0);
	CU_ASSERT_STRING_EQUAL(emit.text + strlen(members), ",\"tail\":8");
	ktr__emit_free(&emit);
}

SUITE(metadata, TEST(names_from_source), TEST(names_differ), TEST(names_of_attributes),
      TEST(event_class), TEST(pages), TEST(any_bytes_survive), TEST(members));
