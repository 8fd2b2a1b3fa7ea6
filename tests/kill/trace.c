/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SIGKILL at random instants of the program whose writer thread writes a trace, of `ktr record`, or of
 * both. Two threads number their events as fast as they can, in rings that the writer cannot always keep
 * up with, and note in shared memory what has returned. After each kill
 *
 *	- the trace reads without damage but for a packet that was not finished, each thread's numbers growing;
 *	- after `ktr salvage` what is in the trace and what it counts as lost are together what was
 *	  recorded, no event is there twice, and all that the session's rings still hold is in the trace:
 *	  nothing is missing but what was overwritten.
 *
 *	trace [-n kills] [-r entries] [-s seed] KTR DIR	KTR: the command; DIR: for traces
 */
#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/reader.h>

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACE_FD      9
#define TRACE_THREADS 2
#define TRACE_INSTANT 600000ull  /* the latest instant: so many events noted */
#define TRACE_AFTER   100000ull  /* events of a program that goes on without ktr record */
#define TRACE_NUMBERS (1u << 26) /* bits of the set of numbers found, per thread */
#define TRACE_WAIT_S  60

enum trace_mode {
	TRACE_PROGRAM,
	TRACE_RECORD,
	TRACE_BOTH,
	TRACE_MODES
};

static const char *const trace_mode_names[TRACE_MODES] = { "program", "record", "both" };

static struct trace {
	uint32_t go;
	uint32_t stop;
	char session[256]; /* path */
	struct {
		uint64_t begun;
		uint64_t done;
		uint64_t pad[6];
	} thread[TRACE_THREADS];
} *trace_shared;

static const char *trace_ktr, *trace_dir;
static char trace_path[300];
static uint8_t *trace_seen[TRACE_THREADS]; /* set of numbers in the trace */

