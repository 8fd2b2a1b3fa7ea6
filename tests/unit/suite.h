/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A test file is a list of functions and one SUITE() at its end; main.c finds the suites by
 * itself, so that adding a test means adding a file.
 *
 *	static void adds_up(void) { CU_ASSERT_EQUAL(1 + 1, 2); }
 *	SUITE(arithmetic, TEST(adds_up));
 *
 * The test's name on the screen is the function's name.
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <CUnit/CUnit.h>

struct test {
	const char *name;
	void (*run)(void);
};

struct suite {
	const char *name;
	const struct test *tests;
	unsigned n_tests;
	struct suite *next;
};

void suite_add(struct suite *suite);

#define TEST(function) { #function, function }

#define SUITE(suite_name, ...)                                                       \
	static const struct test suite_name##_tests[] = { __VA_ARGS__ };             \
	static struct suite suite_name##_suite = {                                   \
		#suite_name, suite_name##_tests,                                     \
		sizeof(suite_name##_tests) / sizeof(suite_name##_tests[0]), 0        \
	};                                                                           \
	static void __attribute__((constructor)) suite_name##_add(void)              \
	{                                                                            \
		suite_add(&suite_name##_suite);                                      \
	}                                                                            \
	extern int suite_needs_a_semicolon

#endif
