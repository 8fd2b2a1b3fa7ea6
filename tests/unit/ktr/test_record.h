/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the recorder's tests share: each clears the rings, traces in a class of its own, and looks at what came out.
 */
#ifndef TESTS_TEST_RECORD_H
#define TESTS_TEST_RECORD_H

#define KTR_NO_AUTOSTART
#include "tests/unit/suite.h"

#include <ktr.h>

#include <stddef.h>

KTR_CLASS_DECLARE(record_test);

/* Starts the library once, in a directory of its own, and forgets what was recorded before. 0, or -1. */
int record_begin(const char *mask);

/* Texts of the events of our class, one line each, as many as there is room for. Returns lines. */
char *record_texts(char *lines, size_t size);

#define BEGIN() CU_ASSERT_FATAL(record_begin("record_test") == 0)
#define EXPECT(text) CU_ASSERT_STRING_EQUAL(record_texts(lines, sizeof(lines)), text)

#endif
