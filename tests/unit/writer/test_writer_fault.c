/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer's system calls fail, in turn and at random: nothing dies, what was written stays
 * readable, recording resumes, and every event is in the trace or counted as lost.
 */
#include "trace_look.h"

#include "writer/drain.h"

#include <sys/mman.h>

static struct made made;
static struct ktr__session_map map;
static struct ktr__drain *drain;

/* What goes wrong. Counters count calls. */
static struct fault {
	int write_error;     /* -errno of every write, 0 none */
	unsigned fail_at;    /* the n-th write fails once with -EIO; 0: none */
	unsigned short_by;   /* every n-th write is cut in half */
	unsigned interrupts; /* every n-th write returns -EINTR */
	unsigned random;     /* one write of n fails or stops short */
	int cut_error;       /* -errno of ftruncate */
	int open_error;      /* -errno of opening streams */
	int rename_error;
	int free_permille;
	unsigned slow; /* so many events are recorded while a write takes its time */
	unsigned n_writes;
	unsigned n_cuts;
	uint64_t state;
} fault;

static unsigned n_said;
static char said[600];

static void record(unsigned n);

static ssize_t fault_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	unsigned call = ++fault.n_writes;

	record(fault.slow);
	if (fault.write_error)
		return fault.write_error;
	if (fault.fail_at && call == fault.fail_at)
		return -EIO;
	if (fault.interrupts && call % fault.interrupts == 0)
		return -EINTR;
	if (fault.short_by && call % fault.short_by == 0 && n > 1)
		n /= 2;
	if (fault.random && image_random(&fault.state) % fault.random == 0) {
		if (image_random(&fault.state) % 2)
			return image_random(&fault.state) % 2 ? -ENOSPC : -EDQUOT;
		n = image_random(&fault.state) % (n + 1);
		if (!n)
			return -EIO;
	}
	return ktr__sys.pwrite(fd, bytes, n, offset);
}

static int fault_ftruncate(int fd, off_t length)
{
	struct stat st;

	fault.n_cuts += ktr__sys.fstat(fd, &st) == 0 && length < st.st_size;
	if (fault.cut_error)
		return fault.cut_error;
	if (fault.random && image_random(&fault.state) % 3 == 0)
		return -EIO;
	return ktr__sys.ftruncate(fd, length);
}

static int fault_openat(int dir_fd, const char *name, int flags, mode_t mode)
{
	if (fault.open_error && strncmp(name, KTR_STREAM_CPU, strlen(KTR_STREAM_CPU)) == 0)
		return fault.open_error;
	return ktr__sys.openat(dir_fd, name, flags, mode);
}

static int fault_rename(int dir_fd, const char *from, const char *to)
{
	/* What has the name may still move aside. */
	if (fault.rename_error && !strstr(to, ".old."))
		return fault.rename_error;
	return ktr__sys.rename_new(dir_fd, from, to);
}

static int fault_free(int fd)
{
	return fault.free_permille ? fault.free_permille : ktr__sys.free_permille(fd);
}

static struct ktr__sys table;

static void note(void *context, const char *line)
{
	(void)context;
	n_said++;
	snprintf(said, sizeof(said), "%s", line);
}

static uint32_t site, thread;
static uint64_t produced;

static void begin_failing(int rename_error)
{
	struct ktr__drain_plan plan = { .map = &map,
					.sys = &table,
					.path = made.trace,
					.from = KTR__DRAIN_START,
					.say = note };

	memset(&fault, 0, sizeof(fault));
	fault.rename_error = rename_error;
	fault.state = 88172645463325252ull;
	n_said = 0;
	said[0] = 0;
	produced = 0;
	table = ktr__sys;
	table.pwrite = fault_pwrite;
	table.ftruncate = fault_ftruncate;
	table.openat = fault_openat;
	table.rename_new = fault_rename;
	table.free_permille = fault_free;
	plan.path = (made_open(&made), made.trace);
	site = made_site(&made, KTR_NET, "net.c", 42, "%d %s", "n,s", 2, KTR_ARG_I64, KTR_ARG_STR);
	thread = made_thread(&made, 4712, 4711, "worker");
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ktr__drain_open(&drain, &plan, NULL), 0);
}

static void begin(void)
{
	begin_failing(0);
}

