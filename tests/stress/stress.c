/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many writers, few CPUs, small rings, signals everywhere, and readers at the same time.
 *
 * The supervisor sets the environment of a session of its own and starts the head, which forks the
 * worker processes, half of them with exec. Each worker has threads, each thread two POSIX timers whose
 * signal handlers interrupt it, and each other, and trace too. One reader drains all rings from the
 * beginning of recording on, another takes snapshots again and again through a mapping. Every event
 * proves itself (event.h). At the end
 *
 *	events begun == events read + events counted as lost + events counted as dropped
 *
 * must hold exactly, over all streams together and, with -P (threads pinned), ring by ring.
 *
 * With -C some controllers change sizes of rings and other knobs all the while (control.h).
 *
 *	stress [-e events] [-p processes] [-t threads] [-i timer ns] [-r entries] [-C controllers] [-P]
 */
#include "tests/stress/control.h"
#include "tests/stress/event.h"
#include "tests/stress/look.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STRESS_FD 9 /* the shared state, in every process */

struct stress {
	uint64_t events; /* of each thread, without its handlers' */
	uint32_t procs;
	uint32_t threads;
	uint32_t timer_ns;
	uint32_t pinned;
	uint32_t controllers;
	uint32_t done;	     /* all workers have ended */
	uint32_t failed;     /* somebody found a fault: stop */
	uint64_t handled;    /* signals */
	uint64_t snapshots;
	uint64_t changes;    /* of knobs */
	char path[512];	     /* of the session */
	struct event_stream stream[EVENT_STREAMS];
};

static struct stress *stress;
static __thread unsigned stress_proc __attribute__((tls_model("initial-exec")));
static __thread unsigned stress_thread __attribute__((tls_model("initial-exec")));

static void stress_emit(unsigned level, unsigned keep)
{
	unsigned id = event_stream_id(stress_proc, stress_thread, level, keep);

	event_emit(&stress->stream[id], id);
}

/* Signals do not mask each other, so that one handler interrupts the other; each only once. */
static void stress_handler(int sig)
{
	unsigned level = (unsigned)(sig - SIGRTMIN), saved = (unsigned)errno;

	stress_emit(level, 0);
	stress_emit(level, 1);
	stress_emit(level, 0);
	__atomic_fetch_add(&stress->handled, 1, __ATOMIC_RELAXED);
	errno = (int)saved;
}

static timer_t stress_timer(int sig, uint32_t ns)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig };
	struct itimerspec every = { { 0, ns }, { 0, ns } };
	timer_t timer;

	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL)) {
		perror("stress: timer");
		exit(1);
	}
	return timer;
}

