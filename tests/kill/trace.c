/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SIGKILL of the program whose writer thread writes a trace, of `ktr record`, or of both: at random instants, or of
 * the program at each system call of its writer in turn. Two threads number their events as fast as they can, in
 * rings that the writer cannot always keep up with, some with string literals and with strings, and note in shared
 * memory what has returned. After each kill
 *
 *	- babeltrace2 and babeltrace open, as they lie, the trace and what rotation has moved away;
 *	- the trace, with what its session still holds, reads without damage but for a packet that was not finished,
 *	  each thread's numbers growing and each string whole: what it has and what it counts as lost are together
 *	  what was recorded;
 *	- after `ktr salvage` no event is there twice, and all that the session's rings still hold is in the trace:
 *	  nothing is missing but what was overwritten.
 *
 *	trace [-n KILLS] [-m MODE] [-r ENTRIES] [-s SEED] KTR DIR	KTR: the command; DIR: for traces; MODE:
 *								program, record or both: not all in turn
 *	trace -c STEP [-f] [-k] [-r ENTRIES] [-s SEED] KTR DIR	each STEP-th call and, within writes, page; SEED
 *								tells the first. -f: where the disk is soon full;
 *								-k: rotation keeps one piece and removes the others,
 *								so that what is left is opened, and not counted.
 *								-a FROM, -z TO: of these calls, for several runs
 */
#include "tests/kill/left.h"

#include <ktr.h>
#include <ktr/ctl.h>

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACE_INSTANT 600000ull /* the latest instant: so many events noted */
#define TRACE_AFTER   100000ull /* events of a program that goes on without ktr record */
#define TRACE_ROTATED "8M"	/* the size of a trace at which it is rotated */
#define TRACE_STEPS   12000ull	/* events of each thread of a program that is killed at a call, */
#define TRACE_FEWER   5000ull	/* the same where pieces are removed: three rotations are enough */
#define TRACE_FLUSHED 1500ull	/* each so many of which are asked to be written: the ring keeps most of them */
#define TRACE_WAIT_S  60

enum trace_mode {
	TRACE_PROGRAM,
	TRACE_RECORD,
	TRACE_BOTH,
	TRACE_MODES
};

static const char *const trace_mode_names[TRACE_MODES] = { "program", "record", "both" };

static struct left_shared *trace_shared;
static struct left trace_left;
static int trace_full; /* 1: on a small file system */
static int trace_removes; /* 1: rotation keeps one piece */
static uint32_t trace_from = 1, trace_to = UINT32_MAX; /* the calls to be killed at */
static const char *trace_only; /* the one mode that is asked for; NULL: all */

/* One of those that left.c knows: numbers, a literal, and strings of the thread and the number, short and long. */
static void trace_event(unsigned me, uint64_t i)
{
	char text[LEFT_TEXT_MAX];

	switch (i % 4) {
	case 0:
		CTR2(KTR_GEN, "thread %u number %lu", me, i);
		break;
	case 1:
		CTR3(KTR_GEN, "thread %u number %lu %s", me, i, LEFT_LITERAL);
		break;
	case 2:
		left_text(text, me, i, LEFT_SHORT);
		CTR3(KTR_GEN, "thread %u number %lu, %s", me, i, text);
		break;
	default:
		left_text(text, me, i, LEFT_TEXT_MAX);
		CTR1(KTR_GEN, "%s", text);
	}
}

static void *trace_work(void *argument)
{
	unsigned me = (unsigned)(uintptr_t)argument;

	while (!__atomic_load_n(&trace_shared->go, __ATOMIC_ACQUIRE))
		sched_yield();
	for (uint64_t i = 0; !__atomic_load_n(&trace_shared->stop, __ATOMIC_RELAXED); i++) {
		if (trace_shared->most && i == trace_shared->most)
			break;
		__atomic_store_n(&trace_shared->thread[me].begun, i + 1, __ATOMIC_RELEASE);
		trace_event(me, i);
		__atomic_store_n(&trace_shared->thread[me].done, i + 1, __ATOMIC_RELEASE);
		if (trace_shared->most && i % TRACE_FLUSHED == 0)
			ktr_flush();
	}
	return NULL;
}

