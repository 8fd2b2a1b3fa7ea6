/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd lives: threads. Masses of them, more at once than there are rings for, a first event that comes
 * from a signal handler, handlers that interrupt a thread's registration or jump out of an event.
 */
#include "tests/stress/odd.h"

#include <ktr.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREAD_MASS  1200 /* one after the other, a few at a time */
#define THREAD_WAVE  40
#define THREAD_EACH  10	 /* events of each */
#define THREAD_CROWD 160 /* at once: more than the 128 rings of a session without restartable sequences */

static pthread_t thread_start(void *(*function)(void *), uintptr_t argument)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	if (pthread_create(&thread, &attr, function, (void *)argument)) {
		perror("odd: pthread_create");
		exit(1);
	}
	pthread_attr_destroy(&attr);
	return thread;
}

static void *thread_few(void *argument)
{
	for (int i = 0; i < THREAD_EACH; i++)
		CTR2(KTR_GEN, "mass %d of %d", i, (int)(uintptr_t)argument);
	return NULL;
}

static void thread_mass_run(void)
{
	pthread_t thread[THREAD_WAVE];

	for (unsigned i = 0; i < THREAD_MASS; i += THREAD_WAVE) {
		for (unsigned j = 0; j < THREAD_WAVE; j++)
			thread[j] = thread_start(thread_few, i + j);
		for (unsigned j = 0; j < THREAD_WAVE; j++)
			pthread_join(thread[j], NULL);
	}
}

static void thread_mass_check(void)
{
	static uint8_t seen[THREAD_MASS];

	memset(seen, 0, sizeof(seen));
	for (unsigned i = 0; i < odd_n_events; i++)
		if (strcmp(odd_events[i].format, "mass %d of %d") == 0) {
			uint64_t thread = odd_events[i].entry.arg[1];

			ODD_CHECK(thread < THREAD_MASS && odd_events[i].entry.arg[0] == seen[thread]++);
		}
	ODD_CHECK(odd_count("mass %d of %d") == THREAD_MASS * THREAD_EACH);
	ODD_CHECK(odd_control.drop_no_ring == 0);
	ODD_CHECK(odd_control.n_threads >= THREAD_MASS);
}
ODD_CASE(thread_mass, thread_mass_run, thread_mass_check);

static pthread_barrier_t thread_barrier;

static void *thread_crowd_work(void *argument)
{
	pthread_barrier_wait(&thread_barrier);
	for (int i = 0; i < THREAD_EACH; i++)
		CTR2(KTR_GEN, "crowd %d of %d", i, (int)(uintptr_t)argument);
	pthread_barrier_wait(&thread_barrier);
	return NULL;
}

static void thread_crowd_run(void)
{
	pthread_t thread[THREAD_CROWD];

	pthread_barrier_init(&thread_barrier, NULL, THREAD_CROWD);
	for (unsigned i = 0; i < THREAD_CROWD; i++)
		thread[i] = thread_start(thread_crowd_work, i);
	for (unsigned i = 0; i < THREAD_CROWD; i++)
		pthread_join(thread[i], NULL);
	/* Rings are free again. */
	pthread_join(thread_start(thread_few, 0), NULL);
}

static void thread_crowd_check(void)
{
	unsigned n = odd_count("crowd %d of %d");

	ODD_CHECK(n + odd_control.drop_no_ring == THREAD_CROWD * THREAD_EACH);
	ODD_CHECK(odd_thread_path ? n >= 100 * THREAD_EACH && n < THREAD_CROWD * THREAD_EACH :
				    n == THREAD_CROWD * THREAD_EACH);
	ODD_CHECK(odd_counts_up("mass %d of %d", 0, THREAD_EACH));
}
/* Without the library's own records of threads, which could be dropped too. */
ODD_CASE_MASK(thread_crowd, thread_crowd_run, thread_crowd_check, "gen");

/* The thread does nothing but wait; its first event is its signal handler's. */
static int thread_ready, thread_stop;

static void thread_handler(int sig)
{
	CTR1(KTR_GEN, "first by signal %d", sig);
	CTR1(KTR_GEN, "first string by signal: %s", "text");
	__atomic_store_n(&thread_stop, 1, __ATOMIC_RELEASE);
}

static void *thread_waits(void *argument)
{
	(void)argument;
	__atomic_store_n(&thread_ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&thread_stop, __ATOMIC_ACQUIRE))
		;
	return NULL;
}

static void thread_first_run(void)
{
	signal(SIGUSR1, thread_handler);
	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		thread_ready = thread_stop = 0;
		thread = thread_start(thread_waits, 0);
		while (!__atomic_load_n(&thread_ready, __ATOMIC_ACQUIRE))
			;
		pthread_kill(thread, SIGUSR1);
		pthread_join(thread, NULL);
	}
}

