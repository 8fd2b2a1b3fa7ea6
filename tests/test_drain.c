/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions made by hand, drained: every event is in the trace once or counted as lost at its
 * place, and what describes it is there.
 */
#include "trace_look.h"

#include "writer/drain.h"
#include "writer/resume.h"

#include <sys/wait.h>

static struct made made;
static struct ktr__session_map map;
static struct ktr__drain *drain;

static void quiet(void *context, const char *line)
{
	(void)context;
	(void)line;
}

static int open_drain(enum ktr__drain_from from, uint64_t max_bytes, uint32_t n_keep)
{
	struct ktr__drain_plan plan = { .map = &map,
					.sys = &ktr__sys,
					.path = made.trace,
					.from = from,
					.resume = ktr__resume,
					.max_bytes = max_bytes,
					.n_keep = n_keep,
					.say = quiet };

	return ktr__drain_open(&drain, &plan, NULL);
}

static void begin(enum ktr__drain_from from)
{
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(open_drain(from, 0, 0), 0);
}

/* Puts the image's present state into the session and drains it. */
static int again(void)
{
	uint64_t pause_ns;

	made_session(&made);
	return ktr__drain_round(drain, KTR__DRAIN_ALL, &pause_ns);
}

static struct ktr__drain_stats end(void)
{
	struct ktr__drain_stats stats = { 0 };

	CU_ASSERT_EQUAL(ktr__drain_close(drain, &stats), 0);
	ktr__map_close(&map);
	return stats;
}

static uint32_t number_site(void)
{
	return made_site(&made, KTR_NET, "net.c", 42, "got %d", "n", 1, KTR_ARG_I64);
}

static void everything_is_written(void)
{
	struct ktr__drain_stats stats;
	struct look look;
	uint32_t site, text, thread;

	made_open(&made);
	site = number_site();
	text = made_site(&made, KTR_INIT, "init.c", 7, "%s and %s", "a,b", 2, KTR_ARG_STR,
			 KTR_ARG_STR);
	thread = made_thread(&made, 4712, 4711, "worker");
	for (uint64_t i = 0; i < 300; i++)
		made_event(&made, 0, 1000 + i, site, thread, i);
	for (uint64_t i = 0; i < 20; i++)
		made_event(&made, 2, 1000 + 10 * i, text, thread, "hello", i % 3 ? "world" : NULL);
	begin(KTR__DRAIN_START);
	stats = end();
	CU_ASSERT_EQUAL(stats.events, 320);
	CU_ASSERT_EQUAL(stats.lost, 0);
	look = look_stream(&made, made.trace, "cpu_0");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 300);
	CU_ASSERT_EQUAL(look.n_packets, 1);
	CU_ASSERT_EQUAL(look.sum, 299 * 300 / 2);
	CU_ASSERT_EQUAL(look.next_slot, 300);
	look = look_stream(&made, made.trace, "cpu_0.keep");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 20);
	CU_ASSERT_EQUAL(look.next_slot, 40);
	CU_ASSERT_EQUAL(look.next_index, 20);
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").n_packets, 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/sites.jsonl", "\"site\":"), 2);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"word\":4712,\"tid\":4712"),
			1);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/losses.jsonl", ""), 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"kind\":\"end\""), 1);
	made_close(&made);
}

/* Packs of a burst that a ring of 512 entries cannot hold. */
static void burst(uint32_t site, uint32_t thread, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		made_event(&made, 1, 1000 + i, site, thread, i);
}

static void losses_are_exact(void)
{
	struct ktr__drain_stats stats;
	struct look look;
	uint32_t site, thread;
	uint64_t produced = 0;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 2000);
	produced = 2000;
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	look = look_stream(&made, made.trace, "cpu_1");
	/* The loss is before the first event: an empty packet says so first. */
	CU_ASSERT_EQUAL(look.n_packets, 2);
	CU_ASSERT_EQUAL(look.n_empty, 1);
	CU_ASSERT_EQUAL(look.n_events + look.discarded, 2000);
	CU_ASSERT_EQUAL(look.n_events, 512 - KTR_SLOTS_MAX);
	for (unsigned i = 0; i < 50; i++) {
		burst(site, thread, produced, 37 * i);
		produced += 37 * i;
		CU_ASSERT_EQUAL(again(), 0);
	}
	stats = end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
	CU_ASSERT_EQUAL(look.n_events, stats.events);
	CU_ASSERT_EQUAL(look.discarded, stats.lost);
	CU_ASSERT_EQUAL(look.next_index, produced);
	CU_ASSERT_EQUAL(look.first_arg, produced - 1);
	CU_ASSERT(look_lines(made.trace, "ktr/losses.jsonl", "\"stream\":\"cpu_1\",\"cpu\":1") >
		  10);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/losses.jsonl", "\"from_ns\":0,"), 1);
	made_close(&made);
}

