/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of sidecars: whatever the one table of them has is written, and comes back out of JSON as it was, and where
 * there is no parser of JSON.
 */
#include "tests/unit/suite.h"

#include "analyze/read/sidecar.h"
#include "writer/format/packet.h"
#include "writer/format/sidecar_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024 /* more than any line's structure has */

/* A value of the kind that no other member of the line has. */
static void fill(const struct ktr__member *member, void *at, unsigned i)
{
	static const char *const texts[] = { "a", "bc", "d e", "\"f", "g\\", "h\xff", "i", "", "j", "k", "l" };

	switch (member->kind) {
	case KTR__MEMBER_TEXT:
	case KTR__MEMBER_STRING:
	case KTR__MEMBER_CMDLINE:
		((union ktr__member_text *)at)->text = texts[i % 11];
		break;
	case KTR__MEMBER_OCTETS:
		*(struct ktr__member_octets *)at = (struct ktr__member_octets){ 3, { 0, (uint8_t)i, 255 } };
		break;
	case KTR__MEMBER_ID:
		memset(at, (int)i + 1, sizeof(struct ktr__member_id));
		break;
	case KTR__MEMBER_NUMBERS:
		*(struct ktr__member_args *)at = (struct ktr__member_args){ 4, { 0, (uint8_t)i, 255, 7 } };
		break;
	case KTR__MEMBER_TYPES:
		*(struct ktr__member_args *)at = (struct ktr__member_args){ 2, { KTR_ARG_I8, KTR_ARG_STR } };
		break;
	case KTR__MEMBER_BOOL:
		*(uint64_t *)at = 1;
		break;
	case KTR__MEMBER_I64:
		*(int64_t *)at = -(int64_t)i - 1;
		break;
	case KTR__MEMBER_HEX:
		*(uint64_t *)at = UINT64_MAX - i;
		break;
	case KTR__MEMBER_WOVEN:
		break; /* not written */
	default:
		*(uint64_t *)at = INT64_MAX - i;
	}
}

static int same(const struct ktr__member *member, const void *was, const void *is)
{
	const struct ktr__member_args *a = was, *b = is;
	const struct ktr__member_octets *x = was, *y = is;
	char text[64];

	switch (member->kind) {
	case KTR__MEMBER_TEXT:
	case KTR__MEMBER_STRING:
	case KTR__MEMBER_CMDLINE:
		snprintf(text, sizeof(text), "%s", ((const union ktr__member_text *)is)->text);
		ktr__text_raw(text);
		return strcmp(((const union ktr__member_text *)was)->text, text) == 0;
	case KTR__MEMBER_OCTETS:
		return x->n == y->n && memcmp(x->octet, y->octet, x->n) == 0;
	case KTR__MEMBER_ID:
		return memcmp(was, is, sizeof(struct ktr__member_id)) == 0;
	case KTR__MEMBER_NUMBERS:
	case KTR__MEMBER_TYPES:
		return a->n == b->n && memcmp(a->each, b->each, a->n) == 0;
	default:
		return memcmp(was, is, sizeof(uint64_t)) == 0;
	}
}