static void thread_first_check(void)
{
	const struct odd_event *event = odd_find("first by signal %d");
	struct ktr_thread_row row;

	ODD_CHECK(odd_count("first by signal %d") == 20);
	ODD_CHECK(odd_count("first string by signal: %s") == 20);
	ODD_CHECK(event && odd_thread_row(event, &row) && row.tid != row.pid && row.state == KTR_ROW_GONE);
	event = odd_find("first string by signal: %s");
	ODD_CHECK(event && strcmp(event->text, "text") == 0);
}
ODD_CASE(thread_first, thread_first_run, thread_first_check);

/* A timer that hits the thread while it makes its first event: both are there, of one thread. */
#define THREAD_HITS 300

static __thread unsigned thread_number __attribute__((tls_model("initial-exec")));

static void thread_tick(int sig)
{
	(void)sig;
	CTR1(KTR_GEN, "tick of %u", thread_number);
	__atomic_fetch_add(&odd_fact[0], 1, __ATOMIC_RELAXED);
}

static void *thread_hit(void *argument)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2 };
	unsigned n = (unsigned)(uintptr_t)argument;
	struct itimerspec soon = { { 0, 30000 }, { 0, 2000 + n * 37 } };
	timer_t timer;

	thread_number = n;
	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL))
		exit(1);
	for (int i = 0; i < 50; i++)
		CTR2(KTR_GEN, "hit %d of %u", i, n);
	timer_delete(timer);
	return NULL;
}

static void thread_hits_run(void)
{
	signal(SIGUSR2, thread_tick);
	for (uintptr_t i = 0; i < THREAD_HITS; i++)
		pthread_join(thread_start(thread_hit, i), NULL);
}

static void thread_hits_check(void)
{
	static uint32_t row[THREAD_HITS], hits[THREAD_HITS];

	memset(row, 0, sizeof(row));
	memset(hits, 0, sizeof(hits));
	for (unsigned i = 0; i < odd_n_events; i++) {
		const struct odd_event *event = &odd_events[i];
		bool hit = strcmp(event->format, "hit %d of %u") == 0;
		uint64_t n = event->entry.arg[hit];
		uint32_t index = event->entry.thread & KTR_THREAD_INDEX;

		if (!hit && strcmp(event->format, "tick of %u") != 0)
			continue;
		ODD_CHECK(n < THREAD_HITS && index && (!row[n] || row[n] == index));
		ODD_CHECK(!hit || event->entry.arg[0] == hits[n]++);
		row[n] = index;
	}
	ODD_CHECK(odd_count("hit %d of %u") == THREAD_HITS * 50);
	ODD_CHECK(odd_count("tick of %u") == odd_fact[0]);
}
ODD_CASE(thread_hits, thread_hits_run, thread_hits_check);

/*
 * Handlers that jump out of whatever they interrupted, an event included. The event may be missing,
 * the ones after it may not.
 */
#define THREAD_JUMPS 800

static sigjmp_buf thread_escape;
static volatile sig_atomic_t thread_armed;

static void thread_jump(int sig)
{
	(void)sig;
	if (thread_armed) {
		thread_armed = 0;
		siglongjmp(thread_escape, 1);
	}
}

static void thread_jumps_run(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 20000 }, { 0, 11000 } };
	volatile int jumps = 0;
	timer_t timer;

	signal(SIGUSR1, thread_jump);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		exit(1);
	while (jumps < THREAD_JUMPS) {
		if (sigsetjmp(thread_escape, 1) == 0) {
			thread_armed = 1;
			for (;;)
				CTR3(KTR_VFS, "interrupted %d %d %d", 1, 2, 3);
		}
		jumps++;
	}
	timer_delete(timer);
	for (int i = 0; i < 100; i++)
		CTR1(KTR_GEN, "after the jumps %d", i);
}

static void thread_jumps_check(void)
{
	ODD_CHECK(odd_counts_up("after the jumps %d", 0, 100));
	ODD_CHECK(odd_control.drop_nested == 0);
}
ODD_CASE(thread_jumps, thread_jumps_run, thread_jumps_check);

/* Events from the destructors of a thread's own data, in every round of them. */
static pthread_key_t thread_key;

static void thread_destroyed(void *value)
{
	uintptr_t rounds = (uintptr_t)value;

	CTR1(KTR_GEN, "destructor %d", (int)rounds);
	if (rounds < 3)
		pthread_setspecific(thread_key, (void *)(rounds + 1));
}

static void *thread_with_key(void *argument)
{
	pthread_setspecific(thread_key, (void *)1);
	CTR0(KTR_GEN, "thread with a key");
	return argument;
}

static void thread_keys_run(void)
{
	pthread_key_create(&thread_key, thread_destroyed);
	/* More threads than rings: those of the dead must be taken again. */
	for (int i = 0; i < 200; i++)
		pthread_join(thread_start(thread_with_key, 0), NULL);
}

static void thread_keys_check(void)
{
	ODD_CHECK(odd_count("thread with a key") == 200);
	ODD_CHECK(odd_count("destructor %d") == 600);
	ODD_CHECK(odd_control.drop_no_ring == 0);
}
ODD_CASE(thread_keys, thread_keys_run, thread_keys_check);