static int trace_victim(void)
{
	pthread_t thread[LEFT_THREADS];

	trace_shared = mmap(NULL, sizeof(*trace_shared), PROT_READ | PROT_WRITE, MAP_SHARED, STOPS_FD, 0);
	if (trace_shared == MAP_FAILED)
		return 1;
	snprintf(trace_shared->session, sizeof(trace_shared->session), "%s", ktr_session_path());
	for (uintptr_t i = 0; i < LEFT_THREADS; i++)
		if (pthread_create(&thread[i], NULL, trace_work, (void *)i))
			return 1;
	for (unsigned i = 0; i < LEFT_THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void trace_clean(void)
{
	static const char clean[] = "rm -rf \"$0\" \"$0\".* \"${0%/*}\"/.[!.]*";
	const char *const argv[] = { "/bin/sh", "-c", clean, trace_left.trace, NULL };
	char out[300];

	left_run(&trace_left, argv);
	snprintf(out, sizeof(out), "%s/out", trace_left.dir);
	unlink(out);
}

/* Waits until the trace is there, or so many events have been noted. 1: a process ended by itself. */
static int trace_await(uint64_t noted, int published, pid_t pid)
{
	time_t end = time(NULL) + TRACE_WAIT_S;
	char metadata[320];

	snprintf(metadata, sizeof(metadata), "%s/metadata", trace_left.trace);
	while (published ? access(metadata, F_OK) != 0 : left_noted(&trace_left) < noted) {
		if (waitpid(pid, NULL, WNOHANG) == pid || time(NULL) > end)
			return 1;
		sched_yield();
	}
	return 0;
}

/*
 * What was killed may have left no trace yet: it has not said that it has one. Where rotation had just moved it
 * away there is none of its name, and the pieces are looked at if the reader finds them all the same. 1: a fault.
 */
static int trace_look(void)
{
	struct ktr_reader *reader = NULL;
	char moved[320];

	if (access(trace_left.trace, F_OK) == 0)
		return left_check(&trace_left);
	snprintf(moved, sizeof(moved), "%s.1", trace_left.trace);
	if (access(moved, F_OK) != 0)
		return 0;
	trace_left.n_between++;
	if (ktr_reader_open(trace_left.trace, NULL, &reader, NULL))
		return 0;
	ktr_reader_close(reader);
	return left_check(&trace_left);
}

static void trace_tell(const char *what, unsigned kills)
{
	printf("kill: %s: %u kills, %" PRIu64 " events, %" PRIu64 " overwritten, none missing; %" PRIu64
	       " directories opened as they lay",
	       what, kills, trace_left.events, trace_left.lost, trace_left.n_opened);
	if (trace_left.n_between)
		printf("; %" PRIu64 " kills left no trace of the name", trace_left.n_between);
	printf("\n");
	fflush(stdout);
}

static void trace_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int trace_round(enum trace_mode mode, uint64_t instant)
{
	const char *const victim[] = { "/proc/self/exe", "victim", NULL };
	const char *const record[] = { trace_left.ktr,	  "record", "-s", getenv("KTR_SESSION"), "-o",
				       trace_left.trace, NULL };
	pid_t pid, recorder = 0;
	int failed = 0;

	memset(trace_shared, 0, sizeof(*trace_shared));
	trace_left.from_start = mode == TRACE_PROGRAM;
	if (mode == TRACE_PROGRAM)
		setenv("KTR_FILE", trace_left.trace, 1);
	else
		unsetenv("KTR_FILE");
	setenv("KTR_ROTATE_KEEP", "1000", 1);
	setenv("KTR_ROTATE_SIZE", TRACE_ROTATED, 1);
	trace_shared->go = mode == TRACE_PROGRAM;
	pid = left_spawn(&trace_left, victim);
	if (mode != TRACE_PROGRAM) {
		while (!__atomic_load_n(&trace_shared->session[0], __ATOMIC_ACQUIRE))
			sched_yield();
		recorder = left_spawn(&trace_left, record);
		failed = trace_await(0, 1, recorder);
		__atomic_store_n(&trace_shared->go, 1, __ATOMIC_RELEASE);
	}
	failed = failed || trace_await(instant, 0, pid);
	if (recorder)
		kill(recorder, SIGKILL);
	if (mode != TRACE_RECORD)
		kill(pid, SIGKILL);
	else if (!failed)
		failed = trace_await(left_noted(&trace_left) + TRACE_AFTER, 0, pid);
	trace_shared->stop = 1;
	if (recorder)
		trace_kill(recorder);
	if (failed)
		trace_kill(pid);
	else
		waitpid(pid, NULL, 0);
	if (!failed)
		failed = left_foreign(&trace_left) || trace_look();
	unlink(trace_shared->session);
	return failed;
}

/* ---- each call ---- */

static uint64_t trace_random(uint64_t *seed)
{
	/* Knuth's MMIX generator; the high bits are the good ones. */
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 20;
}

/* A small file system for the trace, or another size of it. 0 or -1. */
static int trace_mount(unsigned long flags, const char *size)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/small", trace_left.dir);
	return trace_full ? mount("none", dir, "tmpfs", flags, size) : 0;
}

/* 1: the trace goes to one. It may not be mounted for everybody. */
static int trace_small(void)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/small", trace_left.dir);
	mkdir(dir, 0700);
	if (trace_mount(0, "size=400k")) {
		printf("kill: no small file system can be mounted: not tested on one\n");
		return 0;
	}
	snprintf(trace_left.trace, sizeof(trace_left.trace), "%s/small/trace", trace_left.dir);
	setenv("KTR_FILE", trace_left.trace, 1);
	return 1;
}