/* Which members did not come back, and how many there are. */
static unsigned round_trip(const char *name, const struct ktr__member *table, unsigned *n)
{
	_Alignas(8) char was[LINE_BYTES] = { 0 }, is[LINE_BYTES];
	struct ktr__emit emit = { 0 };
	unsigned bad = 0, i = 0;
	json_t *row;

	for (const struct ktr__member *m = table; m->key[0]; m++)
		fill(m, was + m->at, i++);
	memset(is, 0xa5, sizeof(is)); /* a member that the line lacks becomes 0 all the same */
	ktr__line_write(&emit, table, was, NULL, 1);
	CU_ASSERT_EQUAL_FATAL(emit.failed, 0);
	CU_ASSERT_EQUAL(ktr__line_check(emit.text, emit.n - 1), 0);
	row = json_loadb(emit.text, emit.n, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	CU_ASSERT_EQUAL(ktr__sidecar_parse(row, table, is), 0);
	for (const struct ktr__member *m = table; m->key[0]; m++) {
		if (same(m, was + m->at, is + m->at))
			continue;
		printf("%s.%s ", name, m->key);
		bad++;
	}
	json_decref(row);
	ktr__emit_free(&emit);
	*n += i;
	return bad;
}

static void what_is_written_is_read(void)
{
	unsigned n = 0, bad = 0;

#define ROUND_TRIP(name, list) bad += round_trip(#name, ktr__line_##name, &n);
	KTR__LINE_LIST(ROUND_TRIP)
#undef ROUND_TRIP
	bad += round_trip("woven_trace", ktr__line_rewritten_trace, &n);
	bad += round_trip("woven_proc", ktr__line_rewritten_proc, &n);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT(n > 100);
}

/* Does what was taken back without a parser say what was written? Lists of numbers and octets are left out. */
static int scanned(const struct ktr__member *member, const void *was, const void *is)
{
	static const char none[LINE_BYTES];
	const char *word;

	switch (member->kind) {
	case KTR__MEMBER_TEXT:
	case KTR__MEMBER_STRING:
	case KTR__MEMBER_CMDLINE:
		word = ((const union ktr__member_text *)was)->text;
		if (strpbrk(word, "\"\\\xff"))
			return ((const union ktr__member_text *)is)->text != NULL && !ktr__line_says(is, word);
		return ktr__line_says(is, word) && !ktr__line_says(is, "other");
	case KTR__MEMBER_NUMBERS:
	case KTR__MEMBER_OCTETS:
		return memcmp(none, is, member->kind == KTR__MEMBER_OCTETS ? sizeof(struct ktr__member_octets) :
									     sizeof(struct ktr__member_args)) == 0;
	default:
		return same(member, was, is);
	}
}

/* Which members were not found, and of each beginning of the line, whether it is read within its bytes. */
static unsigned scan_trip(const char *name, const struct ktr__member *table)
{
	_Alignas(8) char was[LINE_BYTES] = { 0 }, is[LINE_BYTES];
	struct ktr__emit emit = { 0 };
	unsigned bad = 0, i = 0;

	for (const struct ktr__member *m = table; m->key[0]; m++)
		fill(m, was + m->at, i++);
	ktr__line_write(&emit, table, was, NULL, 1);
	CU_ASSERT_EQUAL_FATAL(emit.failed, 0);
	memset(is, 0xa5, sizeof(is));
	CU_ASSERT_EQUAL(ktr__line_scan(emit.text, emit.n - 1, table, is, sizeof(is)), 0);
	for (const struct ktr__member *m = table; m->key[0]; m++) {
		if (scanned(m, was + m->at, is + m->at))
			continue;
		printf("%s.%s ", name, m->key);
		bad++;
	}
	for (size_t n = 0; n < emit.n; n++) {
		char *part = strndup(emit.text, n);

		CU_ASSERT_PTR_NOT_NULL_FATAL(part);
		ktr__line_scan(part, n, table, is, sizeof(is));
		for (const struct ktr__member *m = table; m->key[0]; m++) {
			const union ktr__member_text *text = (const void *)(is + m->at);

			if (m->kind == KTR__MEMBER_TEXT && text->text)
				bad += text->text < part || text->text > part + n;
		}
		free(part);
	}
	ktr__emit_free(&emit);
	return bad;
}

static void what_is_written_is_found(void)
{
	unsigned bad = 0;

#define SCAN_TRIP(name, list) bad += scan_trip(#name, ktr__line_##name);
	KTR__LINE_LIST(SCAN_TRIP)
#undef SCAN_TRIP
	CU_ASSERT_EQUAL(bad, 0);
}

/* What a text holds is no member. */
static void texts_hide_nothing(void)
{
	const struct ktr__line_loss loss = {
		.stream.text = "\"why\":\"dropped\",\"events\":7,\"seq\":8",
		.why.text = "\\\"why\":\"dropped\"",
		.events = 3,
	};
	struct ktr__line_loss line;
	struct ktr__emit emit = { 0 };

	ktr__line_write(&emit, ktr__line_loss, &loss, NULL, 1);
	CU_ASSERT_EQUAL(ktr__line_scan(emit.text, emit.n - 1, ktr__line_loss, &line, sizeof(line)), 0);
	CU_ASSERT(!ktr__line_says(&line.why, "dropped"));
	CU_ASSERT_EQUAL(line.events, 3);
	CU_ASSERT_EQUAL(line.seq, 0);
	ktr__emit_free(&emit);
}

/* A list that is none, or too long, is said; a type of arguments that only a later version knows is none. */
static void what_makes_no_sense_is_said(void)
{
	static const char *const wrong[] = {
		"{\"types\":[1]}", "{\"types\":[\"I8\"", "{\"types\":[\"I8", "{\"types\":[",
		"{\"types\":[\"I8\",",
		"{\"types\":[\"I8\",\"I8\",\"I8\",\"I8\",\"I8\",\"I8\",\"I8\"]}",
	};
	static const char later[] = "{\"types\":[\"I8\",\"LATER\",\"U8\"]}", empty[] = "{\"types\":[]}";
	struct ktr__line_site line;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(
			ktr__line_scan(wrong[i], strlen(wrong[i]), ktr__line_site, &line, sizeof(line)), -EINVAL);
	CU_ASSERT_EQUAL(ktr__line_scan(empty, strlen(empty), ktr__line_site, &line, sizeof(line)), 0);
	CU_ASSERT_EQUAL(line.types.n, 0);
	CU_ASSERT_EQUAL(ktr__line_scan(later, strlen(later), ktr__line_site, &line, sizeof(line)), 0);
	CU_ASSERT_EQUAL(line.types.n, 3);
	CU_ASSERT_EQUAL(line.types.each[0], KTR_ARG_I8);
	CU_ASSERT_EQUAL(line.types.each[1], KTR_ARG_NONE);
	CU_ASSERT_EQUAL(line.types.each[2], KTR_ARG_U8);
}

/* Lists that are none, or too long; octets that are none. */
static void what_makes_no_sense_is_refused(void)
{
	static const char *const wrong[] = {
		"{\"types\":[\"WRONG\"]}", "{\"types\":[1]}", "{\"how\":[1,2,3,4,5,6,7]}", "{\"build_id\":\"0\"}",
		"{\"types\":[\"I8\",\"I8\",\"I8\",\"I8\",\"I8\",\"I8\",\"I8\"]}", "{\"build_id\":\"zz\"}",
		"{\"build_id\":\"0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a\"}",
	};
	struct ktr__line_site line;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *row = json_loads(wrong[i], 0, NULL);

		CU_ASSERT_PTR_NOT_NULL_FATAL(row);
		CU_ASSERT_EQUAL(ktr__sidecar_parse(row, ktr__line_site, &line), -EINVAL);
		json_decref(row);
	}
}

SUITE(sidecar_lines, TEST(what_is_written_is_read), TEST(what_makes_no_sense_is_refused),
      TEST(what_is_written_is_found), TEST(texts_hide_nothing), TEST(what_makes_no_sense_is_said));