static void losses_with_strings(void)
{
	struct look look;
	uint32_t site, thread;
	uint64_t produced = 0;
	char text[200];

	made_open(&made);
	site = made_site(&made, KTR_NET, "net.c", 42, "%d %s", "n,s", 2, KTR_ARG_I64, KTR_ARG_STR);
	thread = made_thread(&made, 4712, 4711, "worker");
	begin(KTR__DRAIN_START);
	for (unsigned i = 0; i < 100; i++) {
		for (unsigned k = 0; k < 17 * (i % 13); k++) {
			memset(text, 'x', sizeof(text));
			text[produced % 199] = 0;
			made_event(&made, 0, 1000 + produced, site, thread, produced, text);
			produced++;
		}
		CU_ASSERT_EQUAL(again(), 0);
	}
	end();
	look = look_stream(&made, made.trace, "cpu_0");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT(look.discarded > 0);
	CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
	CU_ASSERT_EQUAL(look.first_arg, produced - 1);
	made_close(&made);
}

static void from_oldest_and_from_head(void)
{
	struct look look;
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 2000);
	begin(KTR__DRAIN_OLDEST);
	burst(site, thread, 2000, 100);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 512 - KTR_SLOTS_MAX);
	CU_ASSERT_EQUAL(look.discarded, 0);
	CU_ASSERT_EQUAL(look.next_index, 2100);
	begin(KTR__DRAIN_HEAD);
	burst(site, thread, 2100, 100);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 100);
	CU_ASSERT_EQUAL(look.discarded, 0);
	CU_ASSERT_EQUAL(look.next_index, 2200);
	made_close(&made);
}

static void thread_rings_keep_the_cpu(void)
{
	struct look look;
	uint32_t site, thread;

	made_open(&made);
	made.image.header->path = KTR_PATH_THREAD;
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	for (uint64_t i = 0; i < 100; i++)
		made_event(&made, 0, 1000 + i, site,
			   thread | (uint32_t)(i < 50 ? 3 : 5) << KTR_THREAD_BITS, i);
	begin(KTR__DRAIN_START);
	end();
	look = look_stream(&made, made.trace, "ring_0");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_packets, 2);
	CU_ASSERT_EQUAL(look.cpus, 1 << 3 | 1 << 5);
	CU_ASSERT_EQUAL(look.n_events, 100);
	made_close(&made);
}

/*
 * A row that its process has not finished is taken when it is; until then events keep their words.
 */
static void late_descriptions(void)
{
	struct ktr_thread_row *row;
	struct look look;
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	row = (struct ktr_thread_row *)image_region(&made.image, KTR_REGION_thread) + thread;
	row->state = KTR_ROW_FILLING;
	burst(site, thread, 0, 10);
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", ""), 0);
	row->state = KTR_ROW_READY;
	burst(site, thread, 10, 10);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"name\":\"worker\""), 1);
	memcpy(row->name, "renamed", 8);
	row->state = KTR_ROW_GONE;
	row->exit_ns = 5000;
	made_session(&made);
	end();
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", ""), 2);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl",
				   "\"renamed\",\"start_ns\":600,\"exit_ns\":5000"),
			1);
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_events, 20);
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	made_close(&made);
}

static void reused_tids_have_words_of_their_own(void)
{
	uint32_t site, first, second;

	made_open(&made);
	site = number_site();
	first = made_thread(&made, 99, 1, "first");
	second = made_thread(&made, 99, 1, "second");
	burst(site, first, 0, 1);
	burst(site, second, 1, 1);
	begin(KTR__DRAIN_START);
	end();
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"word\":99,"), 1);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/threads.jsonl", "\"word\":8388707,\"tid\":99,"),
			1);
	made_close(&made);
}

static void dropped_events_are_discarded(void)
{
	struct ktr__drain_stats stats;
	struct look look;
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 10);
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	image_ring(&made.image, 1)->dropped = 77;
	made_session(&made);
	stats = end();
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(stats.lost, 77);
	CU_ASSERT_EQUAL(look.discarded, 77);
	CU_ASSERT_EQUAL(look.n_empty, 1);
	CU_ASSERT_EQUAL(
		look_lines(made.trace, "ktr/losses.jsonl", "\"why\":\"dropped\",\"events\":77,"),
		1);
	made_close(&made);
}

static int there(const char *suffix)
{
	char path[400];

	snprintf(path, sizeof(path), "%s%s/metadata", made.trace, suffix);
	return access(path, F_OK) == 0;
}

