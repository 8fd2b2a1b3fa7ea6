/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings as arguments: of each length, wherever they lie, and nothing of what lies around them. */
#include "tests/unit/ktr/test_record.h"

#include <ktr/ctl.h>

#include "ktr/session/cpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void strings_are_copied(void)
{
	char lines[8192], text[32] = "first", longer[700], expected[1200];

	BEGIN();
	memset(longer, 'y', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CTR1(KTR_CLASS(record_test), "%s", text);
	strcpy(text, "second");
	CTR2(KTR_CLASS(record_test), "%s %s", text, "");
	CTR1(KTR_CLASS(record_test), "%s", (char *)NULL);
	CTR1(KTR_CLASS(record_test), "%s", longer);
	snprintf(expected, sizeof(expected), "first\nsecond \n(null)\n%.*s...\n", KTR_STRING_MAX, longer);
	EXPECT(expected);
}

static void strings_of_every_length_are_whole(void)
{
	char text[128], *lines = malloc(65536), *expected = malloc(65536);
	size_t at = 0;

	BEGIN();
	for (unsigned n = 0; n < sizeof(text); n++) {
		memset(text, 'a' + n % 26, n);
		text[n] = 0;
		CTR1(KTR_CLASS(record_test), "%s", text);
		at += (size_t)sprintf(expected + at, "%s\n", text);
	}
	CU_ASSERT_STRING_EQUAL(record_texts(lines, 65536), expected);
	free(lines);
	free(expected);
}

/* A string that ends right before an unmapped page, at each distance. */
static void strings_at_the_end_of_memory(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char lines[8192], expected[8192];
	size_t at = 0;

	BEGIN();
	CU_ASSERT_FATAL(map != MAP_FAILED);
	CU_ASSERT_FATAL(mprotect(map + page, page, PROT_NONE) == 0);
	for (size_t n = 0; n < 80; n++) {
		char *text = map + page - n - 1;

		memset(text, 'z', n);
		text[n] = 0;
		CTR1(KTR_CLASS(record_test), "%s", text);
		at += (size_t)sprintf(expected + at, "%s\n", text);
	}
	EXPECT(expected);
	munmap(map, 2 * page);
}

static void a_precision_is_a_promise(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char lines[1024], *bytes = map + page - 4;

	BEGIN();
	CU_ASSERT_FATAL(map != MAP_FAILED);
	CU_ASSERT_FATAL(mprotect(map + page, page, PROT_NONE) == 0);
	memcpy(bytes, "wxyz", 4); /* no terminator */
	CTR2(KTR_CLASS(record_test), "[%.*s]", 4, bytes);
	CTR1(KTR_CLASS(record_test), "[%.2s]", bytes);
	CTR2(KTR_CLASS(record_test), "[%.*s]", 0, bytes);
	CTR2(KTR_CLASS(record_test), "[%.*s]", -1, "negative is none");
	EXPECT("[wxyz]\n[wx]\n[]\n[negative is none]\n");
	munmap(map, 2 * page);
}

/* What has room in an entry, what has not, and everything around the limits between them. */
static void strings_of_all_lengths_are_recorded(void)
{
	char text[64], other[64], want[400], lines[400];

	CU_ASSERT_EQUAL_FATAL(record_begin("record_test"), 0);
	memset(text, 'x', sizeof(text));
	memset(other, 'y', sizeof(other));
	for (unsigned n = 0; n < 60; n++) {
		unsigned m = n * 7 % 37;

		text[n] = other[m] = '\0';
		CU_ASSERT_EQUAL_FATAL(ktr_set("debug.ktr.clear", "1", NULL), 0);
		CTR1(KTR_CLASS(record_test), "%s|", text);
		CTR2(KTR_CLASS(record_test), "%s|%s|", text, other);
		CTR4(KTR_CLASS(record_test), "%u|%s|%u|%s|", n, text, m, "literal");
		CTR4(KTR_CLASS(record_test), "%s|%u|%.*s|", text, m, (int)m, other);
		snprintf(want, sizeof(want), "%s|\n%s|%s|\n%u|%s|%u|literal|\n%s|%u|%.*s|\n", text, text, other, n, text,
			 m, text, m, (int)m, other);
		record_texts(lines, sizeof(lines));
		CU_ASSERT_STRING_EQUAL(strncmp(lines, want, strlen(want)) ? lines : want, want);
		text[n] = 'x';
		other[m] = 'y';
	}
}

/* Is this anywhere in the session of this process? Most of its file are holes. */
static bool text_is_in_session(const char *what)
{
	int fd = open(ktr_session_path(), O_RDONLY);
	off_t from, to = 0;
	bool found = false;

	CU_ASSERT_FATAL(fd >= 0);
	while ((from = lseek(fd, to, SEEK_DATA)) >= 0 && !found) {
		char *bytes;

		to = lseek(fd, from, SEEK_HOLE);
		bytes = mmap(NULL, (size_t)(to - from), PROT_READ, MAP_SHARED, fd, from);
		CU_ASSERT_FATAL(bytes != MAP_FAILED);
		found = memmem(bytes, (size_t)(to - from), what, strlen(what));
		munmap(bytes, (size_t)(to - from));
	}
	close(fd);
	return found;
}

/*
 * Strings of all lengths that are copied, begun at some distance from a line's start, between bytes that are not
 * theirs; and, with end, so that memory ends with them.
 */
static void text_lengths(char *map, size_t page, unsigned distance, bool end)
{
	enum { BATCH = 24 };
	static char lines[BATCH * 2 * 600], want[sizeof(lines)];

	for (unsigned first = 0; first <= KTR_STRING_MAX; first += BATCH) {
		size_t at = 0;

		CU_ASSERT_EQUAL_FATAL(ktr_set("debug.ktr.clear", "1", NULL), 0);
		for (unsigned n = first; n < first + BATCH && n <= KTR_STRING_MAX; n++) {
			char *text = end ? map + page - n - 1 : map + 64 + distance;

			memset(map, 0, 64 + distance);
			if (!end)
				memcpy(text + n + 1, "hidden away hidden away hidden away hidden away hidden away hidden", 66);
			for (unsigned i = 0; i < n; i++)
				text[i] = (char)('a' + (i + n) % 26);
			text[n] = 0;
			CTR1(KTR_CLASS(record_test), "%s|", text);
			CTR2(KTR_CLASS(record_test), "%s|%u", text, n);
			at += (size_t)sprintf(want + at, "%s|\n%s|%u\n", text, text, n);
		}
		CU_ASSERT_STRING_EQUAL_FATAL(record_texts(lines, sizeof(lines)), want);
	}
	CU_ASSERT(text_is_in_session("zabcdefghijklm"));
	CU_ASSERT_FALSE(text_is_in_session("hidden away"));
}

static void text_everywhere(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	BEGIN();
	CU_ASSERT_FATAL(map != MAP_FAILED);
	CU_ASSERT_FATAL(mprotect(map + page, page, PROT_NONE) == 0);
	for (unsigned distance = 0; distance < 64; distance += 9)
		text_lengths(map, page, distance, false);
	text_lengths(map, page, 0, true);
	munmap(map, 2 * page);
}

static void strings_lie_anywhere(void)
{
	text_everywhere();
}

#if defined(__x86_64__)
static void strings_lie_anywhere_without_avx2(void)
{
	int before = ktr__cpu_avx2;

	ktr__cpu_avx2 = 0;
	text_everywhere();
	ktr__cpu_avx2 = before;
}
#define AVX2_TESTS , TEST(strings_lie_anywhere_without_avx2)
#else
#define AVX2_TESTS
#endif

SUITE(record_text, TEST(strings_are_copied), TEST(strings_of_every_length_are_whole),
      TEST(strings_at_the_end_of_memory), TEST(a_precision_is_a_promise), TEST(strings_of_all_lengths_are_recorded),
      TEST(strings_lie_anywhere) AVX2_TESTS);