static void *trace_work(void *argument)
{
	unsigned me = (unsigned)(uintptr_t)argument;

	while (!__atomic_load_n(&trace_shared->go, __ATOMIC_ACQUIRE))
		sched_yield();
	for (uint64_t i = 0; !__atomic_load_n(&trace_shared->stop, __ATOMIC_RELAXED); i++) {
		__atomic_store_n(&trace_shared->thread[me].begun, i + 1, __ATOMIC_RELEASE);
		CTR2(KTR_GEN, "thread %u number %lu", me, i);
		__atomic_store_n(&trace_shared->thread[me].done, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static int trace_victim(void)
{
	pthread_t thread[TRACE_THREADS];

	trace_shared = mmap(NULL, sizeof(*trace_shared), PROT_READ | PROT_WRITE, MAP_SHARED, TRACE_FD, 0);
	if (trace_shared == MAP_FAILED)
		return 1;
	snprintf(trace_shared->session, sizeof(trace_shared->session), "%s", ktr_session_path());
	for (uintptr_t i = 0; i < TRACE_THREADS; i++)
		if (pthread_create(&thread[i], NULL, trace_work, (void *)i))
			return 1;
	for (unsigned i = 0; i < TRACE_THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static uint64_t trace_noted(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TRACE_THREADS; i++)
		n += __atomic_load_n(&trace_shared->thread[i].done, __ATOMIC_ACQUIRE);
	return n;
}

/* Starts a command with its output in a file beside the trace. */
static pid_t trace_spawn(const char *const *argv)
{
	pid_t pid = fork();
	char out[300];
	int fd;

	if (pid)
		return pid;
	snprintf(out, sizeof(out), "%s/out", trace_dir);
	fd = open(out, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static int trace_run(const char *const *argv)
{
	int status = -1;

	return waitpid(trace_spawn(argv), &status, 0) < 0 || status;
}

static void trace_clean(void)
{
	const char *const argv[] = { "/bin/rm", "-rf", trace_path, NULL };
	char out[300];

	trace_run(argv);
	snprintf(out, sizeof(out), "%s/out", trace_dir);
	unlink(out);
}

/* One walk: what was found, of the class that the threads have. */
struct trace_walk {
	uint64_t n;
	uint64_t lost;
	uint64_t wrong; /* damage, and numbers that are out of order or there twice */
	uint64_t absent; /* not in the set, where the set is only looked at */
};

static void trace_event(struct trace_walk *walk, const struct ktr_event *event, int fill,
			uint64_t last[TRACE_THREADS])
{
	uint64_t thread = event->arg[0], number = event->arg[1], bit = 1u << number % 8;

	if (event->keep || event->site->mask != KTR_GEN)
		return;
	if (thread >= TRACE_THREADS || number >= TRACE_NUMBERS || number + 1 <= last[thread]) {
		walk->wrong++;
		return;
	}
	last[thread] = number + 1;
	walk->n++;
	walk->absent += !(trace_seen[thread][number / 8] & bit);
	if (fill)
		trace_seen[thread][number / 8] |= (uint8_t)bit;
}

static int trace_walk(const char *path, int fill, struct trace_walk *walk)
{
	uint64_t last[TRACE_THREADS] = { 0 };
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_reader *reader;
	struct ktr_event event;
	int what, rc = ktr_reader_open(path, NULL, &reader, &err);

	memset(walk, 0, sizeof(*walk));
	if (rc) {
		fprintf(stderr, "kill: %s: %s\n", path, err.text);
		return rc;
	}
	if (fill)
		for (unsigned i = 0; i < TRACE_THREADS; i++)
			madvise(trace_seen[i], TRACE_NUMBERS / 8, MADV_DONTNEED);
	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what == KTR_READ_EVENT)
			trace_event(walk, &event, fill, last);
		else if (what == KTR_READ_LOSS && !ktr_reader_loss(reader)->keep)
			walk->lost += ktr_reader_loss(reader)->n_events;
		else if (what == KTR_READ_NOTE && ktr_reader_note(reader)->damaged &&
			 (fill || !strstr(ktr_reader_note(reader)->text, "not finished"))) {
			fprintf(stderr, "kill: %s: %s\n", path, ktr_reader_note(reader)->text);
			walk->wrong++;
		}
	}
	ktr_reader_close(reader);
	return what < 0 ? what : 0;
}

static int trace_fault(const char *what, const struct trace_walk *walk)
{
	uint64_t begun = 0;

	for (unsigned i = 0; i < TRACE_THREADS; i++)
		begun += trace_shared->thread[i].begun;
	fprintf(stderr,
		"kill: %s: %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64 " wrong, %" PRIu64
		" absent; %" PRIu64 " begun, %" PRIu64 " returned\n",
		what, walk->n, walk->lost, walk->wrong, walk->absent, begun, trace_noted());
	return 1;
}

/* What the killed writer has left, alone and then joined with its session. 1: a fault. */
static int trace_check(uint64_t *events, uint64_t *lost)
{
	const char *const salvage[] = { trace_ktr, "salvage", trace_path, NULL };
	struct trace_walk before, after, rings;
	uint64_t begun = 0;

	for (unsigned i = 0; i < TRACE_THREADS; i++)
		begun += trace_shared->thread[i].begun;
	if (trace_walk(trace_path, 0, &before) || before.wrong)
		return trace_fault("the trace as it was left", &before);
	if (trace_run(salvage))
		return trace_fault("salvage failed", &before);
	if (trace_walk(trace_path, 1, &after) || after.wrong || after.n < before.n)
		return trace_fault("the salvaged trace", &after);
	if (after.n + after.lost < trace_noted() || after.n + after.lost > begun)
		return trace_fault("events are missing and not counted", &after);
	if (trace_walk(trace_shared->session, 0, &rings) || rings.wrong || rings.absent)
		return trace_fault("what the session has is not in the trace", &rings);
	*events += after.n;
	*lost += after.lost;
	return 0;
}

/* Waits until the trace is there, or so many events have been noted. 1: a process ended by itself. */
static int trace_await(uint64_t noted, int published, pid_t pid)
{
	time_t end = time(NULL) + TRACE_WAIT_S;
	char metadata[320];

	snprintf(metadata, sizeof(metadata), "%s/metadata", trace_path);
	while (published ? access(metadata, F_OK) != 0 : trace_noted() < noted) {
		if (waitpid(pid, NULL, WNOHANG) == pid || time(NULL) > end)
			return 1;
		sched_yield();
	}
	return 0;
}

static void trace_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int trace_round(enum trace_mode mode, uint64_t instant, uint64_t *events, uint64_t *lost)
{
	const char *const victim[] = { "/proc/self/exe", "victim", NULL };
	const char *const record[] = { trace_ktr, "record", "-s", getenv("KTR_SESSION"), "-o", trace_path, NULL };
	pid_t pid, recorder = 0;
	int failed = 0;

	memset(trace_shared, 0, sizeof(*trace_shared));
	if (mode == TRACE_PROGRAM)
		setenv("KTR_FILE", trace_path, 1);
	else
		unsetenv("KTR_FILE");
	trace_shared->go = mode == TRACE_PROGRAM;
	pid = trace_spawn(victim);
	if (mode != TRACE_PROGRAM) {
		while (!__atomic_load_n(&trace_shared->session[0], __ATOMIC_ACQUIRE))
			sched_yield();
		recorder = trace_spawn(record);
		failed = trace_await(0, 1, recorder);
		__atomic_store_n(&trace_shared->go, 1, __ATOMIC_RELEASE);
	}
	failed = failed || trace_await(instant, 0, pid);
	if (recorder)
		kill(recorder, SIGKILL);
	if (mode != TRACE_RECORD)
		kill(pid, SIGKILL);
	else if (!failed)
		failed = trace_await(trace_noted() + TRACE_AFTER, 0, pid);
	trace_shared->stop = 1;
	if (recorder)
		trace_kill(recorder);
	if (failed)
		trace_kill(pid);
	else
		waitpid(pid, NULL, 0);
	if (!failed && access(trace_path, F_OK) == 0)
		failed = trace_check(events, lost);
	unlink(trace_shared->session);
	return failed;
}

static int trace_campaign(unsigned kills, uint64_t seed)
{
	for (int mode = 0; mode < TRACE_MODES; mode++) {
		uint64_t events = 0, lost = 0;

		for (unsigned i = 0; i < kills; i++) {
			/* Knuth's MMIX generator; the high bits are the good ones. */
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			trace_clean();
			if (trace_round(mode, (seed >> 20) % TRACE_INSTANT, &events, &lost)) {
				fprintf(stderr, "kill: %s, round %u failed; %s is left\n",
					trace_mode_names[mode], i, trace_path);
				return 1;
			}
		}
		printf("kill: %s: %u kills, %" PRIu64 " events, %" PRIu64 " overwritten, none missing\n",
		       trace_mode_names[mode], kills, events, lost);
		if (!events)
			return 1;
	}
	return 0;
}

static int trace_prepare(unsigned entries)
{
	char text[64];

	if (dup2(memfd_create("kill", 0), TRACE_FD) != TRACE_FD ||
	    ftruncate(TRACE_FD, sizeof(*trace_shared)) != 0)
		return 1;
	trace_shared = mmap(NULL, sizeof(*trace_shared), PROT_READ | PROT_WRITE, MAP_SHARED, TRACE_FD, 0);
	for (unsigned i = 0; i < TRACE_THREADS; i++)
		trace_seen[i] = mmap(NULL, TRACE_NUMBERS / 8, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	snprintf(trace_path, sizeof(trace_path), "%s/trace", trace_dir);
	snprintf(text, sizeof(text), "trace-%d", (int)getpid());
	setenv("KTR_SESSION", text, 1);
	snprintf(text, sizeof(text), "%u", entries);
	setenv("KTR_ENTRIES", text, 1);
	setenv("KTR_MASK", "gen", 1);
	setenv("KTR_KEEP_SESSION", "1", 1);
	return trace_shared == MAP_FAILED || trace_seen[TRACE_THREADS - 1] == MAP_FAILED;
}

int main(int argc, char **argv)
{
	unsigned kills = 20, entries = 4096;
	uint64_t seed = (uint64_t)time(NULL);
	int option;

	if (argc == 2 && strcmp(argv[1], "victim") == 0)
		return trace_victim();
	while ((option = getopt(argc, argv, "n:r:s:")) != -1) {
		if (option == 'n')
			kills = (unsigned)atoi(optarg);
		else if (option == 'r')
			entries = (unsigned)atoi(optarg);
		else if (option == 's')
			seed = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (argc - optind != 2)
		return 2;
	trace_ktr = argv[optind];
	trace_dir = argv[optind + 1];
	setenv("KTR_DISABLE", "1", 1);
	if (trace_prepare(entries))
		return 1;
	unsetenv("KTR_DISABLE");
	printf("kill: seed %" PRIu64 "\n", seed);
	return trace_campaign(kills, seed);
}
