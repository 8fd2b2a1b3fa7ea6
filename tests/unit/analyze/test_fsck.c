/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repairs of traces that were cut and spoilt: nothing that could be read is lost, nothing is left to
 * repair, and what was lost is counted.
 */
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/rewrite/fsck.h"
#include "writer/format/packet.h"

#include <errno.h>
#include <inttypes.h>

#define FSCK_EVENTS 60

static void fsck_make(struct made *made)
{
	uint32_t a, b;

	made_open(made);
	a = made_site(made, KTR_GEN, "t.c", 1, "%u is %s", "n,s", 2, KTR_ARG_U32, KTR_ARG_STR);
	b = made_site(made, KTR_NET, "t.c", 2, "other %d", "n", 1, KTR_ARG_I32);
	made_thread(made, 101, 100, "one");
	for (uint64_t i = 0; i < FSCK_EVENTS; i++) {
		made_event(made, 0, 1000 + 10 * i, a, 1, i, i % 3 ? "some text" : "");
		if (i % 10 == 0)
			made_event(made, 1, 1005 + 10 * i, b, 1, i);
		if (i % 20 == 19)
			made_drain(made);
	}
	made_trace(made);
}

/* A copy of the trace's directory as it was made, to begin from again and again. */
static void fsck_copy(const char *from, const char *to)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -rf %s && cp -a %s %s", to, from, to);
	CU_ASSERT_FATAL(system(command) == 0);
}

struct fsck_walk {
	char *events; /* lines, as they are */
	unsigned n_events, n_lost, n_alarms;
};

static struct fsck_walk fsck_walk(const char *path)
{
	struct fsck_walk walk = { made_walk(path, NULL), 0, 0, 0 };
	char *to = walk.events, *next;

	CU_ASSERT_PTR_NOT_NULL_FATAL(walk.events);
	for (char *line = walk.events; *line; line = next) {
		next = strchr(line, '\n') + 1;
		if (strncmp(line, "note", 4) == 0) {
			/* That events are gone from the end is told for ever. */
			walk.n_alarms += line[4] == '!' && !strstr(line, "ends of its streams");
		} else if (strncmp(line, "lost ", 5) == 0) {
			walk.n_lost += (unsigned)strtoul(line + 5, NULL, 10);
		} else {
			memmove(to, line, (size_t)(next - line));
			to += next - line;
			walk.n_events++;
		}
	}
	*to = 0;
	return walk;
}

/* Repairs it; says what was found. */
static unsigned fsck_run(const char *path, int only_look)
{
	struct ktr__fsck fsck = { .path = path, .only_look = only_look };
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES];
	int rc = ktr__fsck(&fsck, &err);

	CU_ASSERT(rc == 0);
	if (rc)
		fprintf(stderr, "\n%s\n", ktr_error_print(&err, line, sizeof(line)));
	CU_ASSERT(fsck.n_mended == (only_look ? 0 : fsck.n_found));
	return fsck.n_found;
}

/* All that holds of a damaged trace that is repaired. */
static void fsck_check(const char *path, int expect_events, int expect_lost)
{
	struct fsck_walk before = fsck_walk(path), after;
	unsigned found = fsck_run(path, 1);

	CU_ASSERT(found > 0);
	CU_ASSERT(fsck_run(path, 0) == found);
	CU_ASSERT(fsck_run(path, 1) == 0);
	CU_ASSERT(fsck_run(path, 0) == 0);
	after = fsck_walk(path);
	CU_ASSERT(after.n_alarms == 0);
	CU_ASSERT_STRING_EQUAL(after.events, before.events);
	CU_ASSERT(after.n_lost >= before.n_lost);
	if (expect_events >= 0)
		CU_ASSERT(after.n_events == (unsigned)expect_events);
	if (expect_lost >= 0)
		CU_ASSERT(after.n_lost == (unsigned)expect_lost);
	free(before.events);
	free(after.events);
}

static void fsck_edit(const char *trace, const char *name, off_t cut, off_t bit)
{
	char path[160];
	uint8_t byte;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", trace, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	if (cut >= 0)
		CU_ASSERT(ftruncate(fd, cut) == 0);
	if (bit >= 0) {
		CU_ASSERT(pread(fd, &byte, 1, bit / 8) == 1);
		byte ^= (uint8_t)(1u << bit % 8);
		CU_ASSERT(pwrite(fd, &byte, 1, bit / 8) == 1);
	}
	close(fd);
}

static off_t fsck_size(const char *trace, const char *name)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", trace, name);
	CU_ASSERT_FATAL(stat(path, &st) == 0);
	return st.st_size;
}