static void record(unsigned n)
{
	if (!n)
		return;
	while (n--) {
		made_event(&made, 0, 1000 + produced, site, thread, produced,
			   produced % 3 ? "" : "a text of some length");
		produced++;
	}
	made_session(&made);
}

/* n events more, and a round. */
static int more(unsigned n)
{
	uint64_t pause_ns;

	record(n);
	return ktr__drain_round(drain, KTR__DRAIN_ALL, &pause_ns);
}

static struct ktr__drain_stats end(int rc)
{
	struct ktr__drain_stats stats = { 0 };

	CU_ASSERT_EQUAL(ktr__drain_close(drain, &stats), rc);
	ktr__map_close(&map);
	return stats;
}

/* All is whole, and nothing is missing uncounted. */
static struct look check(void)
{
	struct look look = look_stream(&made, made.trace, "cpu_0");
	size_t n = 0;
	char *text = look_file(made.trace, "metadata", &n);

	CU_ASSERT_EQUAL(look.n_wrong, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_EQUAL(ktr__metadata_check(text, n), n);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/sites.jsonl", "\"site\":1"), 1);
	CU_ASSERT(look_lines(made.trace, "ktr/losses.jsonl", "") >= 0);
	free(text);
	return look;
}

static void disk_full_for_a_while(void)
{
	struct look look;

	begin();
	CU_ASSERT_EQUAL(more(100), 0);
	fault.write_error = -ENOSPC;
	CU_ASSERT_EQUAL(more(50), -ENOSPC);
	CU_ASSERT_EQUAL(n_said, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "No space left"));
	CU_ASSERT_EQUAL(more(50), -ENOSPC);
	CU_ASSERT_EQUAL(n_said, 1);
	fault.write_error = 0;
	CU_ASSERT_EQUAL(more(10), 0);
	CU_ASSERT_EQUAL(n_said, 2);
	end(0);
	/* The ring held everything meanwhile. */
	look = check();
	CU_ASSERT_EQUAL(look.n_events, 210);
	CU_ASSERT_EQUAL(look.discarded, 0);
	made_close(&made);
}

static void disk_full_for_long(void)
{
	struct ktr__drain_stats stats;
	struct look look;

	begin();
	CU_ASSERT_EQUAL(more(100), 0);
	fault.write_error = -EDQUOT;
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(more(100), -EDQUOT);
	fault.write_error = 0;
	CU_ASSERT_EQUAL(more(10), 0);
	stats = end(0);
	look = check();
	CU_ASSERT(look.discarded > 0);
	CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
	CU_ASSERT_EQUAL(stats.lost, look.discarded);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/losses.jsonl", "overwritten"), 1);
	made_close(&made);
}

static void disk_full_at_the_end(void)
{
	struct ktr__drain_stats stats;
	struct look look;

	begin();
	CU_ASSERT_EQUAL(more(100), 0);
	fault.write_error = -EIO;
	CU_ASSERT_EQUAL(more(30), -EIO);
	stats = end(-EIO);
	look = check();
	CU_ASSERT_EQUAL(look.n_events, 100);
	CU_ASSERT_EQUAL(stats.events, 100);
	CU_ASSERT_EQUAL(stats.unwritten, 30);
	CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/info.jsonl", "\"end\""), 0);
	made_close(&made);
}

static void short_and_interrupted_writes(void)
{
	begin();
	fault.short_by = 2;
	fault.interrupts = 3;
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(more(20), 0);
	end(0);
	CU_ASSERT_EQUAL(check().n_events, 400);
	CU_ASSERT_EQUAL(fault.n_cuts, 0);
	made_close(&made);
}

/*
 * Each write takes so long that the program records many times what the ring holds. Nothing of what was
 * lost meanwhile goes uncounted, and each write that came through can be read.
 */
static void slow_disk(void)
{
	static const unsigned speeds[] = { 5, 40, 600, 5000 };

	for (unsigned i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		struct ktr__drain_stats stats;
		struct look look;

		begin();
		CU_ASSERT_EQUAL(more(100), 0);
		fault.slow = speeds[i];
		for (unsigned k = 0; k < 10; k++)
			CU_ASSERT_EQUAL(more(50), 0);
		fault.slow = 0;
		CU_ASSERT_EQUAL(more(10), 0);
		CU_ASSERT_EQUAL(n_said, 0);
		stats = end(0);
		look = check();
		CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
		CU_ASSERT_EQUAL(look.first_arg, produced - 1);
		CU_ASSERT_EQUAL(stats.lost, look.discarded);
		CU_ASSERT_EQUAL(look.discarded > 0, speeds[i] > 500);
		CU_ASSERT_EQUAL(look_lines(made.trace, "ktr/losses.jsonl", "overwritten") > 0, speeds[i] > 500);
		made_close(&made);
	}
}

