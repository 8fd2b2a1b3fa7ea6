/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From one trace to the next: what has the name moves aside, rotation by size, time and request, traces
 * that are removed under the writer.
 */
#include "drained.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

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

static unsigned n_deleted_open(void)
{
	char command[100];

	snprintf(command, sizeof(command), "exit $(ls -l /proc/%d/fd | grep -c 'large (deleted)')", (int)getpid());
	return (unsigned)WEXITSTATUS(system(command));
}

/* A large file has no name as soon as it is removed; who holds it until it is freed lets it go. */
static void large_files_are_freed_behind_our_back(void)
{
	char path[400];
	static char block[1 << 20];
	int fd, dir_fd;

	made_open(&made);
	snprintf(path, sizeof(path), "%s/large", made.dir);
	dir_fd = open(made.dir, O_RDONLY | O_DIRECTORY);
	for (int linked = 0; linked < 2; linked++) {
		char other[420];

		snprintf(other, sizeof(other), "%s.link", path);
		fd = open(path, O_RDWR | O_CREAT, 0600);
		for (int i = 0; i < 32; i++)
			CU_ASSERT(write(fd, block, sizeof(block)) == sizeof(block));
		close(fd);
		CU_ASSERT(!linked || link(path, other) == 0);
		CU_ASSERT_EQUAL(ktr__sys.unlink_later(dir_fd, "large"), 0);
		CU_ASSERT(access(path, F_OK) != 0);
		CU_ASSERT(!linked || (n_deleted_open() == 0 && unlink(other) == 0));
		for (int i = 0; i < 12000 && n_deleted_open(); i++)
			usleep(10000);
		CU_ASSERT_EQUAL(n_deleted_open(), 0);
	}
	CU_ASSERT_EQUAL(ktr__sys.unlink_later(dir_fd, "large"), -ENOENT);
	close(dir_fd);
	made_close(&made);
}

/* `what` of the trace is removed: another begins, which says where, and counts nothing as lost. */
static void removed(const char *what)
{
	uint32_t site, thread;
	char command[300];
	struct look look;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 100);
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"complete\":true"), 1);
	snprintf(command, sizeof(command), "rm -r %s%s", made.trace, what);
	CU_ASSERT_EQUAL(system(command), 0);
	burst(site, thread, 100, 100);
	CU_ASSERT_EQUAL(again(), 0);
	burst(site, thread, 200, 100);
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT_EQUAL(end().lost, 0);
	look = look_stream(&made, made.trace, "cpu_1");
	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_EQUAL(look.n_events, 200);
	CU_ASSERT_EQUAL(look.discarded, 0);
	CU_ASSERT_EQUAL(look.first_arg, 299);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/sites.jsonl", "\"site\":1"), 1);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"complete\":false"), 1);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"slot\":100,\"index\":100"), 1);
	made_close(&made);
}

static void removed_trace_begins_again(void)
{
	removed("");
	removed("/cpu_1");
}

/* ---- a writer that is killed behind the k-th of its calls that change anything ---- */

static struct {
	unsigned left;   /* calls until then */
	int no_exchange; /* a file system that cannot exchange names */
} kill_at;

static void killed(void)
{
	if (kill_at.left && !--kill_at.left)
		_exit(1);
}

static int kill_openat(int dir_fd, const char *name, int flags, mode_t mode)
{
	int fd = ktr__sys.openat(dir_fd, name, flags, mode);

	if (flags & O_CREAT)
		killed();
	return fd;
}

static ssize_t kill_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	ssize_t done = ktr__sys.pwrite(fd, bytes, n, offset);

	killed();
	return done;
}

static int kill_ftruncate(int fd, off_t length)
{
	int rc = ktr__sys.ftruncate(fd, length);

	killed();
	return rc;
}

static int kill_mkdirat(int dir_fd, const char *name, mode_t mode)
{
	int rc = ktr__sys.mkdirat(dir_fd, name, mode);

	killed();
	return rc;
}

static int kill_rename_new(int dir_fd, const char *from, const char *to)
{
	int rc = ktr__sys.rename_new(dir_fd, from, to);

	killed();
	return rc;
}

static int kill_exchange(int dir_fd, const char *one, const char *other)
{
	int rc = kill_at.no_exchange ? -EINVAL : ktr__sys.exchange(dir_fd, one, other);

	killed();
	return rc;
}

static int kill_unlinkat(int dir_fd, const char *name, int flags)
{
	int rc = ktr__sys.unlinkat(dir_fd, name, flags);

	killed();
	return rc;
}