static void stress_pin(unsigned nth)
{
	cpu_set_t allowed, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	nth %= (unsigned)CPU_COUNT(&allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && nth-- == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

struct stress_start {
	unsigned proc;
	unsigned thread;
};

static void *stress_work(void *argument)
{
	const struct stress_start *start = argument;
	timer_t first, second;

	stress_proc = start->proc;
	stress_thread = start->thread;
	if (stress->pinned)
		stress_pin(stress_thread);
	first = stress_timer(SIGRTMIN + 1, stress->timer_ns);
	second = stress_timer(SIGRTMIN + 2, stress->timer_ns + stress->timer_ns / 7);
	for (uint64_t i = 0; i < stress->events; i++) {
		stress_emit(0, !(i & 15));
		if (!(i & 1023) && __atomic_load_n(&stress->failed, __ATOMIC_RELAXED))
			break;
	}
	timer_delete(first);
	timer_delete(second);
	return NULL;
}

static int stress_worker(unsigned proc)
{
	struct sigaction action = { .sa_handler = stress_handler, .sa_flags = SA_RESTART };
	struct stress_start start[EVENT_THREADS];
	pthread_t thread[EVENT_THREADS];

	sigaction(SIGRTMIN + 1, &action, NULL);
	sigaction(SIGRTMIN + 2, &action, NULL);
	for (unsigned i = 0; i < stress->threads; i++) {
		start[i] = (struct stress_start){ proc, i };
		if (pthread_create(&thread[i], NULL, stress_work, &start[i])) {
			fprintf(stderr, "stress: no thread\n");
			return 1;
		}
	}
	for (unsigned i = 0; i < stress->threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static pid_t stress_spawn(const char *role, unsigned n, bool traced)
{
	char number[16];
	char *argv[] = { (char *)(uintptr_t)"stress", (char *)(uintptr_t)role, number, NULL };
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(number, sizeof(number), "%u", n);
	if (!traced)
		setenv("KTR_DISABLE", "1", 1);
	execv("/proc/self/exe", argv);
	_exit(127);
}

static int stress_wait(pid_t pid, const char *who)
{
	int status;

	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	fprintf(stderr, "stress: %s failed\n", who);
	__atomic_store_n(&stress->failed, 1, __ATOMIC_RELAXED);
	return 1;
}

static int stress_head(void)
{
	pid_t drain = stress_spawn("drain", 0, false), snapshot = stress_spawn("snapshot", 0, false);
	pid_t worker[EVENT_PROCS], controller[EVENT_PROCS];
	int failed = 0;

	for (unsigned i = 0; i < stress->controllers; i++)
		controller[i] = stress_spawn("control", i, false);

	for (unsigned i = 0; i < stress->procs; i++) {
		worker[i] = i & 1 ? stress_spawn("worker", i, true) : fork();
		if (!worker[i])
			exit(stress_worker(i));
	}
	for (unsigned i = 0; i < stress->procs; i++)
		failed |= stress_wait(worker[i], "a worker");
	__atomic_store_n(&stress->done, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < stress->controllers; i++)
		failed |= stress_wait(controller[i], "a controller");
	failed |= stress_wait(drain, "the drain");
	return failed | stress_wait(snapshot, "the snapshot reader");
}

/* What the drain knows. */
struct stress_seen {
	struct look look;
	uint64_t count[EVENT_STREAMS];
	uint64_t next[EVENT_STREAMS];	/* last number seen + 1 */
	uint32_t thread[EVENT_STREAMS]; /* thread row its events carry */
	uint64_t *in_ring;		/* per ring and stream: last number + 1 */
	uint64_t *gaps;			/* per ring: numbers passed over */
	bool checks_gaps;
};

static bool stress_wrong(uint32_t ring, uint64_t id, uint64_t seq, const char *wrong)
{
	fprintf(stderr, "stress: ring %u stream %" PRIu64 " number %" PRIu64 ": %s\n", ring, id, seq, wrong);
	__atomic_store_n(&stress->failed, 1, __ATOMIC_RELAXED);
	return false;
}

static bool stress_see(void *context, uint32_t ring, const struct ktr_entry *entry, uint64_t id,
		       uint64_t seq, uint64_t lost)
{
	struct stress_seen *seen = context;
	uint64_t *in_ring = &seen->in_ring[(uint64_t)ring * EVENT_STREAMS + id];
	uint32_t thread = entry->thread;

	(void)lost;
	if (seen->look.map.header.path == KTR_PATH_THREAD)
		thread &= KTR_THREAD_INDEX;
	if (seq < *in_ring)
		return stress_wrong(ring, id, seq, "numbers do not grow");
	if (seq >= __atomic_load_n(&stress->stream[id].next, __ATOMIC_ACQUIRE))
		return stress_wrong(ring, id, seq, "was not recorded yet");
	if (!thread || (seen->thread[id] && seen->thread[id] != thread))
		return stress_wrong(ring, id, seq, "names another thread");
	seen->gaps[ring] += seq - *in_ring;
	if (seen->checks_gaps &&
	    seen->gaps[ring] > seen->look.ring[ring].lost + seen->look.ring[ring].cleared)
		return stress_wrong(ring, id, seq, "events are missing that were not counted as lost");
	seen->thread[id] = thread;
	*in_ring = seq + 1;
	seen->next[id] = seq + 1 > seen->next[id] ? seq + 1 : seen->next[id];
	seen->count[id]++;
	return true;
}

/* Ring by ring: with pinned threads a stream has one ring, and what is missing is missing there. */
static int stress_account_rings(struct stress_seen *seen)
{
	int failed = 0;

	for (uint32_t row = 0; row < seen->look.n_rings; row++) {
		const uint64_t *in_ring = &seen->in_ring[(uint64_t)row * EVENT_STREAMS];
		uint64_t missing = seen->gaps[row], counted;

		for (unsigned id = 0; id < EVENT_STREAMS; id++)
			if (in_ring[id])
				missing += stress->stream[id].next - in_ring[id];
		/* A stream none of whose events was read leaves losses that belong to no stream. */
		counted = seen->look.ring[row].lost + seen->look.ring[row].cleared;
		if (missing > counted) {
			fprintf(stderr, "stress: ring %u: %" PRIu64 " events missing, %" PRIu64 " counted\n", row,
				missing, counted);
			failed = 1;
		}
	}
	return failed;
}

static int stress_account(struct stress_seen *seen)
{
	uint64_t begun = 0, read = 0, lost = 0, cleared = 0, dropped = look_dropped(&seen->look);
	unsigned streams = 0;

	for (unsigned id = 0; id < EVENT_STREAMS; id++) {
		begun += stress->stream[id].next;
		read += seen->count[id];
		streams += stress->stream[id].next != 0;
	}
	for (uint32_t row = 0; row < seen->look.n_rings; row++) {
		lost += seen->look.ring[row].lost;
		cleared += seen->look.ring[row].cleared;
	}
	printf("stress: %" PRIu64 " events of %u streams, %" PRIu64 " read, %" PRIu64 " lost, %" PRIu64
	       " cleared, %" PRIu64 " dropped\n", begun, streams, read, lost, cleared, dropped);
	/* Controllers may clear a short run's rings before the drain has had its turn. */
	if (begun == read + lost + cleared + dropped && (read || (stress->controllers && cleared)))
		return seen->checks_gaps ? stress_account_rings(seen) : 0;
	__atomic_store_n(&stress->failed, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "stress: events begun are not events read, lost and dropped: %" PRId64 " off\n",
		(int64_t)(begun - read - lost - cleared - dropped));
	return 1;
}

static int stress_drain_all(struct stress_seen *seen)
{
	bool done;

	do {
		int64_t n;

		done = __atomic_load_n(&stress->done, __ATOMIC_ACQUIRE);
		do
			n = look_pass(&seen->look, stress_see, seen);
		while (done && n > 0);
		if (n < 0) {
			__atomic_store_n(&stress->failed, 1, __ATOMIC_RELAXED);
			return 1;
		}
	} while (!done);
	return stress_account(seen);
}

static int stress_drain(void)
{
	struct stress_seen *seen = calloc(1, sizeof(*seen));
	int failed = 1;

	if (!seen || !look_open(&seen->look, stress->path, false))
		return 1;
	seen->in_ring = calloc((uint64_t)seen->look.n_rings * EVENT_STREAMS, sizeof(uint64_t));
	seen->gaps = calloc(seen->look.n_rings, sizeof(uint64_t));
	seen->checks_gaps = stress->pinned && seen->look.map.header.path == KTR_PATH_RSEQ;
	if (seen->in_ring && seen->gaps)
		failed = stress_drain_all(seen);
	look_close(&seen->look);
	free(seen->in_ring);
	free(seen->gaps);
	free(seen);
	return failed;
}

/* A snapshot knows nothing of before: whole entries, time and order within what it got. */
static bool stress_see_snapshot(void *context, uint32_t ring, const struct ktr_entry *entry, uint64_t id,
				uint64_t seq, uint64_t lost)
{
	(void)context, (void)entry, (void)lost;
	if (seq >= __atomic_load_n(&stress->stream[id].next, __ATOMIC_ACQUIRE))
		return stress_wrong(ring, id, seq, "was not recorded yet");
	return true;
}

static int stress_snapshot(void)
{
	struct look look;

	if (!look_open(&look, stress->path, true))
		return 1;
	while (!__atomic_load_n(&stress->done, __ATOMIC_ACQUIRE)) {
		look_rewind(&look, true);
		if (look_pass(&look, stress_see_snapshot, NULL) < 0) {
			__atomic_store_n(&stress->failed, 1, __ATOMIC_RELAXED);
			return 1;
		}
		__atomic_fetch_add(&stress->snapshots, 1, __ATOMIC_RELAXED);
	}
	look_close(&look);
	return 0;
}

/* Numbers from the command line, or the supervisor's complaint. */
static void stress_options(int argc, char **argv, unsigned *entries)
{
	uint64_t events = 1000000;
	int option;

	stress->procs = 4;
	stress->threads = 8;
	stress->timer_ns = 50000;
	while ((option = getopt(argc, argv, "e:p:t:i:r:C:P")) != -1) {
		uint64_t n = optarg ? strtoull(optarg, NULL, 10) : 0;

		switch (option) {
		case 'e': events = n; break;
		case 'p': stress->procs = n < EVENT_PROCS ? (uint32_t)n : EVENT_PROCS; break;
		case 't': stress->threads = n < EVENT_THREADS ? (uint32_t)n : EVENT_THREADS; break;
		case 'i': stress->timer_ns = (uint32_t)n; break;
		case 'r': *entries = (unsigned)n; break;
		case 'C': stress->controllers = n < EVENT_PROCS ? (uint32_t)n : EVENT_PROCS; break;
		case 'P': stress->pinned = 1; break;
		default: exit(2);
		}
	}
	stress->events = events / (stress->procs * stress->threads);
}

static int stress_supervise(int argc, char **argv)
{
	const char *dir = getenv("KTR_DIR");
	unsigned entries = 256;
	char text[64];
	struct timespec begin, end;
	double seconds;
	int failed;

	stress_options(argc, argv, &entries);
	snprintf(text, sizeof(text), "stress-%d", (int)getpid());
	snprintf(stress->path, sizeof(stress->path), "%s/ktr-%u/%s.ktr", dir ? dir : "/dev/shm",
		 (unsigned)geteuid(), text);
	setenv("KTR_SESSION", text, 1);
	snprintf(text, sizeof(text), "%u", entries);
	setenv("KTR_ENTRIES", text, 1);
	setenv("KTR_MASK", EVENT_MASK, 1);
	setenv("KTR_KEEP_SESSION", "1", 1);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	failed = stress_wait(stress_spawn("head", 0, true), "the head");
	clock_gettime(CLOCK_MONOTONIC, &end);
	seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	unlink(stress->path);
	printf("stress: %u processes of %u threads, rings of %u, %.1f s, %.0f signals/s, %" PRIu64
	       " snapshots, %" PRIu64 " changes: %s\n", stress->procs, stress->threads, entries, seconds,
	       (double)stress->handled / seconds, stress->snapshots, stress->changes, failed ? "FAILED" : "ok");
	return failed;
}

/* The outermost process has no role; it makes the shared state and everybody else. */
static bool stress_map(bool outer)
{
	if (outer && (dup2(memfd_create("stress", 0), STRESS_FD) != STRESS_FD ||
		      ftruncate(STRESS_FD, sizeof(*stress)) != 0)) {
		perror("stress: shared memory");
		return false;
	}
	stress = mmap(NULL, sizeof(*stress), PROT_READ | PROT_WRITE, MAP_SHARED, STRESS_FD, 0);
	return stress != MAP_FAILED;
}

int main(int argc, char **argv)
{
	const char *role = argc == 3 ? argv[1] : "";
	unsigned n = argc == 3 ? (unsigned)atoi(argv[2]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!stress_map(argc != 3 || argv[1][0] == '-'))
		return 1;
	if (strcmp(role, "head") == 0)
		return stress_head();
	if (strcmp(role, "worker") == 0)
		return stress_worker(n);
	if (strcmp(role, "drain") == 0)
		return stress_drain();
	if (strcmp(role, "snapshot") == 0)
		return stress_snapshot();
	if (strcmp(role, "control") == 0)
		return control_run(stress->path, &stress->done, n + 1, &stress->changes);
	return stress_supervise(argc, argv);
}