static void old_traces_move_aside(void)
{
	struct ktr__drain *other;
	char again_path[200];

	made_open(&made);
	number_site();
	for (unsigned i = 0; i < 3; i++) {
		begin(KTR__DRAIN_START);
		end();
	}
	CU_ASSERT(there("") && there(".old.1") && there(".old.2") && !there(".old.3"));
	/* One that is being written stays. */
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	other = drain;
	CU_ASSERT_EQUAL(open_drain(KTR__DRAIN_START, 0, 0), -EBUSY);
	CU_ASSERT_PTR_NULL(drain);
	drain = other;
	end();
	CU_ASSERT(there("") && there(".old.3") && !there(".old.4"));
	/* So does a file, and a link is moved, not followed. */
	snprintf(again_path, sizeof(again_path), "%s/link", made.dir);
	CU_ASSERT_EQUAL(symlink("/nowhere", again_path), 0);
	strcpy(made.trace, again_path);
	begin(KTR__DRAIN_START);
	end();
	CU_ASSERT(there(""));
	made_close(&made);
}

static void rotation(void)
{
	uint32_t site, thread;
	uint64_t produced = 0, read = 0;
	char name[200];
	unsigned n = 0;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(open_drain(KTR__DRAIN_START, 20000, 100), 0);
	for (unsigned i = 0; i < 60; i++) {
		burst(site, thread, produced, 100);
		produced += 100;
		CU_ASSERT_EQUAL(again(), 0);
	}
	end();
	for (n = 1; snprintf(name, sizeof(name), ".%u", n), there(name); n++) {
		struct look look;

		snprintf(name, sizeof(name), "%s.%u", made.trace, n);
		look = look_stream(&made, name, "cpu_1");
		CU_ASSERT_EQUAL(look.n_wrong, 0);
		CU_ASSERT_EQUAL(look_lines(name, "ktr/sites.jsonl", "\"site\":1"), 1);
		CU_ASSERT_EQUAL(look_lines(name, "ktr/threads.jsonl", "\"word\":4712"), 1);
		read += look.n_events;
	}
	CU_ASSERT(n > 3);
	read += look_stream(&made, made.trace, "cpu_1").n_events;
	CU_ASSERT_EQUAL(read, produced);
	made_close(&made);
}

static void rotation_keeps_a_number(void)
{
	uint32_t site, thread;
	unsigned n = 0, last = 0;
	char name[32];

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(open_drain(KTR__DRAIN_START, 20000, 2), 0);
	for (unsigned i = 0; i < 60; i++) {
		burst(site, thread, 100 * i, 100);
		CU_ASSERT_EQUAL(again(), 0);
	}
	end();
	for (unsigned i = 1; i < 50; i++) {
		snprintf(name, sizeof(name), ".%u", i);
		n += (unsigned)there(name);
		last = there(name) ? i : last;
	}
	CU_ASSERT_EQUAL(n, 2);
	CU_ASSERT(last > 3);
	made_close(&made);
}

/* A drain that follows the session's knobs, with 100 events in its trace. */
static void begin_following(uint32_t *site, uint32_t *thread)
{
	struct ktr__drain_plan plan = { .map = &map,
					.sys = &ktr__sys,
					.path = made.trace,
					.from = KTR__DRAIN_START,
					.follow = KTR__FOLLOW_ALL,
					.say = quiet };

	made_open(&made);
	*site = number_site();
	*thread = made_thread(&made, 4712, 4711, "worker");
	burst(*site, *thread, 0, 100);
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__drain_open(&drain, &plan, NULL), 0);
	CU_ASSERT_EQUAL(again(), 0);
}

/* As again(), when the control page has not been looked at for a while. */
static int later(void)
{
	drain->asked_ns = 0;
	return again();
}

static void rotation_by_request(void)
{
	uint32_t site, thread;

	begin_following(&site, &thread);
	made.image.control->rotate_asked++;
	CU_ASSERT_EQUAL(later(), 0);
	CU_ASSERT(there(".1") && there(""));
	CU_ASSERT_EQUAL(later(), 0);
	CU_ASSERT(!there(".2"));
	burst(site, thread, 100, 50);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(end().events, 150);
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").n_events, 50);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"events\":50"), 1);
	made_close(&made);
}

static void rotation_by_time_and_knobs(void)
{
	uint32_t site, thread;

	begin_following(&site, &thread);
	made.image.control->rotate_ns = 1;
	CU_ASSERT_EQUAL(later(), 0);
	CU_ASSERT(there(".1"));
	CU_ASSERT_EQUAL(later(), 0);
	CU_ASSERT(!there(".2")); /* nothing has happened since */
	made.image.control->rotate_ns = 0;
	made.image.control->rotate_bytes = 1000;
	made.image.control->rotate_keep = 1;
	CU_ASSERT_EQUAL(later(), 0);
	burst(site, thread, 100, 300);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT(there(".2") && !there(".1"));
	end();
	made_close(&made);
}

