/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace in several directories, or with its end still in the session: the reader shows the same
 * as if it were in one piece.
 */
#include "writer/rotate.h"
#include "tests/unit/made.h"
#include "tests/unit/suite.h"

#include "analyze/read/reader_inside.h"
#include "analyze/read/trace_set.h"
#include "writer/drain.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>

/* Two rings' events of one moment; strings, so that there are continuations. */
static void set_events(struct made *made, uint32_t a, uint32_t b, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		made_event(made, 0, 1000 + 10 * i, a, 1, i, i % 3 ? "some text that is long" : "");
		if (i % 4 == 0)
			made_event(made, 1, 1005 + 10 * i, b, 1, i);
	}
}

static void set_make(struct made *made, uint32_t *a, uint32_t *b)
{
	made_open(made);
	*a = made_site(made, KTR_GEN, "t.c", 1, "%u is %s", "n,s", 2, KTR_ARG_U32, KTR_ARG_STR);
	*b = made_site(made, KTR_NET, "t.c", 2, "other %d", "n", 1, KTR_ARG_I32);
	made_thread(made, 101, 100, "one");
}

/* The lines of a walk that are not notes. The caller frees them. */
static char *set_lines(const char *path, const struct ktr_reader_options *options)
{
	char *all = made_walk(path, options), *to = all, *next;

	CU_ASSERT_PTR_NOT_NULL_FATAL(all);
	for (char *line = all; *line; line = next) {
		next = strchr(line, '\n') + 1;
		CU_ASSERT(strncmp(line, "note!", 5) != 0);
		if (strncmp(line, "note", 4) == 0)
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = 0;
	return all;
}

static void set_expect(const char *path, const char *good, const struct ktr_reader_options *options)
{
	char *have = set_lines(path, options);

	CU_ASSERT_STRING_EQUAL(have, good);
	if (strcmp(have, good) != 0)
		fprintf(stderr, "\n%s---- instead of\n%s", have, good);
	free(have);
}

#define SET_EVENTS 150
#define SET_PIECES 5
#define SET_OPTIONS                                                                                \
	{                                                                                          \
		.size = sizeof(struct ktr_reader_options)                                          \
	}

/* One recording in one piece; and in five, with events overwritten in the third if `lossy`. */
static void set_record(struct made *made, int pieces, int lossy)
{
	uint32_t a, b;

	set_make(made, &a, &b);
	for (uint64_t i = 0; i < SET_PIECES; i++) {
		set_events(made, a, b, i * SET_EVENTS, (i + 1) * SET_EVENTS);
		if (lossy && i == 2)
			continue; /* two pieces' events at once are more than the ring holds */
		made_drain(made);
		if (pieces)
			CU_ASSERT(ktr__rotate(made->drain, ktr__drain_now()) == 0);
	}
	made_trace(made);
}

/* Every time there is, and one beyond each end. */
static void set_compare(const char *path, const char *whole)
{
	struct ktr_reader_options o = SET_OPTIONS;
	char *good;

	for (int reverse = 0; reverse < 2; reverse++) {
		o = (struct ktr_reader_options)SET_OPTIONS;
		o.reverse = reverse;
		good = set_lines(whole, &o);
		set_expect(path, good, &o);
		free(good);
		for (uint64_t at = 990; at < 1010 + 10 * SET_EVENTS * SET_PIECES; at += 495) {
			o.from_ns = reverse ? 0 : at;
			o.to_ns = reverse ? at : 0;
			o.alone = 0;
			good = set_lines(whole, &o);
			set_expect(path, good, &o);
			free(good);
		}
	}
}

static void rotated_pieces_read_as_one(void)
{
	struct made one, five;
	char path[128];

	for (int lossy = 0; lossy < 2; lossy++) {
		struct ktr_reader_options alone = SET_OPTIONS;
		char *good, *part;

		set_record(&one, 0, lossy);
		set_record(&five, 1, lossy);
		good = set_lines(one.trace, NULL);
		part = set_lines(five.trace, NULL);
		CU_ASSERT_STRING_EQUAL(part, good);
		free(part);
		if (!lossy)
			set_compare(five.trace, one.trace);
		alone.alone = 1;
		snprintf(path, sizeof(path), "%s.2", five.trace);
		part = set_lines(path, &alone);
		CU_ASSERT(*part && strlen(part) < strlen(good) / 3 && strstr(good, part));
		set_expect(path, part, NULL);
		free(part);
		free(good);
		made_close(&one);
		made_close(&five);
	}
}

/* A piece in between is gone: it is told how many events are missing, both ways. */
static void a_missing_piece_is_a_loss(void)
{
	struct ktr_reader_options back = SET_OPTIONS;
	char from[128], to[128], *all;
	struct made made;

	set_record(&made, 1, 0);
	snprintf(from, sizeof(from), "%s.3", made.trace);
	snprintf(to, sizeof(to), "%s.gone", made.trace);
	CU_ASSERT_FATAL(rename(from, to) == 0);
	for (back.reverse = 0; back.reverse < 2; back.reverse++) {
		all = set_lines(made.trace, &back);
		CU_ASSERT_PTR_NOT_NULL(strstr(all, "lost 150 cpu0 "));
		CU_ASSERT_PTR_NOT_NULL(strstr(all, "lost 38 cpu1 "));
		free(all);
	}
	made_close(&made);
}

/* Counts events and losses that come, until so many have been lost in all and an event at a time has come. */
struct set_counts {
	uint64_t n_events, n_lost, n_removed;
	uint64_t last_ns;
};

static void set_count(struct ktr_reader *reader, struct set_counts *n, uint64_t lost, uint64_t last_ns)
{
	const struct ktr_loss *loss;
	struct ktr_event event;
	int what;

	for (int look = 0; look < 2000 && (n->n_lost < lost || n->last_ns < last_ns); look++) {
		CU_ASSERT_FATAL(ktr_reader_wait(reader, 10) == 0);
		while ((what = ktr_reader_next(reader, &event)) != KTR_READ_WAIT) {
			loss = what == KTR_READ_LOSS ? ktr_reader_loss(reader) : NULL;
			n->n_events += what == KTR_READ_EVENT;
			n->last_ns = what == KTR_READ_EVENT ? event.time_ns : n->last_ns;
			n->n_lost += loss ? loss->n_events : 0;
			n->n_removed += loss && loss->removed ? loss->n_events : 0;
		}
	}
	CU_ASSERT(n->n_lost == lost && n->last_ns == last_ns);
}

static void set_away(const struct made *made, unsigned number)
{
	char from[128], to[128];

	snprintf(from, sizeof(from), "%s.%u", made->trace, number);
	snprintf(to, sizeof(to), "%s.gone.%u", made->trace, number);
	CU_ASSERT_FATAL(rename(from, to) == 0);
}

/*
 * Pieces are gone, and a stream has no event after them: what it lacks is told all the same, and once, not again
 * before an event that comes later. Who begins behind all that finds as much of each stream, also of one without
 * a file.
 */
static void what_a_silent_stream_lacks_is_a_loss(void)
{
	static const struct ktr__reader_begun want[] = {
		{ "cpu_0", 0, 0, 450, 450, 9000 },
		{ "cpu_0.keep", 0, 1, 1, 1, 9000 },
		{ "cpu_1", 1, 0, 113, 113, 9000 },
	};
	struct ktr_reader_options options = { .size = sizeof(options), .follow = 1 };
	struct set_counts n = { 0 };
	struct ktr__reader_begun begun;
	struct ktr_reader *reader;
	struct made made;
	unsigned n_begun = 0;
	uint32_t a, b;
	char *all;

	set_make(&made, &a, &b);
	for (uint64_t i = 0; i < 3; i++) {
		set_events(&made, a, b, i * SET_EVENTS, (i + 1) * SET_EVENTS);
		if (i == 1)
			made_event(&made, 2, 4000, b, 1, (uint64_t)0); /* its stream is in the second piece alone */
		made_drain(&made);
		if (!i)
			CU_ASSERT_FATAL(ktr_reader_open(made.trace, &options, &reader, NULL) == 0);
		CU_ASSERT(ktr__rotate(made.drain, ktr__drain_now()) == 0);
	}
	made_event(&made, 0, 9000, a, 1, (uint64_t)0, "");
	made_drain(&made);
	CU_ASSERT(ktr__rotate(made.drain, ktr__drain_now()) == 0);
	set_away(&made, 2);
	set_away(&made, 3);
	all = set_lines(made.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(all, "lost 300 cpu0 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(all, "lost 75 cpu1 "));
	free(all);
	set_count(reader, &n, 376, 9000);
	CU_ASSERT(n.n_removed == 376);
	made_event(&made, 1, 9500, b, 1, (uint64_t)0);
	made_drain(&made);
	set_count(reader, &n, 376, 9500);
	CU_ASSERT(n.n_events == 150 + 38 + 2);
	ktr_reader_close(reader);

	set_away(&made, 1);
	CU_ASSERT_FATAL(ktr__reader_open_kept(made.trace, NULL, "nobody's", &reader, NULL) == 0);
	for (unsigned i = 0; ktr__reader_begun(reader, &i, &begun); n_begun++)
		for (unsigned k = 0; k < 3; k++)
			if (strcmp(begun.stream, want[k].stream) == 0)
				CU_ASSERT(begun.cpu == want[k].cpu && begun.keep == want[k].keep &&
					  begun.until == want[k].until && begun.n_gone == want[k].n_gone &&
					  begun.time_ns == want[k].time_ns);
	CU_ASSERT(n_begun == 3);
	ktr_reader_close(reader);
	made_close(&made);
}

struct set_late {
	const char *from, *to;
};

static void *set_rename(void *context)
{
	const struct set_late *late = context;

	usleep(20000);
	CU_ASSERT(rename(late->from, late->to) == 0);
	return NULL;
}

/* Between a rename to NAME.5 and the next directory's there is no NAME for a moment. */
static void the_moment_of_rotation_is_waited_for(void)
{
	unsigned patience = ktr__set_patience;
	struct set_late late;
	char away[128], path[160];
	struct made made;
	pthread_t thread;
	char *good;

	set_record(&made, 1, 0);
	good = set_lines(made.trace, NULL);
	snprintf(away, sizeof(away), "%s.away", made.trace);
	CU_ASSERT_FATAL(rename(made.trace, away) == 0);
	late = (struct set_late){ away, made.trace };
	ktr__set_patience = 1u << 20; /* however late the other thread is, and the disk */
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, set_rename, &late) == 0);
	snprintf(path, sizeof(path), "%s//", made.trace);
	set_expect(path, good, NULL);
	ktr__set_patience = patience;
	pthread_join(thread, NULL);
	free(good);
	made_close(&made);
}

/*
 * Reads on from event *n, which is the one of 1000 + *n ns, until there are as many. Whatever the pauses are, 2000
 * looks are more than enough.
 */
static void set_read_on(struct ktr_reader *reader, uint64_t *n, uint64_t want)
{
	struct ktr_event event;
	int what;

	for (int look = 0; look < 2000 && *n < want; look++) {
		CU_ASSERT_FATAL(ktr_reader_wait(reader, 10) == 0);
		while ((what = ktr_reader_next(reader, &event)) != KTR_READ_WAIT) {
			int is_next = what == KTR_READ_EVENT && event.time_ns == 1000 + *n;

			CU_ASSERT(is_next || what == KTR_READ_NOTE);
			if (!is_next && what != KTR_READ_NOTE)
				return;
			*n += is_next;
		}
	}
	CU_ASSERT(*n == want);
}

/* A rotation that stands between its two steps, until a reader has opened the trace that comes next. */
static struct set_window {
	struct made made;
	struct ktr__sys sys;
	struct ktr_reader *reader; /* NULL: the thread opens one */
	pthread_t thread;
	uint64_t n; /* events that came in their order */
	unsigned n_members; /* when the reader was opened by the thread */
} set_window;

static void *set_window_look(void *context)
{
	struct ktr_reader_options options = { .size = sizeof(options), .follow = 1 };

	(void)context;
	if (!set_window.reader) {
		int opened = ktr_reader_open(set_window.made.trace, &options, &set_window.reader, NULL);

		/* No fatal one: it would leave this thread by another's way. */
		CU_ASSERT(opened == 0);
		if (opened)
			return NULL;
		set_window.n_members = set_window.reader->source.set->n;
	}
	set_read_on(set_window.reader, &set_window.n, 300);
	return NULL;
}

static int set_window_exchange(int dir_fd, const char *one, const char *other)
{
	char path[200];
	struct pollfd in = { .fd = inotify_init1(IN_CLOEXEC), .events = POLLIN };

	snprintf(path, sizeof(path), "%s/%s/ktr/info.jsonl", set_window.made.dir, other);
	CU_ASSERT_FATAL(inotify_add_watch(in.fd, path, IN_OPEN) >= 0);
	CU_ASSERT_FATAL(pthread_create(&set_window.thread, NULL, set_window_look, NULL) == 0);
	CU_ASSERT(poll(&in, 1, 60000) == 1);
	close(in.fd);
	return ktr__sys.exchange(dir_fd, one, other);
}

static void set_window_events(uint32_t site, uint64_t from)
{
	for (uint64_t i = from; i < from + 100; i++)
		made_event(&set_window.made, 0, 1000 + i, site, 0);
	made_drain(&set_window.made);
}

/*
 * The trace that comes next has the number that is its predecessor's in a moment: it is not taken for what has it
 * then, neither by a reader that is opened in that moment nor by one that is a piece behind.
 */
static void the_next_trace_is_not_taken_for_a_piece(void)
{
	struct ktr_reader_options options = { .size = sizeof(options), .follow = 1 };
	unsigned patience = ktr__set_patience;
	struct made *made = &set_window.made;
	uint32_t tick;

	ktr__set_patience = 1u << 20;
	for (int behind = 0; behind < 2; behind++) {
		memset(&set_window, 0, sizeof(set_window));
		made_open(made);
		tick = made_site(made, KTR_GEN, "t.c", 1, "tick", "", 0);
		set_window_events(tick, 0);
		if (behind) {
			CU_ASSERT_FATAL(ktr_reader_open(made->trace, &options, &set_window.reader, NULL) == 0);
			set_read_on(set_window.reader, &set_window.n, 100);
		}
		CU_ASSERT(ktr__rotate(made->drain, ktr__drain_now()) == 0);
		set_window_events(tick, 100);
		set_window.sys = ktr__sys;
		set_window.sys.exchange = set_window_exchange;
		made->drain->plan.sys = made->drain->trace.sys = &set_window.sys;
		CU_ASSERT(ktr__rotate(made->drain, ktr__drain_now()) == 0);
		set_window_events(tick, 200);
		pthread_join(set_window.thread, NULL);
		CU_ASSERT_FATAL(set_window.reader != NULL);
		CU_ASSERT(set_window.n_members == (behind ? 0 : 2));
		CU_ASSERT(set_window.reader->source.set->n == 3); /* each trace once */
		ktr_reader_close(set_window.reader);
		made_trace(made);
		made_close(made);
	}
	ktr__set_patience = patience;
}

/* Directories of other sessions that happen to have such names are not part of it. */
static void strangers_are_left_alone(void)
{
	struct made made, other;
	char path[128], *good;

	set_record(&made, 1, 0);
	good = set_lines(made.trace, NULL);
	made_open(&other);
	other.image.header->uuid[0] ^= 1;
	snprintf(other.trace, sizeof(other.trace), "%.80s.7", made.trace);
	made_trace(&other);
	snprintf(path, sizeof(path), "%s.8", made.trace);
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	set_expect(made.trace, good, NULL);
	free(good);
	made_close(&other);
	made_close(&made);
}

/* Has the session found by the readers: a link to it where sessions are. */
static void set_home(struct made *made)
{
	char dir[128], path[160];

	snprintf(dir, sizeof(dir), "%s/ktr-%u", made->dir, (unsigned)geteuid());
	snprintf(path, sizeof(path), "%s/made.ktr", dir);
	CU_ASSERT_FATAL(mkdir(dir, 0700) == 0);
	made_session(made);
	CU_ASSERT_FATAL(link(made->session, path) == 0);
	setenv("KTR_DIR", made->dir, 1);
}

/* The writer is gone, and with it its lock. */
static void set_kill(struct made *made)
{
	CU_ASSERT(flock(made->drain->trace.side[KTR_SIDECAR_INFO].fd, LOCK_UN) == 0);
}

/*
 * The writer is killed, in its first directory or a later one, or lives and has not written
 * everything yet: file and session show what was recorded, from every window and both ways.
 */
static void what_a_killed_writer_left_is_joined(void)
{
	const char *dir = getenv("KTR_DIR");
	char *saved = dir ? strdup(dir) : NULL;

	for (int pieces = 0; pieces < 3; pieces++) {
		struct ktr_reader_options alone = SET_OPTIONS;
		struct made one, killed;
		char *part, *good;
		uint32_t a, b;

		set_record(&one, 0, 0);
		set_make(&killed, &a, &b);
		set_home(&killed);
		for (uint64_t i = 0; i < SET_PIECES; i++) {
			set_events(&killed, a, b, i * SET_EVENTS, (i + 1) * SET_EVENTS);
			if (i + 1 < SET_PIECES)
				made_drain(&killed);
			if (pieces && i == 1)
				CU_ASSERT(ktr__rotate(killed.drain, ktr__drain_now()) == 0);
		}
		made_session(&killed);
		if (pieces < 2)
			set_kill(&killed);
		set_compare(killed.trace, one.trace);
		good = set_lines(one.trace, NULL);
		alone.alone = 1;
		part = set_lines(killed.trace, &alone);
		CU_ASSERT(strlen(part) < strlen(good));
		free(part);
		free(good);
		made_close(&killed);
		made_close(&one);
	}
	if (saved)
		setenv("KTR_DIR", saved, 1);
	else
		unsetenv("KTR_DIR");
	free(saved);
}

/* What was in a piece that has been removed is not what the session has beyond the trace. */
static void what_was_removed_is_not_joined(void)
{
	const char *dir = getenv("KTR_DIR");
	char *saved = dir ? strdup(dir) : NULL, *lines, command[200];
	struct made killed;
	uint32_t a, b;

	set_make(&killed, &a, &b);
	set_home(&killed);
	set_events(&killed, a, b, 0, SET_EVENTS);
	made_drain(&killed);
	CU_ASSERT(ktr__rotate(killed.drain, ktr__drain_now()) == 0);
	made_session(&killed);
	set_kill(&killed);
	lines = set_lines(killed.trace, NULL);
	CU_ASSERT(strlen(lines) > 0);
	free(lines);
	snprintf(command, sizeof(command), "rm -r '%s.1'", killed.trace);
	CU_ASSERT(system(command) == 0);
	lines = set_lines(killed.trace, NULL);
	CU_ASSERT_STRING_EQUAL(lines, "");
	free(lines);
	made_close(&killed);
	if (saved)
		setenv("KTR_DIR", saved, 1);
	else
		unsetenv("KTR_DIR");
	free(saved);
}

static unsigned set_n_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	CU_ASSERT_FATAL(dir != NULL);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

#define SET_ROTATIONS 300
#define SET_BEHIND    10 /* rotations at once */

/* Files of pieces that have been read are closed, and what they told is known when the writer is killed. */
static void pieces_that_were_read_are_closed(void)
{
	struct ktr_reader_options options = { .size = sizeof(options), .follow = 1 };
	const char *dir = getenv("KTR_DIR");
	char *saved = dir ? strdup(dir) : NULL;
	struct rlimit limit, few;
	struct ktr_reader *reader;
	unsigned n_files;
	uint64_t n = 0, made_n = 0;
	struct made made;
	uint32_t tick;

	made_open(&made);
	tick = made_site(&made, KTR_GEN, "t.c", 1, "tick", "", 0);
	made_event(&made, 1, 1000 + made_n++, tick, 0); /* of a stream that stays behind in the first piece */
	made_drain(&made);
	CU_ASSERT_FATAL(ktr_reader_open(made.trace, &options, &reader, NULL) == 0);
	n_files = set_n_files();
	CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	few = (struct rlimit){ n_files + 3 * SET_BEHIND, limit.rlim_max };
	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &few) == 0);
	for (unsigned i = 1; i <= SET_ROTATIONS; i++) {
		made_event(&made, 0, 1000 + made_n++, tick, 0);
		made_drain(&made);
		CU_ASSERT(ktr__rotate(made.drain, ktr__drain_now()) == 0);
		if (i % SET_BEHIND == 0)
			set_read_on(reader, &n, made_n);
	}
	made_event(&made, 0, 1000 + made_n++, tick, 0);
	made_drain(&made);
	set_read_on(reader, &n, made_n);
	CU_ASSERT(set_n_files() <= n_files + SET_BEHIND);

	made_event(&made, 0, 1000 + made_n++, tick, 0);
	made_event(&made, 1, 1000 + made_n++, tick, 0);
	set_home(&made);
	set_kill(&made);
	set_read_on(reader, &n, made_n);
	CU_ASSERT(set_n_files() <= n_files + SET_BEHIND);
	CU_ASSERT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	ktr_reader_close(reader);
	made_close(&made);
	if (saved)
		setenv("KTR_DIR", saved, 1);
	else
		unsetenv("KTR_DIR");
	free(saved);
}

SUITE(reader_set, TEST(pieces_that_were_read_are_closed), TEST(rotated_pieces_read_as_one),
      TEST(a_missing_piece_is_a_loss), TEST(what_a_silent_stream_lacks_is_a_loss),
      TEST(strangers_are_left_alone), TEST(the_moment_of_rotation_is_waited_for),
      TEST(the_next_trace_is_not_taken_for_a_piece), TEST(what_a_killed_writer_left_is_joined),
      TEST(what_was_removed_is_not_joined));