static void trace_unmount(void)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/small", trace_left.dir);
	if (trace_full)
		umount2(dir, MNT_DETACH);
}

/* The session of the victim, which may die before it says so itself. */
static void trace_find_session(void)
{
	const char *dir = getenv("KTR_DIR");

	snprintf(trace_shared->session, sizeof(trace_shared->session), "%s/ktr-%u/%s.ktr", dir ? dir : "/dev/shm",
		 (unsigned)geteuid(), getenv("KTR_SESSION"));
}

/* What is left opens, and once more when salvage has been there. 1: a fault. */
static int trace_opens(void)
{
	const char *const salvage[] = { trace_left.ktr, "salvage", trace_left.trace, NULL };

	return access(trace_left.trace, F_OK) == 0 && (left_run(&trace_left, salvage) || left_foreign(&trace_left));
}

/* A program whose writer dies at a call. 1: a fault; *killed: it has not come to its end. */
static int trace_step(uint32_t at, uint32_t tear, int *killed)
{
	const char *const victim[] = { "/proc/self/exe", "victim", NULL };
	int failed, status = 0;

	trace_clean();
	if (trace_mount(MS_REMOUNT, "size=400k"))
		return 1;
	memset(trace_shared, 0, sizeof(*trace_shared));
	trace_shared->stops.at = at;
	trace_shared->stops.tear = tear;
	trace_shared->go = 1;
	trace_shared->most = trace_removes ? TRACE_FEWER : TRACE_STEPS;
	if (waitpid(left_spawn(&trace_left, victim), &status, 0) < 0)
		return 1;
	*killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	if (!*killed && status) {
		fprintf(stderr, "kill: at call %u, page %u: the program itself failed: status %d\n", at, tear, status);
		return 1;
	}
	trace_find_session();
	failed = left_foreign(&trace_left) || trace_mount(MS_REMOUNT, "size=64m") ||
		 (trace_removes ? trace_opens() : trace_look());
	unlink(trace_shared->session);
	if (failed)
		fprintf(stderr, "kill: at call %u, page %u: failed; %s is left\n", at, tear, trace_left.trace);
	return failed;
}

