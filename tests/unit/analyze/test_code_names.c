/* SPDX-License-Identifier: BSD-2-Clause */
/* perf's maps: long ones, and lines that are none. A jitdump whose code is moved again and again. */
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

/* A record: its head, and what follows, without padding. */
static void record(uint32_t id, const void *body, uint32_t n, const char *name)
{
	uint32_t n_name = name ? (uint32_t)strlen(name) + 1 : 0, head[4] = { id, 16 + n + n_name, 0, 0 };

	fwrite(head, sizeof(head), 1, file);
	fwrite(body, n, 1, file);
	fwrite(name ? name : "", n_name, 1, file);
}

/* As long as a map: what looks at all that there is for each would take hours. */
static void code_that_moves(void)
{
	const uint32_t head[10] = { 0x4a695444u, 1, 40, 62, 0, 1, 0, 0, 0, 0 };
	struct ktr__code_names names;
	char name[32];

	begin();
	fwrite(head, sizeof(head), 1, file);
	for (uint64_t i = 0; i < LINES; i++) {
		/* pid and tid, vma, address, size, index; and from where to where */
		uint64_t load[5] = { 0, 0, 0x10000 + i * 0x20, 0x10, i };
		uint64_t move[6] = { 0, 0, load[2], 0x40000000 + i * 0x20, 0x10, i };

		snprintf(name, sizeof(name), "function_%u", (unsigned)i);
		record(0, load, sizeof(load), name);
		record(1, move, sizeof(move), NULL);
	}
	/* Of code that nobody loaded, and of an index that no table has. */
	record(1, (uint64_t[]){ 0, 0, 0x100, 0x50000000, 0x10, LINES }, 48, NULL);
	record(1, (uint64_t[]){ 0, 0, 0x100, 0x50000000, 0x10, UINT64_MAX }, 48, NULL);
	read_map(&names);
	CU_ASSERT_EQUAL(names.n, 2 * LINES);
	CU_ASSERT(named(&names, 0x10000 + 7 * 0x20, "function_7"));
	CU_ASSERT(named(&names, 0x40000000 + 7 * 0x20 + 3, "function_7"));
	CU_ASSERT(named(&names, 0x40000000 + (LINES - 1) * 0x20, "function_299999"));
	CU_ASSERT(named(&names, 0x50000000, NULL));
	ktr__code_names_free(&names);
}

SUITE(code_names, TEST(a_long_map), TEST(lines_that_are_none), TEST(code_that_moves));
