/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Five workers that take one lock: "holding" and "waiting" are states of theirs. Worker 3 has to wait once for one
 * that holds it very long; which one that is the program says in the end: "HOLDER NANOSECONDS". After a wait an
 * event tells how long it was and for whom, as those of lock:::mutex-blocked do.
 */
#include <ktr.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 5, TURNS = 12, LONG_TURN = 6, SLOW = 1 };

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static int holder = -1, slow_has_it;
static pid_t thread_id[WORKERS];
static int waited_for[WORKERS];
static int64_t waited_ns[WORKERS];
static pthread_barrier_t together;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void tell(const pthread_mutex_t *lock, uint64_t ns, pid_t owner)
{
	CTR3(KTR_LOCK, "had %p after %ju ns, of %d", lock, ns, owner);
}

static void *work(void *arg)
{
	int me = (int)(intptr_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "worker %d", me);
	pthread_setname_np(pthread_self(), name);
	thread_id[me] = gettid();
	for (int turn = 0; turn < TURNS; turn++) {
		int is_long = turn == LONG_TURN && me == SLOW, of;
		int64_t begin_ns;

		KTR_SCOPE(KTR_LOCK, "turn");

		KTR_STATE0(KTR_LOCK, "worker", name, "idle");
		pthread_barrier_wait(&together);
		usleep(1000 + 1500 * (unsigned)me);
		/* The slow one has it first, then the others ask. */
		while (turn == LONG_TURN && !is_long && !__atomic_load_n(&slow_has_it, __ATOMIC_RELAXED))
			usleep(100);
		KTR_STATE0(KTR_LOCK, "worker", name, "waiting");
		begin_ns = now_ns();
		of = __atomic_load_n(&holder, __ATOMIC_RELAXED);
		pthread_mutex_lock(&shared);
		if (of >= 0)
			tell(&shared, (uint64_t)(now_ns() - begin_ns), thread_id[of]);
		__atomic_store_n(&holder, me, __ATOMIC_RELAXED);
		if (is_long)
			__atomic_store_n(&slow_has_it, 1, __ATOMIC_RELAXED);
		if (now_ns() - begin_ns > waited_ns[me]) {
			waited_ns[me] = now_ns() - begin_ns;
			waited_for[me] = of;
		}
		KTR_STATE0(KTR_LOCK, "worker", name, "holding");
		usleep(is_long ? 60000 : 300);
		__atomic_store_n(&holder, -1, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&shared);
	}
	KTR_STATE0(KTR_LOCK, "worker", name, "idle");
	return NULL;
}

int main(void)
{
	pthread_t id[WORKERS];

	KTR_SCOPE(KTR_LOCK, "round");
	pthread_barrier_init(&together, NULL, WORKERS);
	for (intptr_t i = 0; i < WORKERS; i++)
		pthread_create(&id[i], NULL, work, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(id[i], NULL);
	printf("worker %d %lld\n", waited_for[3], (long long)waited_ns[3]);
	return 0;
}
