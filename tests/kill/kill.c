/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SIGKILL at random instants. Victims trace from threads and from timer signals' handlers into one
 * session; each event's return is noted in memory the victims share with the killer (event.h). The killer
 * waits until a random number of events has been noted, kills one victim or all of them, and reads
 * what is left:
 *
 *	- every entry is whole and time grows along each ring (look.h);
 *	- of each stream all numbers are there, without a gap, from the first one that cannot have been
 *	  overwritten up to the last whose macro had returned; at most one more, the one being recorded.
 *
 * An event can have been overwritten only if it is older than the oldest entry of some ring that has
 * wrapped. Where one victim is spared it goes on in the rings the dead one left, and is then told to end.
 *
 *	kill [-n kills] [-r entries] [-s seed]
 */
#include "tests/stress/event.h"
#include "tests/stress/look.h"

#include <ktr/ctl.h>

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILL_FD	     9
#define KILL_PROCS   2
#define KILL_THREADS 2
#define KILL_EVENTS  60000 /* the latest instant: so many events of all victims */
#define KILL_AFTER   5000  /* events of the one that is spared, after the kill */

struct kill {
	uint64_t noted; /* events returned, of all streams */
	uint32_t stop;
	char path[512];
	struct event_stream stream[EVENT_STREAMS];
};

static struct kill *kill_shared;
static __thread unsigned kill_thread __attribute__((tls_model("initial-exec")));
static unsigned kill_proc;

static void kill_emit(unsigned level, unsigned keep)
{
	unsigned id = event_stream_id(kill_proc, kill_thread, level, keep);

	event_emit(&kill_shared->stream[id], id);
	__atomic_fetch_add(&kill_shared->noted, 1, __ATOMIC_RELEASE);
}

static void kill_handler(int sig)
{
	(void)sig;
	kill_emit(1, 0);
	kill_emit(1, 1);
}

static void *kill_work(void *argument)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 1 };
	struct itimerspec every = { { 0, 40000 }, { 0, 40000 } };
	timer_t timer;

	kill_thread = (unsigned)(uintptr_t)argument;
	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		exit(1);
	for (unsigned i = 0; !__atomic_load_n(&kill_shared->stop, __ATOMIC_RELAXED); i++)
		kill_emit(0, !(i & 15));
	timer_delete(timer);
	return NULL;
}

static uint32_t kill_clock(void)
{
	char name[32];

	if (ktr_get("debug.ktr.clock_source", name, sizeof(name), NULL))
		exit(1);
	return strcmp(name, "tsc") == 0	     ? KTR_CLOCK_TSC
	       : strcmp(name, "cntvct") == 0 ? KTR_CLOCK_CNTVCT
					     : KTR_CLOCK_MONOTONIC;
}