static void what_is_whole_is_left_alone(void)
{
	struct made made;
	struct fsck_walk before, after;

	fsck_make(&made);
	before = fsck_walk(made.trace);
	CU_ASSERT(fsck_run(made.trace, 0) == 0);
	after = fsck_walk(made.trace);
	CU_ASSERT_STRING_EQUAL(after.events, before.events);
	free(before.events);
	free(after.events);
	made_close(&made);
}

/* Do the first n bytes of a file end where a line or a packet does? Then nothing is to be mended: readers count. */
static int fsck_is_edge(const char *trace, const char *name, off_t n)
{
	struct ktr_packet_header head;
	uint8_t bytes[8192];
	char path[160];
	ssize_t got;
	off_t at = 0;
	int64_t length;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", trace, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = read(fd, bytes, sizeof(bytes));
	close(fd);
	CU_ASSERT_FATAL(n > 0 && n <= got);
	while (at < n && (length = ktr__packet_look(bytes + at, (size_t)(n - at), &head)) > 0)
		at += length;
	return strncmp(name, "cpu_", 4) == 0 ? at == n : bytes[n - 1] == '\n';
}

/* Every cut of every file, and flips all over them. */
static void cuts_and_flips_are_repaired(void)
{
	static const char *const names[] = { "cpu_0",	       "cpu_1",		  "metadata",
					     "ktr/sites.jsonl", "ktr/threads.jsonl", "ktr/info.jsonl" };
	int step = getenv("KTR_TEST_ALL") ? 1 : 37;
	struct made made;
	char good[96];

	fsck_make(&made);
	snprintf(good, sizeof(good), "%s/good", made.dir);
	CU_ASSERT_FATAL(rename(made.trace, good) == 0);
	for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
		off_t n = fsck_size(good, names[f]);

		for (off_t at = 7; at < n; at += step * (1 + n / 1500)) {
			fsck_copy(good, made.trace);
			fsck_edit(made.trace, names[f], -1, 8 * at + at % 8);
			fsck_check(made.trace, f > 1 ? FSCK_EVENTS + 6 : -1, -1);
			if (fsck_is_edge(good, names[f], at))
				continue;
			fsck_copy(good, made.trace);
			fsck_edit(made.trace, names[f], at, -1);
			fsck_check(made.trace, f > 1 ? FSCK_EVENTS + 6 : -1, f > 1 ? 0 : -1);
		}
	}
	made_close(&made);
}

/* What is lost in the middle or in front is counted where CTF counts it: from packet to packet. */
static void missing_events_become_discarded_ones(void)
{
	struct ktr_packet_header head;
	uint8_t bytes[8192];
	char path[160];
	struct made made;
	size_t n = 0;
	int fd;

	for (int which = 0; which < 2; which++) {
		uint64_t discarded[4] = { 0 };
		unsigned n_packets = 0;
		int64_t length;

		fsck_make(&made);
		/* A bit of the first or the second packet's events. */
		snprintf(path, sizeof(path), "%s/cpu_0", made.trace);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = (size_t)read(fd, bytes, sizeof(bytes));
		close(fd);
		length = ktr__packet_look(bytes, n, &head);
		CU_ASSERT_FATAL(length > 0);
		fsck_edit(made.trace, "cpu_0", -1, 8 * (which * length + 150));
		fsck_check(made.trace, FSCK_EVENTS + 6 - 20, 20);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = (size_t)read(fd, bytes, sizeof(bytes));
		close(fd);
		for (size_t at = 0; at < n && n_packets < 4; at += (size_t)length) {
			length = ktr__packet_look(bytes + at, n - at, &head);
			CU_ASSERT_FATAL(length > 0);
			discarded[n_packets++] = head.discarded;
		}
		CU_ASSERT(n_packets == (which ? 2 : 3));
		CU_ASSERT(discarded[0] == 0 && discarded[1] == 20);
		made_close(&made);
	}
}

static void what_is_written_is_not_touched(void)
{
	struct ktr__fsck fsck = { 0 };
	struct ktr_error err = KTR_ERROR_NONE;
	struct made made;

	fsck_make(&made);
	fsck.path = made.dir;
	CU_ASSERT(ktr__fsck(&fsck, &err) == -EINVAL);
	made_close(&made);
	made_open(&made);
	made_drain(&made);
	fsck.path = made.trace;
	CU_ASSERT(ktr__fsck(&fsck, NULL) == -EBUSY);
	made_close(&made);
}

SUITE(fsck, TEST(what_is_whole_is_left_alone), TEST(cuts_and_flips_are_repaired),
      TEST(missing_events_become_discarded_ones), TEST(what_is_written_is_not_touched));
