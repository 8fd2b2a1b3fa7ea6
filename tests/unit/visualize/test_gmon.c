/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of gmon.out: what is read of their files. */
#include "analyze/read/tables.h"
#include "tests/unit/suite.h"
#include "visualize/export/gmon_object.h"
#include "visualize/export/gmon_symbols.h"

#include <errno.h>
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

SUITE(gmon, TEST(a_file_is_read_up_to_a_bound), TEST(objects_have_a_bound_together));
