/* SPDX-License-Identifier: BSD-2-Clause */
/* A killed writer's trace goes on where it ends; one that is not the session's is refused. */
#include "writer/rotate.h"
#include "drained.h"
#include "oldest.h"

#include <sys/wait.h>

static void append(const char *name, const char *bytes)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", made.trace, name);
	fd = open(path, O_WRONLY | O_APPEND);
	CU_ASSERT_EQUAL(write(fd, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
	close(fd);
}

/* A writer that is killed after some rounds. The image's state is that of the child. */
static void killed_writer_of(int rotates)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		made_session(&made);
		if (ktr__map_open(made.session, 0, &map, NULL) == 0 &&
		    open_drain(KTR__DRAIN_START, 0, 0) == 0 && again() == 0 && again() == 0 &&
		    (!rotates || ktr__rotate(drain, ktr__drain_now()) == 0))
			_exit(0);
		_exit(1);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
}

static void killed_writer(void)
{
	killed_writer_of(0);
}

/* Goes on with the trace: from then on every event once. */
static void resume_and_end(uint32_t site, uint32_t thread, uint64_t more)
{
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(open_drain(KTR__DRAIN_RESUME, 0, 0), 0);
	burst(site, thread, made.slots[1], more);
	CU_ASSERT_EQUAL(again(), 0);
	end();
}

static void killed_writers_trace_goes_on(void)
{
	static const uint64_t later[] = { 0, 1, 100, 3000 };

	for (unsigned i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		uint32_t site, thread, other;
		struct look look;

		made_open(&made);
		site = number_site();
		thread = made_thread(&made, 4712, 4711, "worker");
		burst(site, thread, 0, 700);
		killed_writer();
		append("cpu_1", "\xc1\x1f\xfc\xc1 half a packet");
		append("metadata", "event { id = 4; half a cla");
		append("ktr/sites.jsonl", "{\"site\":9,");
		append("ktr/losses.jsonl", "{\"str");
		other = made_site(&made, KTR_NET, "net.c", 43, "later %d", "m", 1, KTR_ARG_I64);
		burst(other, thread, 700, later[i]);
		resume_and_end(other, thread, 50);
		look = look_stream(&made, made.trace, "cpu_1");
		CU_ASSERT_EQUAL(look.n_wrong, 0);
		CU_ASSERT_EQUAL(look.n_events + look.discarded, 750 + later[i]);
		CU_ASSERT_EQUAL(look.next_index, 750 + later[i]);
		CU_ASSERT_EQUAL(look.first_arg, 749 + later[i]);
		CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/sites.jsonl", "\"site\":1,"), 1);
		CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/sites.jsonl", "\"site\":2,"), 1);
		CU_ASSERT(look_lines(made.trace, "ktr/losses.jsonl", "") >= 1);
		made_close(&made);
	}
}

static void foreign_and_damaged_traces_are_refused(void)
{
	char path[200];
	size_t n;
	char *text;

	made_open(&made);
	burst(number_site(), made_thread(&made, 4712, 4711, "worker"), 0, 10);
	killed_writer();
	made.image.header->uuid[3] ^= 1;
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL(open_drain(KTR__DRAIN_RESUME, 0, 0), -ESTALE);
	ktr__map_close(&map);
	made.image.header->uuid[3] ^= 1;
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	snprintf(path, sizeof(path), "%s/ktr/info.jsonl", made.trace);
	CU_ASSERT_EQUAL(truncate(path, 100), 0);
	CU_ASSERT_EQUAL(open_drain(KTR__DRAIN_RESUME, 0, 0), -EPROTO);
	strcpy(made.trace, made.dir);
	CU_ASSERT_EQUAL(open_drain(KTR__DRAIN_RESUME, 0, 0), -ENOENT);
	ktr__map_close(&map);
	text = look_file(made.dir, "ktr.out/metadata", &n);
	CU_ASSERT_PTR_NOT_NULL(text); /* what was refused was not touched */
	CU_ASSERT(text && n > 1000);
	free(text);
	made_close(&made);
}