static int kill_victim(unsigned proc)
{
	struct sigaction action = { .sa_handler = kill_handler };
	pthread_t thread[KILL_THREADS];

	event_clock = kill_clock();
	kill_proc = proc;
	sigaction(SIGRTMIN + 1, &action, NULL);
	for (uintptr_t i = 0; i < KILL_THREADS; i++)
		if (pthread_create(&thread[i], NULL, kill_work, (void *)i))
			return 1;
	for (unsigned i = 0; i < KILL_THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* What was found of a stream, in the order of time. */
struct kill_seen {
	uint64_t time;
	uint64_t seq;
};

struct kill_found {
	struct look look;
	struct kill_seen *event[EVENT_STREAMS];
	unsigned n[EVENT_STREAMS];
};

static bool kill_see(void *context, uint32_t ring, const struct ktr_entry *entry, uint64_t id, uint64_t seq,
		     uint64_t lost)
{
	struct kill_found *found = context;
	unsigned n = found->n[id];

	(void)ring, (void)lost;
	if (!(n & (n - 1))) {
		void *more = realloc(found->event[id], (n ? 2 * n : 1) * sizeof(struct kill_seen));

		if (!more)
			return false;
		found->event[id] = more;
	}
	found->event[id][n] = (struct kill_seen){ entry->timestamp & KTR_TIME_TICKS, seq };
	found->n[id] = n + 1;
	return true;
}

static int kill_order(const void *a, const void *b)
{
	const struct kill_seen *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Before this moment something may have been overwritten: the youngest of the oldest entries. */
static uint64_t kill_horizon(const struct look *look)
{
	uint64_t horizon = 0;

	for (uint32_t i = 0; i < look->n_rings; i++) {
		const struct look_ring *ring = &look->ring[i];

		if (ring->lost && ring->first_time > horizon)
			horizon = ring->first_time;
	}
	return horizon;
}

static int kill_wrong(unsigned id, uint64_t seq, const char *wrong)
{
	const struct event_stream *stream = &kill_shared->stream[id];

	fprintf(stderr, "kill: stream %u number %" PRIu64 ": %s (begun %" PRIu64 ", returned %" PRIu64 ")\n", id,
		seq, wrong, stream->next, stream->done);
	return 1;
}

static int kill_check_stream(struct kill_found *found, unsigned id, uint64_t horizon)
{
	const struct event_stream *stream = &kill_shared->stream[id];
	struct kill_seen *event = found->event[id];
	unsigned n = found->n[id], at = 0;
	bool there = stream->done && stream->before[(stream->done - 1) & 1] >= horizon;

	if (!n && there)
		return kill_wrong(id, stream->done - 1, "nothing is left of the stream");
	if (!n)
		return 0;
	qsort(event, n, sizeof(*event), kill_order);
	while (at < n && event[at].time < horizon)
		at++;
	for (unsigned i = at + 1; i < n; i++) {
		if (event[i].seq != event[i - 1].seq + 1)
			return kill_wrong(id, event[i - 1].seq + 1, "is missing or there twice");
		if (event[i].time < event[i - 1].time)
			return kill_wrong(id, event[i].seq, "is older than the one before it");
	}
	if (event[n - 1].seq >= stream->next)
		return kill_wrong(id, event[n - 1].seq, "was never begun");
	if (event[n - 1].seq + 1 < there)
		return kill_wrong(id, stream->done - 1, "had returned and is missing");
	return 0;
}

static int kill_check(uint64_t *events)
{
	struct kill_found *found = calloc(1, sizeof(*found));
	uint64_t horizon;
	int64_t n;
	int failed;

	if (!found || !look_open(&found->look, kill_shared->path, false))
		return 1;
	do
		n = look_pass(&found->look, kill_see, found);
	while (n > 0);
	failed = n < 0;
	horizon = kill_horizon(&found->look);
	for (unsigned id = 0; id < EVENT_STREAMS; id++) {
		if (!failed && kill_shared->stream[id].next)
			failed = kill_check_stream(found, id, horizon);
		*events += found->n[id];
		free(found->event[id]);
	}
	look_close(&found->look);
	free(found);
	return failed;
}

static pid_t kill_spawn(unsigned proc)
{
	char number[16];
	char *argv[] = { (char *)(uintptr_t)"kill", (char *)(uintptr_t)"victim", number, NULL };
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(number, sizeof(number), "%u", proc);
	unsetenv("KTR_DISABLE");
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* Looks at the counter until it has come so far; a victim that ended by itself is a fault. */
static int kill_await(uint64_t noted, pid_t pid)
{
	while (__atomic_load_n(&kill_shared->noted, __ATOMIC_ACQUIRE) < noted) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return 1;
		sched_yield();
	}
	return 0;
}

/* Did one come when the other was dead? Then it has moved the session aside and made one of its own. */
static bool kill_apart(void)
{
	char aside[sizeof(kill_shared->path) + 8];

	snprintf(aside, sizeof(aside), "%.*s.old.ktr", (int)(strlen(kill_shared->path) - strlen(".ktr")),
		 kill_shared->path);
	return unlink(aside) == 0;
}

static int kill_round(uint64_t random, uint64_t *events)
{
	unsigned spared = random & 3 ? KILL_PROCS : (unsigned)(random >> 2) % KILL_PROCS;
	uint64_t instant = (random >> 8) % KILL_EVENTS;
	pid_t pid[KILL_PROCS];
	int failed = 0;

	memset(kill_shared->stream, 0, sizeof(kill_shared->stream));
	kill_shared->noted = 0;
	kill_shared->stop = 0;
	for (unsigned i = 0; i < KILL_PROCS; i++)
		pid[i] = kill_spawn(i);
	failed = kill_await(instant, pid[0]);
	for (unsigned i = 0; i < KILL_PROCS; i++)
		if (i != spared)
			kill(pid[i], SIGKILL);
	for (unsigned i = 0; i < KILL_PROCS; i++)
		if (i != spared)
			waitpid(pid[i], NULL, 0);
	if (spared < KILL_PROCS && !failed) {
		failed = kill_await(kill_shared->noted + KILL_AFTER, pid[spared]);
		kill_shared->stop = 1;
		waitpid(pid[spared], NULL, 0);
	}
	if (!kill_apart() && !failed && access(kill_shared->path, F_OK) == 0)
		failed = kill_check(events);
	unlink(kill_shared->path);
	return failed;
}

static int kill_campaign(unsigned kills, uint64_t seed)
{
	uint64_t events = 0;
	unsigned i;

	for (i = 0; i < kills; i++) {
		/* Knuth's MMIX generator; the high bits are the good ones. */
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		if (kill_round(seed >> 20, &events)) {
			fprintf(stderr, "kill: round %u failed\n", i);
			return 1;
		}
	}
	printf("kill: %u kills, %" PRIu64 " events found whole, none missing\n", i, events);
	return events == 0;
}

int main(int argc, char **argv)
{
	unsigned kills = 50, entries = 1024;
	const char *dir = getenv("KTR_DIR");
	uint64_t seed = (uint64_t)time(NULL);
	char text[64];
	int option;

	if (argc == 3 && strcmp(argv[1], "victim") == 0) {
		kill_shared = mmap(NULL, sizeof(*kill_shared), PROT_READ | PROT_WRITE, MAP_SHARED, KILL_FD, 0);
		return kill_shared == MAP_FAILED ? 1 : kill_victim((unsigned)atoi(argv[2]));
	}
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
	if (dup2(memfd_create("kill", 0), KILL_FD) != KILL_FD || ftruncate(KILL_FD, sizeof(*kill_shared)) != 0)
		return 1;
	kill_shared = mmap(NULL, sizeof(*kill_shared), PROT_READ | PROT_WRITE, MAP_SHARED, KILL_FD, 0);
	if (kill_shared == MAP_FAILED)
		return 1;
	snprintf(text, sizeof(text), "kill-%d", (int)getpid());
	snprintf(kill_shared->path, sizeof(kill_shared->path), "%s/ktr-%u/%s.ktr", dir ? dir : "/dev/shm",
		 (unsigned)geteuid(), text);
	setenv("KTR_SESSION", text, 1);
	snprintf(text, sizeof(text), "%u", entries);
	setenv("KTR_ENTRIES", text, 1);
	setenv("KTR_MASK", EVENT_MASK, 1);
	setenv("KTR_KEEP_SESSION", "1", 1);
	printf("kill: seed %" PRIu64 "\n", seed);
	return kill_campaign(kills, seed);
}