/* All events that NAME and the traces that were moved away have, which are whole. */
static uint64_t all_events(void)
{
	uint64_t n = look_stream(&made, made.trace, "cpu_1").n_events;
	char name[300], suffix[16];

	for (unsigned i = 1; snprintf(suffix, sizeof(suffix), ".%u", i), there(suffix); i++) {
		struct look look;

		snprintf(name, sizeof(name), "%s%s", made.trace, suffix);
		look = look_stream(&made, name, "cpu_1");
		CU_ASSERT_EQUAL(look.n_wrong, 0);
		n += look.n_events;
	}
	return n;
}

/* In a child: writes, rotates, writes and ends; it dies behind its k-th call. */
static void kill_run(uint32_t site, uint32_t thread, const struct ktr__sys *sys, unsigned k)
{
	burst(site, thread, 0, 100);
	begin(KTR__DRAIN_START);
	again();
	burst(site, thread, 100, 100);
	drain->plan.sys = drain->trace.sys = sys;
	drain->wanted++;
	kill_at.left = k;
	again();
	burst(site, thread, 200, 100);
	again();
	ktr__drain_close(drain, NULL);
	_exit(0);
}

/* The next of the session's anchors: there its clock has become so many ticks, and that many nanoseconds. */
static void anchor_at(uint64_t ticks, uint64_t ns)
{
	struct ktr_anchor *anchor = image_region(&made.image, KTR_REGION_anchor);

	made.image.header->clock = KTR_CLOCK_TSC;
	anchor += made.image.control->n_anchors++;
	*anchor = (struct ktr_anchor){ KTR_ROW_READY, ticks, ns, 1000000000000000000 + ns };
}

/* A trace's last word on its clock. */
static unsigned long long clock_mult(const char *suffix)
{
	static const char member[] = "\"mult\":";
	unsigned long long mult = 0;
	char path[400], line[2000];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s/ktr/info.jsonl", made.trace, suffix);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, member);

		if (at)
			mult = strtoull(at + strlen(member), NULL, 10);
	}
	if (file)
		fclose(file);
	return mult;
}

/* Whatever is behind us when we are killed: there is a trace of the name, and going on with it gets all events. */
static void killed_while_rotating(int no_exchange)
{
	struct ktr__sys sys = ktr__sys;
	uint32_t site, thread;
	unsigned k = 0, without = 0;
	int status = 1 << 8; /* as _exit(1) leaves it */

	sys.openat = kill_openat;
	sys.pwrite = kill_pwrite;
	sys.ftruncate = kill_ftruncate;
	sys.mkdirat = kill_mkdirat;
	sys.rename_new = kill_rename_new;
	sys.exchange = kill_exchange;
	sys.unlinkat = kill_unlinkat;
	kill_at.no_exchange = no_exchange;
	while (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
		pid_t pid;

		made_open(&made);
		anchor_at(1000000, 1010000);
		site = number_site();
		thread = made_thread(&made, 4712, 4711, "worker");
		k++;
		fflush(NULL);
		pid = fork();
		if (!pid)
			kill_run(site, thread, &sys, k);
		CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
		without += !there("");
		burst(site, thread, 0, 300);
		anchor_at(9000000, 9020000);
		begin(KTR__DRAIN_RESUME);
		end();
		CU_ASSERT(there(""));
		CU_ASSERT_EQUAL(all_events(), 300);
		/* Time does not go back from one piece to the next. */
		if (there(".1"))
			CU_ASSERT_EQUAL(clock_mult(""), clock_mult(".1"));
		made_close(&made);
	}
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(k > 20);
	CU_ASSERT_EQUAL(without, no_exchange ? 1 : 0);
}

/* In a child: three pieces, of which one is kept; it dies behind its k-th call of the last rotation. */
static void kill_removing(uint32_t site, uint32_t thread, const struct ktr__sys *sys, unsigned k)
{
	burst(site, thread, 0, 100);
	begin(KTR__DRAIN_START);
	again();
	drain->plan.n_keep = 1;
	drain->wanted++;
	again();
	burst(site, thread, 100, 100);
	again();
	drain->plan.sys = drain->trace.sys = sys;
	drain->wanted++;
	kill_at.left = k;
	again();
	kill_at.left = 0;
	_exit(0);
}

/* Directories beside the trace: how many are pieces of it and have no head any more, and how many are hidden. */
static unsigned half_removed(unsigned *n_hidden)
{
	static const char *const files[] = { "metadata", "ktr/info.jsonl", "ktr/losses.jsonl" };
	char path[600];
	struct dirent *entry;
	unsigned n = 0;
	DIR *dir = opendir(made.dir);

	*n_hidden = 0;
	while (dir && (entry = readdir(dir))) {
		*n_hidden += entry->d_name[0] == '.' && strncmp(entry->d_name, ".ktr.out.", 9) == 0;
		if (strncmp(entry->d_name, "ktr.out.", 8) != 0)
			continue;
		for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
			snprintf(path, sizeof(path), "%s/%s/%s", made.dir, entry->d_name, files[i]);
			n += access(path, F_OK) != 0;
		}
	}
	if (dir)
		closedir(dir);
	return n;
}