/* Whatever was there before this drain stays, and so do numbers. */
static void rotation_keeps_what_is_not_its_own(void)
{
	uint32_t site, thread;
	char command[800];

	begin_following(&site, &thread);
	snprintf(command, sizeof(command), "cp -r %s %s.1; cp -r %s %s.7; mkdir %s.x",
		 made.trace, made.trace, made.trace, made.trace, made.trace);
	CU_ASSERT_EQUAL(system(command), 0);
	made.image.control->rotate_keep = 1;
	for (unsigned i = 0; i < 3; i++) {
		made.image.control->rotate_asked++;
		CU_ASSERT_EQUAL(later(), 0);
	}
	CU_ASSERT(there(".1") && there(".7") && there(".10") && !there(".8") && !there(".9"));
	/* Moved away by somebody, and something else put in its place. */
	snprintf(command, sizeof(command), "mv %s %s.mine && cp -r %s.1 %s", made.trace,
		 made.trace, made.trace, made.trace);
	CU_ASSERT_EQUAL(system(command), 0);
	made.image.control->rotate_asked++;
	CU_ASSERT_EQUAL(later(), 0);
	CU_ASSERT(there(".mine") && there("") && there(".old.1") && !there(".11"));
	end();
	made_close(&made);
}

static void removed_trace_begins_again(void)
{
	uint32_t site, thread;
	char command[300];

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 100);
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	snprintf(command, sizeof(command), "rm -r %s", made.trace);
	CU_ASSERT_EQUAL(system(command), 0);
	drain->look_ns = 0; /* as if the second had passed */
	burst(site, thread, 100, 100);
	CU_ASSERT_EQUAL(again(), 0);
	burst(site, thread, 200, 100);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").n_wrong, 0);
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_1").first_arg, 299);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/sites.jsonl", "\"site\":1"), 1);
	made_close(&made);
}

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
static void killed_writer(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		made_session(&made);
		if (ktr__map_open(made.session, 0, &map, NULL) == 0 &&
		    open_drain(KTR__DRAIN_START, 0, 0) == 0 && again() == 0 && again() == 0)
			_exit(0);
		_exit(1);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
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

static void ticks_become_nanoseconds(void)
{
	struct ktr_anchor a = { KTR_ROW_READY, 1000, 5000, 0 };
	struct ktr_anchor b = { KTR_ROW_READY, 1000 + 2600000000ull, 5000 + 1000000000ull, 0 };
	struct ktr_trace_clock clock = ktr__affine_map(&a, &b, 0);

	CU_ASSERT_EQUAL(ktr_trace_ns(&clock, 0), 5000);
	CU_ASSERT_EQUAL(ktr_trace_ns(&clock, 1000), 5000);
	CU_ASSERT_EQUAL(ktr_trace_ns(&clock, 1000 + 26), 5010 - 1); /* rounded down */
	CU_ASSERT(ktr_trace_ns(&clock, 1000 + 26000000000ull) - 5000 - 10000000000ull + 1 <= 1);
	/* A day later the error is below a nanosecond still. */
	CU_ASSERT(ktr_trace_ns(&clock, 1000 + 26 * 8640000000000ull) - 5000 - 86400000000000ull +
			  1 <=
		  1);
	clock = ktr__affine_map(&a, &a, 24000000);
	CU_ASSERT(ktr_trace_ns(&clock, 1000 + 24000000) - 5000 - 1000000000 + 1 <= 1);
	clock = ktr__affine_map(&a, &a, 0);
	CU_ASSERT_EQUAL(ktr_trace_ns(&clock, 1007), 5007);
	CU_ASSERT(clock.shift < 64 && clock.mult < 1ull << 63);
}

SUITE(drain, TEST(everything_is_written), TEST(losses_are_exact), TEST(losses_with_strings),
      TEST(from_oldest_and_from_head), TEST(thread_rings_keep_the_cpu), TEST(late_descriptions),
      TEST(reused_tids_have_words_of_their_own), TEST(dropped_events_are_discarded),
      TEST(old_traces_move_aside), TEST(rotation), TEST(rotation_keeps_a_number),
      TEST(rotation_by_request), TEST(rotation_by_time_and_knobs), TEST(rotation_keeps_what_is_not_its_own),
      TEST(removed_trace_begins_again), TEST(killed_writers_trace_goes_on),
      TEST(foreign_and_damaged_traces_are_refused), TEST(ticks_become_nanoseconds));
