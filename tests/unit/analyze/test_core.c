/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session of a process by its core: from the core where it has the rings, from the session's file
 * where that is still the same session, in parts where the core is not whole; and cores that are damaged.
 */
#include "tests/unit/core_image.h"
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/session/core.h"

#define CORE_HEAP 0x560000000000ull /* memory that is not the session's */

struct core_test {
	struct made made;
	struct core_piece piece[4];
	unsigned n_pieces;
	char path[96];
	char notes[1024]; /* of the last walk, */
	int damaged;      /* and whether one told of damage */
	struct ktr_error err;
};

/* A session with an event on each CPU. */
static void core_begin(struct core_test *test)
{
	struct made *made = &test->made;
	uint32_t site, thread;

	memset(test, 0, sizeof(*test));
	made_open(made);
	site = made_site(made, KTR_NET, "net.c", 42, "got %d", "n", 1, KTR_ARG_I32);
	thread = made_thread(made, 101, 100, "one");
	made_event(made, 0, 1000, site, thread, (uint64_t)1);
	made_event(made, 1, 2000, site, thread, (uint64_t)2);
	made_event(made, 2, 3000, site, thread, (uint64_t)3);
	image_process(&made->image, 1, 100, 1);
	made_session(made);
	snprintf(test->path, sizeof(test->path), "%s/core", made->dir);
}

static void core_end(struct core_test *test)
{
	made_close(&test->made);
}

/* What a core has with default filters: the library's own copy of the header. */
static void core_has_copy(struct core_test *test)
{
	test->piece[test->n_pieces++] = (struct core_piece){ CORE_HEAP, test->made.image.header,
							     sizeof(struct ktr_header) };
}

/* What it has of the session from one byte to another. */
static void core_has_session(struct core_test *test, uint64_t from, uint64_t to)
{
	test->piece[test->n_pieces++] = (struct core_piece){ CORE_BASE + from,
							     test->made.image.bytes + from,
							     to - from };
}

static void core_write(const struct core_test *test, const void *bytes, size_t n)
{
	FILE *to = fopen(test->path, "wb");

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	CU_ASSERT_EQUAL(fwrite(bytes, 1, n, to), n);
	fclose(to);
}

static void core_save(struct core_test *test, const char *mapped)
{
	size_t n;
	unsigned char *bytes = core_make(test->piece, test->n_pieces, mapped, 100, &n);

	core_write(test, bytes, n);
	free(bytes);
}

/* How many events the core's session has, or -errno. Notes are kept. */
static int core_events(struct core_test *test)
{
	struct ktr_reader *reader;
	struct ktr_event event;
	int what, n = 0, rc;

	test->notes[0] = test->err.text[0] = '\0';
	test->err.code = test->damaged = 0;
	rc = ktr_reader_open(test->path, NULL, &reader, &test->err);
	if (rc)
		return rc;
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		n += what == KTR_READ_EVENT;
		if (what != KTR_READ_NOTE)
			continue;
		test->damaged |= ktr_reader_note(reader)->damaged;
		strncat(test->notes, ktr_reader_note(reader)->text,
			sizeof(test->notes) - strlen(test->notes) - 1);
	}
	ktr_reader_close(reader);
	return what < 0 ? what : n;
}

static void a_core_that_has_the_rings(void)
{
	struct core_test test;
	char *session, *core;

	core_begin(&test);
	core_has_session(&test, 0, test.made.image.n_bytes);
	core_save(&test, NULL);
	session = made_walk(test.made.session, NULL);
	core = made_walk(test.path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(core);
	CU_ASSERT_PTR_NOT_NULL(strstr(core, "3000 #0 cpu0k one/101/100 net net.c:42 [n] got 3"));
	CU_ASSERT_PTR_NOT_NULL(strstr(session, "3000 #0 cpu0k one/101/100 net net.c:42 [n] got 3"));
	free(session);
	free(core);
	/* The core is of the moment of the crash: it goes before the file. */
	core_save(&test, test.made.session);
	CU_ASSERT_EQUAL(core_events(&test), 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.notes, "as the core holds it"));
	CU_ASSERT_FALSE(test.damaged);
	core_end(&test);
}

static void a_core_without_them_leads_to_the_file(void)
{
	struct core_test test;
	char *uuid;

	core_begin(&test);
	core_has_copy(&test);
	core_save(&test, test.made.session);
	CU_ASSERT_EQUAL(core_events(&test), 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.notes, "which is still there"));
	CU_ASSERT_PTR_NOT_NULL(strstr(test.notes, test.made.session));
	/* Not even the copy: the process is in the session's table. */
	test.n_pieces = 0;
	core_save(&test, test.made.session);
	CU_ASSERT_EQUAL(core_events(&test), 3);
	/* By the same name another session, of another process. */
	core_has_copy(&test);
	core_save(&test, test.made.session);
	uuid = (char *)test.made.image.header->uuid;
	uuid[0]++;
	made_session(&test.made);
	uuid[0]--;
	CU_ASSERT_EQUAL(core_events(&test), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.err.text, "its file is gone"));
	unlink(test.made.session);
	CU_ASSERT_EQUAL(core_events(&test), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.err.text, "session made"));
	test.n_pieces = 0;
	core_save(&test, "/bin/made");
	CU_ASSERT_EQUAL(core_events(&test), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.err.text, "without a session"));
	core_end(&test);
}

