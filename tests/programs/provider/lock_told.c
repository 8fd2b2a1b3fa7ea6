/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs with something to be said of their locks, and beside each one that looks like it and has nothing: the
 * argument says which.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #what), exit(1)))
#define THREADS     4
#define ROUNDS      200

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t third_lock = PTHREAD_MUTEX_INITIALIZER, gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t first_rw = PTHREAD_RWLOCK_INITIALIZER, second_rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t handed_lock;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t all_here;
static const char *what;
static int work, waiting, woken, taken;

static int is(const char *name)
{
	return strcmp(what, name) == 0;
}

/* ---- order: threads that are all there take locks one after another ---- */

static atomic_int turn;

static void *in_turn(void *(*function)(void), int number)
{
	pthread_barrier_wait(&all_here);
	while (turn != number)
		;
	function();
	turn++;
	return NULL;
}

static void both(pthread_mutex_t *outer, pthread_mutex_t *inner)
{
	CHECK(!pthread_mutex_lock(outer));
	CHECK(is("order-try") ? !pthread_mutex_trylock(inner) : !pthread_mutex_lock(inner));
	CHECK(!pthread_mutex_unlock(inner));
	CHECK(!pthread_mutex_unlock(outer));
}

static void both_read(pthread_rwlock_t *outer, pthread_rwlock_t *inner)
{
	CHECK(!pthread_rwlock_rdlock(outer));
	CHECK(is("order-write") ? !pthread_rwlock_wrlock(inner) : !pthread_rwlock_rdlock(inner));
	CHECK(!pthread_rwlock_unlock(inner));
	CHECK(!pthread_rwlock_unlock(outer));
}

static void *forward(void)
{
	if (is("order-read") || is("order-write"))
		both_read(&first_rw, &second_rw);
	if (is("order-gate"))
		CHECK(!pthread_mutex_lock(&gate_lock));
	both(&first_lock, &second_lock);
	if (is("order-gate"))
		CHECK(!pthread_mutex_unlock(&gate_lock));
	return NULL;
}

static void *backward(void)
{
	if (is("order-read") || is("order-write")) {
		both_read(&second_rw, &first_rw);
		return NULL;
	}
	if (is("order-same")) {
		both(&first_lock, &second_lock);
		return NULL;
	}
	if (is("order-gate"))
		CHECK(!pthread_mutex_lock(&gate_lock));
	if (is("order-three")) {
		both(&second_lock, &third_lock);
	} else if (is("order-reuse")) {
		CHECK(!pthread_mutex_destroy(&first_lock) && !pthread_mutex_init(&first_lock, NULL));
		both(&second_lock, &first_lock);
	} else {
		both(&second_lock, &first_lock);
	}
	if (is("order-gate"))
		CHECK(!pthread_mutex_unlock(&gate_lock));
	return NULL;
}

static void *around(void)
{
	if (is("order-three"))
		both(&third_lock, &first_lock);
	return NULL;
}

static void *go_forward(void *unused)
{
	(void)unused;
	return in_turn(forward, 0);
}

static void *go_backward(void *unused)
{
	(void)unused;
	return in_turn(backward, 1);
}

static void *go_around(void *unused)
{
	(void)unused;
	return in_turn(around, 2);
}

static void order(void)
{
	void *(*const go[])(void *) = { go_forward, go_backward, go_around };
	pthread_t thread[3];

	CHECK(!pthread_barrier_init(&all_here, NULL, 3));
	if (is("order-one")) {
		both(&first_lock, &second_lock);
		both(&second_lock, &first_lock);
		return;
	}
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread[i], NULL, go[i], NULL));
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

/* ---- a lock that is handed from one to the next, and one that is held long ---- */

static atomic_int tids[THREADS], n_tids;

/* They sleep: all stand in line. */
static void see_asleep(int tid)
{
	char path[64], line[512], *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	do {
		f = fopen(path, "r");
		line[0] = '\0';
		CHECK(f && fgets(line, sizeof(line), f));
		fclose(f);
		end = strrchr(line, ')');
	} while (!end || end[2] != 'S');
}

static void *takes(void *unused)
{
	const struct timespec long_ns = { 0, 1000000 };

	tids[n_tids++] = gettid();
	for (int i = 0; i < (is("long") ? 30 : ROUNDS); i++) {
		CHECK(!pthread_mutex_lock(&handed_lock));
		if (is("long"))
			nanosleep(&long_ns, NULL);
		taken++;
		CHECK(!pthread_mutex_unlock(&handed_lock));
	}
	return unused;
}

