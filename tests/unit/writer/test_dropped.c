/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that went into no ring: whatever the reason, a trace tells how many there were, and no stream of it does;
 * once, also where the trace was rotated, where its writer was killed, and where it is gone on with.
 */
#include "writer/rotate.h"
#include "drained.h"

#include "writer/housekeeping.h"

#include <stddef.h>
#include <sys/wait.h>

static const struct dropped_reason {
	const char *why;
	size_t at;
} reasons[] = {
	{ "vfork", offsetof(struct ktr_control, drop_vfork) },
	{ "no_ring", offsetof(struct ktr_control, drop_no_ring) },
	{ "nested", offsetof(struct ktr_control, drop_nested) },
	{ "no_site", offsetof(struct ktr_control, drop_no_site) },
	{ "closed", offsetof(struct ktr_control, drop_closed) },
};
enum { REASONS = sizeof(reasons) / sizeof(reasons[0]) };

static uint64_t *count_of(const struct dropped_reason *reason)
{
	return (uint64_t *)(void *)((char *)made.image.control + reason->at);
}

static uint32_t site, thread;

static void open_all(void)
{
	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 10);
}

/* What a reader says is lost. alone: without what was rotated away, and without the session. */
static uint64_t said_lost(const char *path, int alone)
{
	struct ktr_reader_options options = { .size = sizeof(options), .alone = alone };
	struct ktr_reader *reader;
	uint64_t n;

	CU_ASSERT_EQUAL_FATAL(ktr_reader_open(path, &options, &reader, NULL), 0);
	n = ktr_reader_info(reader)->n_lost;
	ktr_reader_close(reader);
	return n;
}

/* One reason after another: counted, and said with its name. */
static void each_reason(void)
{
	struct ktr__drain_stats stats;
	char line[64];

	for (unsigned i = 0; i < REASONS; i++) {
		open_all();
		begin(KTR__DRAIN_START);
		CU_ASSERT_EQUAL(again(), 0);
		*count_of(&reasons[i]) = 77 + i;
		made_session(&made);
		stats = end();
		CU_ASSERT_EQUAL(stats.lost, 77 + i);
		CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").discarded, 0);
		CU_ASSERT_EQUAL(said_lost(made.trace, 1), 77 + i);
		snprintf(line, sizeof(line), "\"why\":\"%s\",\"events\":%u,", reasons[i].why, 77 + i);
		CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", line), 1);
		made_close(&made);
	}
}

/* Beside those of rings, which stay what they are. */
static void beside_those_of_rings(void)
{
	uint64_t sum = 5;

	open_all();
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	image_ring(&made.image, 1)->dropped = 5;
	for (unsigned i = 0; i < REASONS; i++)
		sum += *count_of(&reasons[i]) = 10 + i;
	made_session(&made);
	CU_ASSERT_EQUAL(end().lost, sum);
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").discarded, 5);
	CU_ASSERT_EQUAL(said_lost(made.trace, 1), sum);
	made_close(&made);
}

/* What is saved of a session has all of it; what is taken of it from now on, what came since. */
static void from_where_a_drain_begins(void)
{
	for (int head = 0; head < 2; head++) {
		open_all();
		*count_of(&reasons[0]) = 30;
		begin(head ? KTR__DRAIN_HEAD : KTR__DRAIN_OLDEST);
		CU_ASSERT_EQUAL(again(), 0);
		*count_of(&reasons[0]) = 33;
		made_session(&made);
		end();
		CU_ASSERT_EQUAL(said_lost(made.trace, 1), head ? 3 : 33);
		made_close(&made);
	}
}

static void rotated(void)
{
	char older[400];

	open_all();
	*count_of(&reasons[1]) = 4;
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	ktr__housekeeping_dropped(drain);
	CU_ASSERT_EQUAL(ktr__rotate(drain, ktr__drain_now()), 0);
	*count_of(&reasons[1]) = 9;
	burst(site, thread, 10, 10);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	snprintf(older, sizeof(older), "%s.1", made.trace);
	CU_ASSERT_EQUAL(said_lost(made.trace, 0), 9);
	CU_ASSERT_EQUAL(said_lost(made.trace, 1), 5);
	CU_ASSERT_EQUAL(said_lost(older, 1), 4);
	made_close(&made);
}

/* A writer that is killed when it has told of what was dropped. */
static void killed_writer(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		made_session(&made);
		if (ktr__map_open(made.session, 0, &map, NULL) || open_drain(KTR__DRAIN_START, 0, 0) || again())
			_exit(1);
		ktr__housekeeping_dropped(drain);
		_exit(again() != 0);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
}

/* Salvaged: what the trace has said before is not said again, what came since is; and nothing a second time. */
static void gone_on_with(void)
{
	open_all();
	*count_of(&reasons[2]) = 4;
	killed_writer();
	*count_of(&reasons[2]) = 9;
	*count_of(&reasons[4]) = 1;
	for (int i = 0; i < 2; i++) {
		begin(KTR__DRAIN_RESUME);
		end();
		CU_ASSERT_EQUAL(said_lost(made.trace, 1), 10);
	}
	made_close(&made);
}

SUITE(dropped, TEST(each_reason), TEST(beside_those_of_rings), TEST(from_where_a_drain_begins), TEST(rotated),
      TEST(gone_on_with));