/* A piece that goes has no name any more: nobody opens half of it, and the next writer removes the rest. */
static void killed_behind_each_call_of_a_removal(void)
{
	struct ktr__sys sys = ktr__sys;
	unsigned k = 0, left = 0, n_hidden;
	int status = 1 << 8; /* as _exit(1) leaves it */

	sys.openat = kill_openat;
	sys.rename_new = kill_rename_new;
	sys.unlinkat = kill_unlinkat;
	while (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
		uint32_t site, thread;
		pid_t pid;

		made_open(&made);
		site = number_site();
		thread = made_thread(&made, 4712, 4711, "worker");
		k++;
		fflush(NULL);
		pid = fork();
		if (!pid)
			kill_removing(site, thread, &sys, k);
		CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
		CU_ASSERT_EQUAL(half_removed(&n_hidden), 0);
		left += n_hidden > 0;
		begin(KTR__DRAIN_START);
		end();
		CU_ASSERT_EQUAL(half_removed(&n_hidden), 0);
		CU_ASSERT_EQUAL(n_hidden, 0);
		made_close(&made);
	}
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(k > 20);
	CU_ASSERT(left > 8);
}

/* A piece goes while a reader is at the one before: that is said, and is no damage. */
static void removed_while_it_is_read(void)
{
	unsigned n_events = 0, n_damaged = 0, n_said = 0;
	struct ktr_reader *reader;
	struct ktr_event event;
	uint32_t site, thread;

	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 100);
	begin(KTR__DRAIN_START);
	for (unsigned i = 1; i < 3; i++) {
		CU_ASSERT_EQUAL(again(), 0);
		drain->wanted++;
		CU_ASSERT_EQUAL(again(), 0);
		burst(site, thread, 100 * i, 100);
	}
	CU_ASSERT_EQUAL(again(), 0);
	CU_ASSERT(there(".1") && there(".2"));
	CU_ASSERT_EQUAL_FATAL(ktr_reader_open(made.trace, NULL, &reader, NULL), 0);
	CU_ASSERT_EQUAL(ktr__trace_remove(&drain->trace, 2), 0);
	for (int what; (what = ktr_reader_next(reader, &event)) > 0;) {
		n_events += what == KTR_READ_EVENT;
		n_damaged += what == KTR_READ_NOTE && ktr_reader_note(reader)->damaged;
		n_said += what == KTR_READ_NOTE && strstr(ktr_reader_note(reader)->text, "was removed before");
	}
	ktr_reader_close(reader);
	CU_ASSERT_EQUAL(n_events, 200);
	CU_ASSERT_EQUAL(n_damaged, 0);
	CU_ASSERT_EQUAL(n_said, 1);
	end();
	made_close(&made);
}

static unsigned n_dropped, n_unlocked;

static int locked_unlinkat(int dir_fd, const char *name, int flags)
{
	if (strncmp(name, "cpu_", 4) == 0) {
		n_dropped++;
		n_unlocked += ktr__trace_locked(made.trace) != 1;
	}
	return ktr__sys.unlinkat(dir_fd, name, flags);
}

/* Whoever waits for the lock writes into empty streams, which then must not be removed. */
static void empty_streams_go_before_the_lock(void)
{
	struct ktr__sys sys = ktr__sys;
	struct ktr__drain_plan plan = { .map = &map, .sys = &sys, .path = made.trace, .n_ahead = 4, .say = quiet };
	uint32_t site, thread;

	sys.unlinkat = locked_unlinkat;
	n_dropped = n_unlocked = 0;
	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	burst(site, thread, 0, 100);
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__drain_open(&drain, &plan, NULL), 0);
	CU_ASSERT_EQUAL(again(), 0);
	end();
	CU_ASSERT(n_dropped > 0);
	CU_ASSERT_EQUAL(n_unlocked, 0);
	made_close(&made);
}

static void killed_behind_each_call_of_a_rotation(void)
{
	killed_while_rotating(0);
}

static void killed_where_names_cannot_be_exchanged(void)
{
	killed_while_rotating(1);
}

SUITE(rotate, TEST(large_files_are_freed_behind_our_back), TEST(old_traces_move_aside), TEST(rotation),
      TEST(rotation_keeps_a_number), TEST(rotation_by_request), TEST(rotation_by_time_and_knobs),
      TEST(rotation_keeps_what_is_not_its_own), TEST(removed_trace_begins_again),
      TEST(empty_streams_go_before_the_lock),
      TEST(killed_behind_each_call_of_a_rotation), TEST(killed_behind_each_call_of_a_removal),
      TEST(removed_while_it_is_read),
      TEST(killed_where_names_cannot_be_exchanged));