/* One with priority inheritance goes to who waits for it, not to who comes first. */
static void handed(void)
{
	pthread_t thread[THREADS];
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	CHECK(!pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
	CHECK(!pthread_mutex_init(&handed_lock, &attr));
	CHECK(!pthread_mutex_lock(&handed_lock));
	for (int i = 0; i < THREADS; i++) {
		CHECK(!pthread_create(&thread[i], NULL, takes, NULL));
		while (n_tids == i)
			;
		while (!tids[i])
			;
		see_asleep(tids[i]);
	}
	CHECK(!pthread_mutex_unlock(&handed_lock));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", taken);
}

/* ---- a condition that is told to all: for one of them, or for each ---- */

static void *waits(void *unused)
{
	CHECK(!pthread_mutex_lock(&first_lock));
	for (int seen = 0; work >= 0;) {
		waiting++;
		CHECK(!pthread_cond_signal(&done));
		if (is("each")) {
			while (work == seen)
				CHECK(!pthread_cond_wait(&condition, &first_lock));
			seen = work;
			waiting--;
			CHECK(!pthread_mutex_unlock(&first_lock)); /* here it does something */
			CHECK(!pthread_mutex_lock(&first_lock));
		} else {
			while (!work) {
				CHECK(!pthread_cond_wait(&condition, &first_lock));
				woken++;
				if (!work)
					CHECK(!pthread_cond_signal(&done));
			}
			waiting--;
			work -= work > 0;
		}
	}
	CHECK(!pthread_mutex_unlock(&first_lock));
	return unused;
}

static void told_all(void)
{
	pthread_t thread[THREADS];

	CHECK(!pthread_mutex_lock(&first_lock));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, waits, NULL));
	for (int i = 1; i <= 10; i++) {
		while (waiting < THREADS || (is("herd") && woken < THREADS * (i - 1)))
			CHECK(!pthread_cond_wait(&done, &first_lock));
		work = is("each") ? i : 1;
		CHECK(!pthread_cond_broadcast(&condition));
	}
	while (waiting < THREADS)
		CHECK(!pthread_cond_wait(&done, &first_lock));
	work = -1;
	CHECK(!pthread_cond_broadcast(&condition));
	CHECK(!pthread_mutex_unlock(&first_lock));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* ---- an owner that is kept from the CPU, of lower priority or not, and one that sleeps ---- */

static atomic_int is_had, is_over;

static void on_first_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	CHECK(!sched_getaffinity(0, sizeof(set), &set));
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

static void *burns(void *unused)
{
	on_first_cpu();
	while (!is_over)
		;
	return unused;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *owns(void *waiter)
{
	const struct timespec long_ns = { 0, 300000000 };
	uint64_t until_ns;

	on_first_cpu();
	if (!is("equal"))
		CHECK(!setpriority(PRIO_PROCESS, (id_t)gettid(),
				   is("inverted") ? 19 : getpriority(PRIO_PROCESS, 0) + 1));
	CHECK(!pthread_mutex_lock(&first_lock));
	is_had = 1;
	see_asleep(*(int *)waiter);
	until_ns = cpu_ns() + 500000;
	if (is("asleep"))
		nanosleep(&long_ns, NULL);
	else
		while (cpu_ns() < until_ns)
			;
	CHECK(!pthread_mutex_unlock(&first_lock));
	while (!is_over)
		;
	return NULL;
}

static void inverted(void)
{
	int self = gettid(), n = is("asleep") ? 0 : 2;
	pthread_t owner, thread[THREADS];

	CHECK(!pthread_create(&owner, NULL, owns, &self));
	while (!is_had)
		;
	for (int i = 0; i < n; i++)
		CHECK(!pthread_create(&thread[i], NULL, burns, NULL));
	CHECK(!pthread_mutex_lock(&first_lock));
	is_over = 1;
	CHECK(!pthread_mutex_unlock(&first_lock));
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_join(owner, NULL);
}

int main(int argc, char **argv)
{
	what = argc > 1 ? argv[1] : "";
	if (strncmp(what, "order", 5) == 0)
		order();
	else if (is("convoy") || is("long"))
		handed();
	else if (is("herd") || is("each"))
		told_all();
	else if (is("inverted") || is("equal") || is("asleep"))
		inverted();
	return 0;
}
