/* SPDX-License-Identifier: BSD-2-Clause */
/* gmon.out: what is read of objects' files, and its two forms, byte by byte. */
#include "analyze/read/tables.h"
#include "tests/unit/suite.h"
#include "visualize/export/gmon_object.h"
#include "visualize/export/gmon_symbols.h"
#include "visualize/export/gmon_write.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* This program, by its path and an id that is not its own: so it is known by its size that it would be read. */
static void a_file_is_read_up_to_a_bound(void)
{
	uint8_t id[20] = { 0 };
	struct ktr__gmon_symbols *symbols;
	struct ktr__gmon_text text;

	CU_ASSERT_EQUAL(ktr__gmon_symbols_open("/proc/self/exe", id, sizeof(id), 1000, &symbols, &text), -EFBIG);
	CU_ASSERT(symbols == NULL);
	CU_ASSERT_EQUAL(ktr__gmon_symbols_open("/proc/self/exe", id, sizeof(id), UINT64_MAX, &symbols, &text), -ESTALE);
	CU_ASSERT(symbols == NULL);
}

/* All together have a bound; what is not read is an object all the same, and counted. */
static void objects_have_a_bound_together(void)
{
	struct ktr__module_entry module = { .proc = 1, .base = 0x10000, .end = 0x90000, .path = "/proc/self/exe" };
	struct ktr__gmon_objects objects;
	struct ktr__tables tables;
	uint64_t own = 0;

	CU_ASSERT_EQUAL(ktr__tables_init(&tables), 0);
	CU_ASSERT_EQUAL(ktr__tables_module(&tables, 1, &module), 0);
	ktr__gmon_objects_init(&objects, &tables, NULL);
	CU_ASSERT(objects.copies_left > 0 && objects.copies_left < UINT64_MAX);
	objects.copies_left = 1000;
	CU_ASSERT_EQUAL(ktr__gmon_named(&objects, 1, "exe", "0x1234", &own), 0);
	CU_ASSERT_EQUAL(own, 0x1234);
	CU_ASSERT_EQUAL(objects.n_unread, 1);
	CU_ASSERT_EQUAL(objects.copies_left, 1000);
	CU_ASSERT_EQUAL(ktr__gmon_named(&objects, 1, "exe", "main", &own), KTR__GMON_NO_OBJECT);
	CU_ASSERT_EQUAL(objects.n_unread, 1);
	CU_ASSERT_EQUAL(ktr__gmon_rather(&objects, 0, KTR__GMON_NO_OBJECT), 0);
	CU_ASSERT_EQUAL(ktr__gmon_rather(&objects, KTR__GMON_NO_OBJECT, 0), 0);
	ktr__gmon_objects_free(&objects);
	ktr__tables_free(&tables);
}

/* ---- the forms ---- */

#define WORD2(n) (n) & 0xff, (n) >> 8 & 0xff
#define WORD4(n) WORD2((n) & 0xffff), WORD2((n) >> 16 & 0xffff)
#define WORD8(n) WORD4((n) & 0xffffffff), WORD4((n) >> 32)

static const struct ktr__gmon_arc forms_arc[] = { { 0x1002, 0x1004, 3 }, { 0x1006, 0x1000, 0x100000004 } };

static void is_written(const struct ktr__gmon *gmon, enum ktr__gmon_form form, uint32_t rate_hz,
		       const uint8_t *wanted, size_t n_wanted)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	CU_ASSERT_EQUAL(ktr__gmon_write(gmon, form, to), rate_hz);
	CU_ASSERT_EQUAL(fclose(to), 0);
	CU_ASSERT_EQUAL(n, n_wanted);
	for (size_t i = 0; i < n && i < n_wanted; i++)
		if ((uint8_t)text[i] != wanted[i]) {
			printf("byte %zu: %#x instead of %#x\n", i, (uint8_t)text[i], wanted[i]);
			CU_FAIL("a byte is another");
			break;
		}
	free(text);
}

/* The second counter has five ticks more than 16 bits have room for, the second arc five calls more than 32. */
static void gnus_form_has_these_bytes(void)
{
	static const struct ktr__gmon_time time[] = { { 0x1000, 30000000 }, { 0x1005, 655400000000 } };
	static const struct ktr__gmon gmon = { 0x1001, 0x1007, 100, forms_arc, 2, time, 2 };
	static const uint8_t wanted[] = {
		'g', 'm', 'o', 'n', WORD4(1), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, WORD8(0x1000ull), WORD8(0x1008ull), WORD4(4), WORD4(100),
		's', 'e', 'c', 'o', 'n', 'd', 's', 0, 0, 0, 0, 0, 0, 0, 0, 's',
		WORD2(3), WORD2(0), WORD2(65535), WORD2(0),
		0, WORD8(0x1000ull), WORD8(0x1008ull), WORD4(4), WORD4(100),
		's', 'e', 'c', 'o', 'n', 'd', 's', 0, 0, 0, 0, 0, 0, 0, 0, 's',
		WORD2(0), WORD2(0), WORD2(5), WORD2(0),
		1, WORD8(0x1002ull), WORD8(0x1004ull), WORD4(3),
		1, WORD8(0x1006ull), WORD8(0x1000ull), WORD4(0xffffffffull),
		1, WORD8(0x1006ull), WORD8(0x1000ull), WORD4(5),
	};

	is_written(&gmon, KTR__GMON_GNU, 100, wanted, sizeof(wanted));
}

/* One histogram, so the rate becomes 99; what is there of 655.4 s is 64,885 ticks of that. */
static void bsds_form_has_these_bytes(void)
{
	static const struct ktr__gmon_time time[] = { { 0x1000, 30000000 }, { 0x1005, 655400000000 } };
	static const struct ktr__gmon gmon = { 0x1001, 0x1007, 100, forms_arc, 2, time, 2 };
	static const uint8_t wanted[] = {
		WORD8(0x1000ull), WORD8(0x1008ull), WORD4(40 + 8), WORD4(0x51879), WORD4(99), WORD4(16),
		WORD8(0ull),
		WORD2(3), WORD2(0), WORD2(64885), WORD2(0),
		WORD8(0x1002ull), WORD8(0x1004ull), WORD8(3ull),
		WORD8(0x1006ull), WORD8(0x1000ull), WORD8(0xffffffffull),
		WORD8(0x1006ull), WORD8(0x1000ull), WORD8(5ull),
	};

	is_written(&gmon, KTR__GMON_BSD, 99, wanted, sizeof(wanted));
}

SUITE(gmon, TEST(a_file_is_read_up_to_a_bound), TEST(objects_have_a_bound_together),
      TEST(gnus_form_has_these_bytes), TEST(bsds_form_has_these_bytes));