/* Each step-th call to the last one, and each step-th page within those that are writes. */
static int trace_steps(unsigned step, uint64_t seed)
{
	unsigned kills = 0, torn = 0, full = 0;
	int killed = 1, ignored;

	trace_left.from_start = 1;
	setenv("KTR_FILE", trace_left.trace, 1);
	setenv("KTR_ROTATE_KEEP", trace_removes ? "1" : "1000", 1);
	setenv("KTR_ROTATE_SIZE", "64K", 1);
	trace_full = trace_full ? trace_small() : 0;
	for (uint32_t at = trace_from + (uint32_t)(trace_random(&seed) % step); killed && at <= trace_to;
	     at += step) {
		uint32_t n_pages;

		if (trace_step(at, 0, &killed))
			return 1;
		kills += (unsigned)killed;
		full += trace_shared->stops.full > 0;
		n_pages = killed && at < STOPS_MAX ? trace_shared->stops.n_pages[at - 1] : 0;
		for (uint32_t tear = 1 + (uint32_t)(trace_random(&seed) % step); tear <= n_pages; tear += step) {
			if (trace_step(at, tear, &ignored))
				return 1;
			torn++;
		}
	}
	printf("kill: %u calls, %u within writes, %u when the disk was full\n", kills, torn, full);
	if (trace_removes)
		printf("kill: each call: %" PRIu64 " directories opened as they lay\n", trace_left.n_opened);
	else
		trace_tell("each call", kills + torn);
	return trace_from == 1 && trace_to == UINT32_MAX && (kills < 40 / step || (trace_full && !full));
}

static int trace_campaign(unsigned kills, uint64_t seed)
{
	for (int mode = 0; mode < TRACE_MODES; mode++) {
		if (trace_only && strcmp(trace_only, trace_mode_names[mode]) != 0)
			continue;
		trace_left.events = trace_left.lost = trace_left.n_opened = 0;
		for (unsigned i = 0; i < kills; i++) {
			trace_clean();
			if (trace_round(mode, trace_random(&seed) % TRACE_INSTANT)) {
				fprintf(stderr, "kill: %s, round %u failed; %s is left\n",
					trace_mode_names[mode], i, trace_left.trace);
				return 1;
			}
		}
		trace_tell(trace_mode_names[mode], kills);
		if (kills && !trace_left.events)
			return 1;
	}
	return 0;
}

static int trace_prepare(unsigned entries)
{
	char text[64];

	if (dup2(memfd_create("kill", 0), STOPS_FD) != STOPS_FD || ftruncate(STOPS_FD, sizeof(*trace_shared)) != 0)
		return 1;
	trace_shared = mmap(NULL, sizeof(*trace_shared), PROT_READ | PROT_WRITE, MAP_SHARED, STOPS_FD, 0);
	trace_left.shared = trace_shared;
	snprintf(trace_left.trace, sizeof(trace_left.trace), "%s/trace", trace_left.dir);
	snprintf(text, sizeof(text), "trace-%d", (int)getpid());
	setenv("KTR_SESSION", text, 1);
	snprintf(text, sizeof(text), "%u", entries);
	setenv("KTR_ENTRIES", text, 1);
	setenv("KTR_MASK", "gen", 1);
	setenv("KTR_KEEP_SESSION", "1", 1);
	return trace_shared == MAP_FAILED || left_prepare();
}

int main(int argc, char **argv)
{
	unsigned kills = 20, entries = 4096, step = 0;
	uint64_t seed = (uint64_t)time(NULL);
	int option, rc;

	if (argc == 2 && strcmp(argv[1], "victim") == 0)
		return trace_victim();
	while ((option = getopt(argc, argv, "n:r:s:c:fkm:a:z:")) != -1) {
		if (option == 'n')
			kills = (unsigned)atoi(optarg);
		else if (option == 'r')
			entries = (unsigned)atoi(optarg);
		else if (option == 'c')
			step = (unsigned)atoi(optarg);
		else if (option == 'm')
			trace_only = optarg;
		else if (option == 'a')
			trace_from = (uint32_t)atoi(optarg);
		else if (option == 'z')
			trace_to = (uint32_t)atoi(optarg);
		else if (option == 'f')
			trace_full = 1;
		else if (option == 'k')
			trace_removes = 1;
		else if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (argc - optind != 2)
		return 2;
	trace_left.ktr = argv[optind];
	trace_left.dir = argv[optind + 1];
	setenv("KTR_DISABLE", "1", 1);
	if (trace_prepare(entries))
		return 1;
	unsetenv("KTR_DISABLE");
	printf("kill: seed %" PRIu64 "\n", seed);
	rc = step ? trace_steps(step, seed) : trace_campaign(kills, seed);
	trace_unmount();
	return rc;
}
