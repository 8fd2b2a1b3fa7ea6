/* SPDX-License-Identifier: BSD-2-Clause */
/* perf's maps: long ones, and lines that are none. */
#include "analyze/symbols/code_names.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];
static FILE *file;

static void begin(void)
{
	int fd;

	strcpy(path, "/tmp/ktr-unit-map.XXXXXX");
	fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	file = fdopen(fd, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
}

static int named(struct ktr__code_names *names, uint64_t address, const char *expected)
{
	uint64_t offset;
	size_t n = 0;
	const char *name = ktr__code_names_find(names, address, &n, &offset);

	return name && expected ? n == strlen(expected) && memcmp(name, expected, n) == 0 : !name && !expected;
}

static void read_map(struct ktr__code_names *names)
{
	*names = (struct ktr__code_names){ 0 };
	CU_ASSERT_FATAL(fclose(file) == 0);
	CU_ASSERT_EQUAL(ktr__code_names_read(names, path, 0), 0);
	unlink(path);
}

#define LINES 300000u

static void a_long_map(void)
{
	struct ktr__code_names names;

	begin();
	for (unsigned i = 0; i < LINES; i++)
		fprintf(file, "%x 10 function_%u\n", 0x10000 + i * 0x20, i);
	read_map(&names);
	CU_ASSERT(named(&names, 0x10000, "function_0") && named(&names, 0x1000f, "function_0"));
	CU_ASSERT(named(&names, 0x10010, NULL));
	CU_ASSERT(named(&names, 0x10000 + (LINES - 1) * 0x20 + 3, "function_299999"));
	ktr__code_names_free(&names);
}

/* A megabyte of nothing is soon read; what is no line is left out, and so is a last one without end. */
static void lines_that_are_none(void)
{
	struct ktr__code_names names;

	begin();
	for (unsigned i = 0; i < 1000000; i++)
		fputc('\n', file);
	fputs("zz 10 a\n1000\n1000 \n1000 10\n1000 10 \n 1000 10 b\n", file);
	fputs("0x1000 0x10 c with blanks\n2000 10 d\n3000 10 e", file);
	read_map(&names);
	CU_ASSERT(named(&names, 0x1008, "c with blanks") && named(&names, 0x2000, "d"));
	CU_ASSERT(named(&names, 0x3000, NULL));
	CU_ASSERT_EQUAL(names.n, 2);
	ktr__code_names_free(&names);
}

SUITE(code_names, TEST(a_long_map), TEST(lines_that_are_none));