static void a_core_with_some_of_the_rings(void)
{
	struct core_test test;
	uint64_t data, ring = (uint64_t)KTR_ENTRY_BYTES << MADE_LOG2;

	core_begin(&test);
	data = test.made.image.header->region[KTR_REGION_data].offset;
	/* Rings 1 and 3, each 64 KiB apart, are missing. */
	core_has_session(&test, 0, data + ring);
	core_has_session(&test, data + 2 * KTR_SESSION_ALIGN, data + 2 * KTR_SESSION_ALIGN + ring);
	core_save(&test, "/gone.ktr (deleted)");
	CU_ASSERT_EQUAL(core_events(&test), 2);
	CU_ASSERT(test.damaged);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.notes, "does not hold 1 of its rings"));
	/* The file has all of them. */
	core_save(&test, test.made.session);
	CU_ASSERT_EQUAL(core_events(&test), 3);
	CU_ASSERT_FALSE(test.damaged);
	core_end(&test);
}

/* Cut anywhere, the core gives what it has, or an error with a text. */
static void a_core_that_is_cut(void)
{
	struct core_test test;
	unsigned char *bytes;
	uint64_t behind; /* [bytes] behind the last ring that has anything */
	size_t n;

	core_begin(&test);
	unlink(test.made.session);
	behind = test.made.image.n_bytes - test.made.image.header->region[KTR_REGION_data].offset -
		 2 * KTR_SESSION_ALIGN - ((uint64_t)KTR_ENTRY_BYTES << MADE_LOG2);
	core_has_session(&test, 0, test.made.image.n_bytes);
	bytes = core_make(test.piece, test.n_pieces, "/gone.ktr (deleted)", 100, &n);
	for (size_t cut = 0; cut <= n; cut += cut < 1200 ? 7 : 60001) {
		int rc;

		core_write(&test, bytes, cut);
		rc = core_events(&test);
		CU_ASSERT(rc < 0 ? test.err.code == -rc && test.err.text[0]
				 : test.damaged == (n - cut > behind));
	}
	free(bytes);
	core_end(&test);
}

/* Any word of its tables may be wrong. */
static void no_table_is_believed(void)
{
	static const uint64_t words[] = { 0,          1,          0xffff,    1ull << 31,
					  1ull << 40, 1ull << 63, UINT64_MAX };
	struct core_test test;
	unsigned char *bytes;
	size_t n;

	core_begin(&test);
	unlink(test.made.session);
	core_has_session(&test, 0, test.made.image.n_bytes);
	bytes = core_make(test.piece, test.n_pieces, "/gone.ktr (deleted)", 100, &n);
	for (size_t at = 16; at < 600; at += 8)
		for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			uint64_t was;
			struct ktr__core core;

			memcpy(&was, bytes + at, 8);
			memcpy(bytes + at, &words[i], 8);
			core_write(&test, bytes, 4096);
			memcpy(bytes + at, &was, 8);
			if (ktr__core_open(&core, test.path, &test.err))
				continue;
			for (size_t k = 0; k < core.n_parts; k++) {
				CU_ASSERT(core.part[k].offset < 4096);
				CU_ASSERT(core.part[k].n_bytes <= 4096 - core.part[k].offset);
				CU_ASSERT(!k ||
					  core.part[k].at >=
						  core.part[k - 1].at + core.part[k - 1].n_bytes);
			}
			CU_ASSERT(core.n_files <= 1);
			ktr__core_close(&core);
		}
	free(bytes);
	core_end(&test);
}

static void memory_is_where_it_was(void)
{
	static const char text[] = "0123456789";
	struct core_piece piece[] = {
		{ 5010, text, 10 }, { 5000, text, 10 }, { 5005, text, 10 }, { 7000, text, 10 }
	};
	unsigned char *bytes;
	struct core_test test;
	struct ktr__core core;
	char got[21] = "";
	size_t n;

	core_begin(&test);
	bytes = core_make(piece, 4, NULL, 4711, &n);
	core_write(&test, bytes, n);
	free(bytes);
	CU_ASSERT_EQUAL_FATAL(ktr__core_open(&core, test.path, NULL), 0);
	CU_ASSERT_EQUAL(core.pid, 4711);
	CU_ASSERT_STRING_EQUAL(core.name, "made");
	CU_ASSERT_EQUAL(ktr__core_holds(&core, 5000, 100), 20);
	CU_ASSERT_EQUAL(ktr__core_holds(&core, 5020, 1), 0);
	CU_ASSERT_EQUAL(ktr__core_holds(&core, 7003, 4), 4);
	/* Of two pieces that overlap the one that begins first counts. */
	CU_ASSERT_EQUAL(ktr__core_read(&core, 5000, got, 20), 0);
	CU_ASSERT_STRING_EQUAL(got, "01234567895678956789");
	CU_ASSERT_EQUAL(ktr__core_read(&core, 5001, got, 20), -EFAULT);
	ktr__core_close(&core);
	core_end(&test);
}

SUITE(core, TEST(a_core_that_has_the_rings), TEST(a_core_without_them_leads_to_the_file),
      TEST(a_core_with_some_of_the_rings), TEST(a_core_that_is_cut), TEST(no_table_is_believed),
      TEST(memory_is_where_it_was));