/* A round that is not the last. */
static void plain_round(void)
{
	uint64_t pause_ns;

	drain->pace[0].full_ns = 0;
	CU_ASSERT_EQUAL(ktr__drain_round(drain, 0, &pause_ns), 0);
}

/*
 * A writer that is overtaken all the time leaps over what will be overwritten anyway. Where that is not, because
 * the program has stopped, it is read after all: only what was overwritten is missing.
 */
static void overtaken_all_the_time(void)
{
	struct look look;

	begin();
	CU_ASSERT_EQUAL(more(10), 0);
	fault.slow = 1000;
	record(10);
	for (unsigned k = 0; k < 50; k++)
		plain_round();
	CU_ASSERT(drain->pace[0].leap > 400);
	fault.slow = 0;
	plain_round();
	look = check();
	CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
	drain->pace[0].leap = 100;
	record(2000);
	plain_round();
	/* Each third event takes two slots. */
	CU_ASSERT(check().n_events >= look.n_events + (512 - KTR_SLOTS_MAX) * 3 / 4 - 1);
	end(0);
	look = check();
	CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
	CU_ASSERT_EQUAL(look.first_arg, produced - 1);
	made_close(&made);
}

/* Each write of a run fails once. The next round writes what it did not. */
static void each_write_fails_once(void)
{
	unsigned n_writes = 0, at = 1;

	do {
		begin();
		fault.fail_at = at;
		for (unsigned i = 0; i < 6; i++)
			more(20);
		end(0);
		CU_ASSERT_EQUAL(check().n_events, 120);
		n_writes = fault.n_writes;
		made_close(&made);
	} while (++at < n_writes);
	CU_ASSERT(at > 10);
}

static void random_faults(void)
{
	unsigned failed = 0;

	for (unsigned run = 1; run <= 40; run++) {
		struct look look;

		begin();
		more(10);
		fault.state += run * 7919;
		fault.random = 3;
		for (unsigned i = 0; i < 30; i++)
			failed += more(i * 7 % 150) != 0;
		fault.random = 0;
		CU_ASSERT_EQUAL(more(5), 0);
		end(0);
		look = check();
		CU_ASSERT_EQUAL(look.n_events + look.discarded, produced);
		made_close(&made);
	}
	CU_ASSERT(failed > 100);
}

static void torn_file_is_cut_before_the_next_packet(void)
{
	begin();
	CU_ASSERT_EQUAL(more(10), 0);
	fault.cut_error = -EIO;
	fault.short_by = 1;
	fault.random = 1;
	more(10);
	more(10);
	fault.short_by = fault.random = 0;
	CU_ASSERT_NOT_EQUAL(more(10), 0);
	fault.cut_error = 0;
	CU_ASSERT_EQUAL(more(10), 0);
	end(0);
	CU_ASSERT_EQUAL(check().n_events, 50);
	made_close(&made);
}

static void no_descriptor_for_a_stream(void)
{
	begin();
	fault.open_error = -EMFILE;
	CU_ASSERT_EQUAL(more(10), -EMFILE);
	CU_ASSERT_EQUAL(n_said, 1);
	fault.open_error = 0;
	CU_ASSERT_EQUAL(more(10), 0);
	end(0);
	CU_ASSERT_EQUAL(check().n_events, 20);
	made_close(&made);
}

static void name_cannot_be_given_at_first(void)
{
	begin_failing(-EACCES);
	CU_ASSERT_EQUAL(n_said, 1);
	CU_ASSERT_EQUAL(more(10), -EACCES);
	CU_ASSERT_EQUAL(more(10), -EACCES);
	CU_ASSERT_EQUAL(n_said, 1);
	fault.rename_error = 0;
	CU_ASSERT_EQUAL(more(10), 0);
	end(0);
	CU_ASSERT_EQUAL(check().n_events, 30);
	made_close(&made);
}