/* Killed when it has just rotated: what the ring still holds of the piece before is not taken again. */
static void what_was_rotated_away_stays_there(void)
{
	static const uint64_t later[] = { 0, 1, 100 };

	for (unsigned i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		uint32_t site, thread;
		struct look look;

		made_open(&made);
		site = number_site();
		thread = made_thread(&made, 4712, 4711, "worker");
		burst(site, thread, 0, 700);
		killed_writer_of(1);
		burst(site, thread, 700, later[i]);
		resume_and_end(site, thread, 50);
		look = look_stream(&made, made.trace, "cpu_1");
		CU_ASSERT_EQUAL(look.n_wrong, 0);
		CU_ASSERT_EQUAL(look.n_events, 50 + later[i]);
		CU_ASSERT_EQUAL(look.discarded, 0);
		CU_ASSERT_EQUAL(look.next_index, 750 + later[i]);
		made_close(&made);
	}
}

/* What a reader says of a trace that was gone on with; old: it was in the form of earlier writers by then. */
static char *gone_on_with(int old)
{
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 700);
	killed_writer();
	if (old)
		CU_ASSERT_FATAL(oldest_trace(made.trace, "cpu_1") == 0);
	burst(site, thread, 700, 3000);
	resume_and_end(site, thread, 1500);
	return made_walk(made.trace, NULL);
}

/* A trace has one form: what describes its packets stands at its beginning. */
static void an_older_trace_is_gone_on_with_in_its_form(void)
{
	char *today = gone_on_with(0), *older;
	struct ktr_packet_header head;
	unsigned n_old = 0, n_packets = 0;
	size_t n = 0, at = 0;
	uint8_t *bytes;

	made_close(&made);
	older = gone_on_with(1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(today);
	CU_ASSERT_PTR_NOT_NULL_FATAL(older);
	CU_ASSERT(strlen(today) > 1000);
	CU_ASSERT_STRING_EQUAL(today, older);
	bytes = (uint8_t *)look_file(made.trace, "cpu_1", &n);
	for (int64_t length; bytes && at < n; at += (size_t)length) {
		length = ktr__packet_look(bytes + at, n - at, &head);
		if (length <= 0)
			break;
		n_old += (head.flags & KTR_PACKET_VERSION) == KTR_TRACE_OLDEST;
		n_packets++;
	}
	CU_ASSERT(n && at == n);
	CU_ASSERT(n_packets > 4);
	CU_ASSERT_EQUAL(n_old, n_packets);
	free(bytes);
	free(today);
	free(older);
	made_close(&made);
}

/* Nothing to add. */
static void end_again(void)
{
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(open_drain(KTR__DRAIN_RESUME, 0, 0), 0);
	end();
}

static void nothing_is_told_twice(void)
{
	static const char *const names[] = { "cpu_1",		  "metadata",	       "ktr/info.jsonl",
					     "ktr/sites.jsonl",	  "ktr/threads.jsonl", "ktr/procs.jsonl",
					     "ktr/classes.jsonl", "ktr/modules.jsonl", "ktr/anchors.jsonl",
					     "ktr/losses.jsonl" };
	enum { N = sizeof(names) / sizeof(names[0]) };
	char *before[N], *after;
	size_t n_before[N], n_after = 0;
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 700);
	killed_writer();
	end_again();
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"tid\":4712"), 1);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"kind\":\"end\""), 1);
	for (unsigned i = 0; i < N; i++)
		before[i] = look_file(made.trace, names[i], &n_before[i]);
	end_again();
	end_again();
	for (unsigned i = 0; i < N; i++) {
		after = look_file(made.trace, names[i], &n_after);
		CU_ASSERT_FATAL(before[i] && after);
		CU_ASSERT(n_before[i] == n_after && memcmp(before[i], after, n_after) == 0);
		free(before[i]);
		free(after);
	}
	/* What is new still is. */
	resume_and_end(site, made_thread(&made, 4713, 4711, "other"), 1);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", ""), 2);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"kind\":\"end\""), 2);
	made_close(&made);
}

SUITE(resume, TEST(killed_writers_trace_goes_on), TEST(foreign_and_damaged_traces_are_refused),
      TEST(an_older_trace_is_gone_on_with_in_its_form),
      TEST(what_was_rotated_away_stays_there), TEST(nothing_is_told_twice));
