/* SPDX-License-Identifier: BSD-2-Clause */
/* Error records: the first one wins, places, harmless text. */
#include "test_conf.h"

static char line[KTR_ERROR_LINE_BYTES];

static void first_error_wins(void)
{
	struct ktr_error err = KTR_ERROR_NONE;

	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)), "no error");
	CU_ASSERT_EQUAL(ktr_error_set(&err, ENOENT, "first %d", 1), -ENOENT);
	CU_ASSERT_EQUAL(ktr_error_set(&err, EPERM, "second"), -EPERM);
	CU_ASSERT_EQUAL(ktr_error_at(&err, "f", 1, 2, EIO, "third"), -EIO);
	CU_ASSERT_EQUAL(ktr_error_at_offset(&err, "f", 1, EIO, "fourth"), -EIO);
	CU_ASSERT_EQUAL(err.code, ENOENT);
	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)), "first 1");
	ktr_error_clear(&err);
	ktr_error_clear(NULL);
	CU_ASSERT_EQUAL(ktr_error_set(&err, EPERM, "again"), -EPERM);
	CU_ASSERT_STRING_EQUAL(err.text, "again");
}

static void codes_of_either_sign(void)
{
	struct ktr_error err = KTR_ERROR_NONE;

	CU_ASSERT_EQUAL(ktr_error_set(&err, -ENOSPC, "x"), -ENOSPC);
	CU_ASSERT_EQUAL(err.code, ENOSPC);
	CU_ASSERT_EQUAL(ktr_error_set(NULL, EPERM, "x"), -EPERM);
	CU_ASSERT_EQUAL(ktr_error_at(NULL, "f", 1, 1, -EPERM, "x"), -EPERM);
	CU_ASSERT_EQUAL(ktr_error_at_offset(NULL, "f", 1, 0, "x"), -EINVAL);
}

static void places_print(void)
{
	struct ktr_error err = KTR_ERROR_NONE;

	ktr_error_at(&err, "/etc/f", 3, 9, EINVAL, "wrong");
	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)), "/etc/f:3:9: wrong");
	ktr_error_clear(&err);
	ktr_error_at(&err, "/etc/f", 3, 0, EINVAL, "wrong");
	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)), "/etc/f:3: wrong");
	ktr_error_clear(&err);
	ktr_error_at(&err, "/etc/f", 0, 9, EINVAL, "wrong");
	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)), "/etc/f: wrong");
	ktr_error_clear(&err);
	ktr_error_at(&err, NULL, 3, 9, EINVAL, "wrong");
	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)), "line 3:9: wrong");
	ktr_error_clear(&err);
	ktr_error_at_offset(&err, "t/cpu_0", 1ull << 40, EINVAL, "wrong");
	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)),
			       "t/cpu_0: byte 1099511627776: wrong");
}

static void place_fills_only_gaps(void)
{
	struct ktr_error err = KTR_ERROR_NONE;

	ktr_error_place(&err, "f", 1, 2);
	CU_ASSERT_EQUAL(err.line, 0);
	ktr_error_at(&err, NULL, 0, 7, EINVAL, "wrong");
	ktr_error_place(&err, "f", 4, 1);
	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)), "f:4:7: wrong");
	ktr_error_place(&err, "g", 5, 1);
	CU_ASSERT_STRING_EQUAL(ktr_error_print(&err, line, sizeof(line)), "f:4:7: wrong");
	ktr_error_place(NULL, "g", 5, 1);
}

static void long_input_is_cut(void)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char path[600], text[600];

	memset(path, 'p', sizeof(path));
	strcpy(path + sizeof(path) - 6, "/name");
	memset(text, 't', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ktr_error_at(&err, path, 1, 1, EINVAL, "%s", text);
	CU_ASSERT_EQUAL(strlen(err.file), KTR_ERROR_FILE_BYTES - 1);
	CU_ASSERT_NSTRING_EQUAL(err.file, "...", 3);
	CU_ASSERT_STRING_EQUAL(err.file + strlen(err.file) - 5, "/name");
	CU_ASSERT_EQUAL(strlen(err.text), KTR_ERROR_TEXT_BYTES - 1);
	CU_ASSERT_STRING_EQUAL(err.text + strlen(err.text) - 4, "t...");
	ktr_error_print(&err, line, sizeof(line));
	CU_ASSERT_STRING_EQUAL(line + strlen(line) - 4, "t...");
	ktr_error_print(&err, line, 10);
	CU_ASSERT_EQUAL(strlen(line), 9);
}

static void control_bytes_are_disarmed(void)
{
	struct ktr_error err = KTR_ERROR_NONE;

	ktr_error_at(&err, "a\033[2Jb", 1, 1, EINVAL,
		     "x\ny\x7fz\xc2\x9b"
		     "1m \xc2\xb5s");
	CU_ASSERT_STRING_EQUAL(err.file, "a?[2Jb");
	CU_ASSERT_STRING_EQUAL(err.text, "x?y?z?\x9b"
					 "1m \xc2\xb5s");
}

SUITE(conf_error, TEST(first_error_wins), TEST(codes_of_either_sign), TEST(places_print),
      TEST(place_fills_only_gaps), TEST(long_input_is_cut), TEST(control_bytes_are_disarmed));
