/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of sidecars: whatever the one table of them has is written, and comes back out of JSON as it was. */
#include "suite.h"

#include "analyze/read/sidecar.h"
#include "writer/format/packet.h"
#include "writer/format/sidecar_lines.h"

#include <errno.h>
#include <stdio.h>
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
	bad += round_trip("woven_trace", ktr__line_woven_trace, &n);
	bad += round_trip("woven_proc", ktr__line_woven_proc, &n);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT(n > 100);
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

SUITE(sidecar_lines, TEST(what_is_written_is_read), TEST(what_makes_no_sense_is_refused));