static void stops_when_space_runs_short(void)
{
	struct look look;

	begin();
	CU_ASSERT_EQUAL(more(10), 0);
	fault.free_permille = 49;
	drain->look_ns = 0;
	CU_ASSERT_EQUAL(more(10), -ENOSPC);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "5 %"));
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_0").n_events, 10);
	fault.free_permille = 55; /* not enough yet */
	CU_ASSERT_EQUAL(more(10), -ENOSPC);
	CU_ASSERT_EQUAL(n_said, 1);
	CU_ASSERT_EQUAL(look_stream(&made, made.trace, "cpu_0").n_events, 10);
	fault.free_permille = 60;
	CU_ASSERT_EQUAL(more(10), 0);
	CU_ASSERT_EQUAL(n_said, 2);
	end(0);
	look = check();
	CU_ASSERT_EQUAL(look.n_events, 40);
	made_close(&made);
}

/* The host has dropped its rights: the trace stays where it is, up to its size. */
static void trace_cannot_be_moved(void)
{
	begin();
	drain->plan.max_bytes = 1 << 20;
	drain->plan.max_ns = 1;
	drain->plan.n_keep = 1;
	fault.rename_error = 0;
	CU_ASSERT_EQUAL(more(1), 0);
	fault.rename_error = -EPERM;
	CU_ASSERT_EQUAL(more(10), 0);
	CU_ASSERT_EQUAL(more(10), 0);
	/* Who might stand by has not come. */
	drain->refused_ns = 1;
	CU_ASSERT_EQUAL(more(10), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "cannot be rotated"));
	CU_ASSERT_EQUAL(n_said, 1);
	/* Nor may it look any more whose the name is. */
	fault.open_error = -EACCES;
	CU_ASSERT_EQUAL(more(10), 0);
	fault.open_error = 0;
	CU_ASSERT(n_said == 1 && drain->stuck);
	/* However large it gets, nothing is left out for that. */
	drain->plan.max_bytes = 20000;
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(more(300), 0);
	drain->look_ns = drain->stuck_ns = 0;
	CU_ASSERT_EQUAL(more(10), 0);
	CU_ASSERT(n_said == 1 && drain->stats.events == produced);
	CU_ASSERT(drain->trace.bytes > 2 * drain->plan.max_bytes);
	drain->stuck_ns = 0;
	fault.rename_error = 0;
	CU_ASSERT_EQUAL(more(10), 0);
	CU_ASSERT_EQUAL(more(10), 0);
	CU_ASSERT(drain->stats.events > 1000 && !drain->stuck && drain->retired > 0);
	end(0);
	made_close(&made);
}

static void no_trace_where_none_can_be(void)
{
	struct ktr__drain_plan plan = { .sys = &ktr__sys, .path = "/nowhere/at/all/ktr.out" };
	struct ktr_error err = KTR_ERROR_NONE;

	made_open(&made);
	made_session(&made);
	CU_ASSERT_EQUAL_FATAL(ktr__map_open(made.session, 0, &map, NULL), 0);
	plan.map = &map;
	CU_ASSERT_EQUAL(ktr__drain_open(&drain, &plan, &err), -ENOENT);
	CU_ASSERT_PTR_NULL(drain);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nowhere/at/all/ktr.out"));
	plan.path = "";
	CU_ASSERT_EQUAL(ktr__drain_open(&drain, &plan, NULL), -EINVAL);
	plan.path = "..";
	CU_ASSERT_EQUAL(ktr__drain_open(&drain, &plan, NULL), -EINVAL);
	plan.path = made.session; /* a file moves aside; the session stays open */
	CU_ASSERT_EQUAL(ktr__drain_open(&drain, &plan, NULL), 0);
	end(0);
	made_close(&made);
}

SUITE(writer_fault, TEST(disk_full_for_a_while), TEST(disk_full_for_long),
      TEST(disk_full_at_the_end), TEST(short_and_interrupted_writes), TEST(slow_disk), TEST(overtaken_all_the_time),
      TEST(each_write_fails_once),
      TEST(random_faults), TEST(torn_file_is_cut_before_the_next_packet),
      TEST(no_descriptor_for_a_stream), TEST(name_cannot_be_given_at_first),
      TEST(stops_when_space_runs_short), TEST(trace_cannot_be_moved), TEST(no_trace_where_none_can_be));
