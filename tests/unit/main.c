/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs every suite linked in, or those whose names are given as arguments, and prints the CUnit
 * summary. Exit status 1 when a test failed or none ran.
 */
#include "suite.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

static struct suite *suites;

void suite_add(struct suite *suite)
{
	struct suite **at = &suites;

	while (*at && strcmp((*at)->name, suite->name) < 0)
		at = &(*at)->next;
	suite->next = *at;
	*at = suite;
}

static int wanted(const char *name, int argc, char **argv)
{
	if (argc < 2)
		return 1;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return 1;
	return 0;
}

/* Once more behind the summary, where who sees the end alone looks. */
static void say_what_failed(void)
{
	for (const CU_FailureRecord *f = CU_get_failure_list(); f; f = f->pNext)
		printf("FAILED %s.%s: %s:%u: %s\n", f->pSuite ? f->pSuite->pName : "-",
		       f->pTest ? f->pTest->pName : "-", f->strFileName, f->uiLineNumber, f->strCondition);
}

int main(int argc, char **argv)
{
	unsigned failed, run;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	for (struct suite *s = suites; s; s = s->next) {
		CU_pSuite cu;

		if (!wanted(s->name, argc, argv))
			continue;
		cu = CU_add_suite(s->name, NULL, NULL);
		for (unsigned i = 0; cu && i < s->n_tests; i++)
			CU_add_test(cu, s->tests[i].name, s->tests[i].run);
	}
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	say_what_failed();
	failed = CU_get_number_of_failures();
	run = CU_get_number_of_tests_run();
	CU_cleanup_registry();
	return failed || !run;
}
