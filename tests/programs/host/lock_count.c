/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows nothing of ktr, takes locks of all kinds in all ways there are, and counts what came of it:
 *
 *	lock_count THREADS ROUNDS SEED		name=value, a line each
 *
 * Mutexes that are normal, adaptive, recursive, error-checking, robust, inheriting priorities, and of two
 * processes, by lock, trylock, timed ones that may be in vain, and C11's; read-write locks; semaphores; spin locks;
 * conditions, until they are signalled or their time is up; barriers; what is destroyed and made again in its
 * place; who is cancelled, or ends with a lock. Names are those of tests/cli/host/lock_count.py.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #what), _exit(1)))
#define COUNTS(X)                                                                                        \
	X(mutex_init) X(mutex_got) X(mutex_again) X(mutex_tried) X(mutex_gave) X(mutex_busy) X(mutex_late) \
	X(mutex_own) X(mutex_not_own) X(mutex_lost)                                                       \
	X(rw_init) X(rw_read) X(rw_written) X(rw_tried) X(rw_gave) X(rw_busy) X(rw_late)                  \
	X(sem_got) X(sem_gave) X(sem_none) X(sem_late)                                                    \
	X(spin_got) X(spin_gave) X(spin_busy)                                                             \
	X(cond_waited) X(cond_late) X(cond_cancelled) X(cond_signals) X(cond_broadcasts)                   \
	X(barrier_waits) X(barrier_last)

#define COUNT_MEMBER(name) uint64_t name;
/* Memory of both processes. */
static struct shared {
	COUNTS(COUNT_MEMBER)
	pthread_mutex_t mutex;
} *shared;
#define ADD(name) ((void)__atomic_fetch_add(&shared->name, 1, __ATOMIC_RELAXED))

#define KINDS 6
static pthread_mutex_t mutexes[KINDS];
static mtx_t c11;
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spinning;
static pthread_cond_t condition;
static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static unsigned n_rounds;

static unsigned draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (unsigned)(*random >> 33);
}

static struct timespec soon(clockid_t clock, unsigned us)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += us * 1000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void hold(uint64_t *random)
{
	if (draw(random) % 8 == 0)
		sched_yield();
}

/* What came of it. 1: it is had. */
static int mutex_came(int code, int tried)
{
	switch (code) {
	case 0:
		ADD(mutex_got);
		if (tried)
			ADD(mutex_tried);
		return 1;
	case EBUSY:
		ADD(mutex_busy);
		return 0;
	case ETIMEDOUT:
		ADD(mutex_late);
		return 0;
	default:
		CHECK(code == EDEADLK);
		ADD(mutex_own);
		return 0;
	}
}

static int mutex_get(pthread_mutex_t *mutex, uint64_t *random)
{
	struct timespec time = soon(CLOCK_REALTIME, draw(random) % 200);

	switch (draw(random) % 4) {
	case 0:
		return mutex_came(pthread_mutex_trylock(mutex), 1);
	case 1:
		return mutex_came(pthread_mutex_timedlock(mutex, &time), 0);
	case 2:
		if (mutex == &mutexes[5]) /* older kernels know one clock for those that inherit */
			return mutex_came(pthread_mutex_clocklock(mutex, CLOCK_REALTIME, &time), 0);
		time = soon(CLOCK_MONOTONIC, draw(random) % 200);
		return mutex_came(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &time), 0);
	default:
		return mutex_came(pthread_mutex_lock(mutex), 0);
	}
}

static void mutex_give(pthread_mutex_t *mutex)
{
	ADD(mutex_gave);
	CHECK(!pthread_mutex_unlock(mutex));
}

static void mutex_round(unsigned kind, uint64_t *random)
{
	pthread_mutex_t *mutex = kind < KINDS ? &mutexes[kind] : &shared->mutex;

	if (!mutex_get(mutex, random))
		return;
	if (kind == 2 && mutex_get(mutex, random)) { /* the recursive one */
		ADD(mutex_again);
		hold(random);
		mutex_give(mutex);
	}
	if (kind == 3 && draw(random) % 2) /* the one that checks */
		CHECK(!mutex_came(pthread_mutex_lock(mutex), 0));
	hold(random);
	mutex_give(mutex);
	if (kind == 3 && draw(random) % 4 == 0) {
		CHECK(pthread_mutex_unlock(mutex) == EPERM);
		ADD(mutex_not_own);
	}
}

static void c11_round(uint64_t *random)
{
	struct timespec time = soon(CLOCK_REALTIME, draw(random) % 200);
	int way = (int)(draw(random) % 3);
	int code = way == 0 ? mtx_trylock(&c11) : way == 1 ? mtx_timedlock(&c11, &time) : mtx_lock(&c11);

	if (!mutex_came(code == thrd_success  ? 0 :
			code == thrd_busy     ? EBUSY :
			code == thrd_timedout ? ETIMEDOUT :
						EINVAL,
			way == 0))
		return;
	hold(random);
	ADD(mutex_gave);
	CHECK(mtx_unlock(&c11) == thrd_success);
}

static void rw_round(uint64_t *random)
{
	struct timespec time = soon(CLOCK_REALTIME, draw(random) % 200);
	int write = draw(random) % 3 == 0, way = (int)(draw(random) % 3), code;

	if (way == 0)
		code = write ? pthread_rwlock_trywrlock(&rwlock) : pthread_rwlock_tryrdlock(&rwlock);
	else if (way == 1)
		code = write ? pthread_rwlock_timedwrlock(&rwlock, &time) :
			       pthread_rwlock_timedrdlock(&rwlock, &time);
	else
		code = write ? pthread_rwlock_wrlock(&rwlock) : pthread_rwlock_rdlock(&rwlock);
	if (code == EBUSY)
		ADD(rw_busy);
	if (code == ETIMEDOUT)
		ADD(rw_late);
	if (code) {
		CHECK(code == EBUSY || code == ETIMEDOUT);
		return;
	}
	if (write)
		ADD(rw_written);
	else
		ADD(rw_read);
	if (way == 0)
		ADD(rw_tried);
	hold(random);
	ADD(rw_gave);
	CHECK(!pthread_rwlock_unlock(&rwlock));
}

static void sem_round(uint64_t *random)
{
	struct timespec time = soon(CLOCK_REALTIME, draw(random) % 200);
	int way = (int)(draw(random) % 3), rc;

	if (way == 2) {
		ADD(sem_gave);
		CHECK(!sem_post(&semaphore));
		return;
	}
	do
		rc = way == 0 ? sem_trywait(&semaphore) : sem_timedwait(&semaphore, &time);
	while (rc && errno == EINTR);
	if (!rc)
		ADD(sem_got);
	else if (errno == EAGAIN)
		ADD(sem_none);
	else
		ADD(sem_late);
	CHECK(!rc || errno == EAGAIN || errno == ETIMEDOUT);
}

static void spin_round(uint64_t *random)
{
	int code = draw(random) % 2 ? pthread_spin_trylock(&spinning) : pthread_spin_lock(&spinning);

	if (code) {
		ADD(spin_busy);
		return;
	}
	ADD(spin_got);
	ADD(spin_gave);
	CHECK(!pthread_spin_unlock(&spinning));
}

static void cond_round(uint64_t *random)
{
	struct timespec time = soon(CLOCK_REALTIME, draw(random) % 300);
	int code;

	switch (draw(random) % 4) {
	case 0:
		ADD(cond_signals);
		CHECK(!pthread_cond_signal(&condition));
		return;
	case 1:
		ADD(cond_broadcasts);
		CHECK(!pthread_cond_broadcast(&condition));
		return;
	default:
		break;
	}
	CHECK(mutex_came(pthread_mutex_lock(&condition_mutex), 0));
	ADD(mutex_gave);
	if (draw(random) % 2) {
		code = pthread_cond_timedwait(&condition, &condition_mutex, &time);
	} else {
		time = soon(CLOCK_MONOTONIC, draw(random) % 300);
		code = pthread_cond_clockwait(&condition, &condition_mutex, CLOCK_MONOTONIC, &time);
	}
	ADD(mutex_got);
	CHECK(!code || code == ETIMEDOUT);
	if (code)
		ADD(cond_late);
	else
		ADD(cond_waited);
	mutex_give(&condition_mutex);
}

/* Locks that come and go in one place. */
static void anew_round(uint64_t *random)
{
	union {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
	} place;

	if (draw(random) % 2) {
		ADD(mutex_init);
		CHECK(!pthread_mutex_init(&place.mutex, NULL));
		if (mutex_get(&place.mutex, random))
			mutex_give(&place.mutex);
		CHECK(!pthread_mutex_destroy(&place.mutex));
	} else {
		ADD(rw_init);
		CHECK(!pthread_rwlock_init(&place.rwlock, NULL));
		CHECK(!pthread_rwlock_wrlock(&place.rwlock));
		ADD(rw_written);
		ADD(rw_gave);
		CHECK(!pthread_rwlock_unlock(&place.rwlock));
		CHECK(!pthread_rwlock_destroy(&place.rwlock));
	}
}

static void *work(void *context)
{
	uint64_t random = (uintptr_t)context;

	for (unsigned i = 0; i < n_rounds; i++) {
		unsigned what = draw(&random) % 16;

		if (what <= KINDS)
			mutex_round(what, &random);
		else if (what == KINDS + 1)
			c11_round(&random);
		else if (what <= KINDS + 3)
			rw_round(&random);
		else if (what == KINDS + 4)
			sem_round(&random);
		else if (what == KINDS + 5)
			spin_round(&random);
		else if (what == KINDS + 6)
			cond_round(&random);
		else
			anew_round(&random);
	}
	for (unsigned i = 0; i < 10; i++) {
		ADD(barrier_waits);
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			ADD(barrier_last);
	}
	return NULL;
}

/* ---- who is cancelled, or ends with a lock ---- */

static void after_cancel(void *unused)
{
	(void)unused;
	ADD(mutex_got); /* it has it again */
	mutex_give(&condition_mutex);
}

static void *cancelled(void *unused)
{
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	CHECK(mutex_came(pthread_mutex_lock(&condition_mutex), 0));
	ADD(mutex_gave);
	pthread_cleanup_push(after_cancel, NULL);
	for (;;)
		pthread_cond_wait(&never, &condition_mutex);
	pthread_cleanup_pop(0);
	return unused;
}

static void *leaves(void *mutex)
{
	ADD(mutex_got);
	CHECK(!pthread_mutex_lock(mutex));
	return NULL;
}

static void ends(void)
{
	pthread_mutex_t *robust = &mutexes[4];
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, cancelled, NULL));
	CHECK(!pthread_cancel(thread)); /* one that comes too early waits for it to wait */
	pthread_join(thread, NULL);
	ADD(cond_cancelled);
	for (int i = 0; i < 2; i++) {
		CHECK(!pthread_create(&thread, NULL, leaves, robust));
		pthread_join(thread, NULL);
		ADD(mutex_got);
		CHECK(pthread_mutex_lock(robust) == EOWNERDEAD);
		if (i == 0)
			CHECK(!pthread_mutex_consistent(robust));
		mutex_give(robust);
	}
	for (int i = 0; i < 2; i++) {
		CHECK(pthread_mutex_lock(robust) == ENOTRECOVERABLE);
		ADD(mutex_lost);
	}
}

/* What threads may not come to by chance. */
static void in_vain(void)
{
	const struct timespec past = { 0, 0 };

	CHECK(mutex_came(pthread_mutex_lock(&mutexes[0]), 0));
	CHECK(!mutex_came(pthread_mutex_trylock(&mutexes[0]), 1));
	CHECK(!mutex_came(pthread_mutex_timedlock(&mutexes[0], &past), 0));
	mutex_give(&mutexes[0]);
	CHECK(!pthread_rwlock_rdlock(&rwlock));
	CHECK(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
	CHECK(pthread_rwlock_timedwrlock(&rwlock, &past) == ETIMEDOUT);
	CHECK(!pthread_rwlock_unlock(&rwlock));
	ADD(rw_read);
	ADD(rw_busy);
	ADD(rw_late);
	ADD(rw_gave);
	CHECK(!pthread_spin_lock(&spinning));
	CHECK(pthread_spin_trylock(&spinning) == EBUSY);
	CHECK(!pthread_spin_unlock(&spinning));
	ADD(spin_got);
	ADD(spin_busy);
	ADD(spin_gave);
}

/* ---- all of it ---- */

static void make(unsigned n_threads)
{
	static const int type[KINDS] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_RECURSIVE,
					 PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_NORMAL };
	pthread_mutexattr_t attr;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	for (unsigned i = 0; i <= KINDS; i++) {
		pthread_mutexattr_init(&attr);
		if (i < KINDS)
			pthread_mutexattr_settype(&attr, type[i]);
		else
			pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
		if (i == 4)
			pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
		if (i == 5)
			pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
		CHECK(!pthread_mutex_init(i < KINDS ? &mutexes[i] : &shared->mutex, &attr));
		ADD(mutex_init);
	}
	CHECK(mtx_init(&c11, mtx_timed) == thrd_success);
	CHECK(!pthread_rwlock_init(&rwlock, NULL));
	ADD(mutex_init);
	ADD(rw_init);
	CHECK(!pthread_cond_init(&condition, NULL) && !pthread_spin_init(&spinning, 0));
	CHECK(!sem_init(&semaphore, 0, 0) && !pthread_barrier_init(&barrier, NULL, n_threads));
}

int main(int argc, char **argv)
{
	unsigned n_threads = argc > 3 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t thread[64];
	uint64_t random;
	int status;
	pid_t child;

	CHECK(n_threads > 0 && n_threads <= 64);
	n_rounds = (unsigned)atoi(argv[2]);
	random = strtoull(argv[3], NULL, 10) + 1;
	make(n_threads);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		for (unsigned i = 0; i < n_rounds; i++)
			mutex_round(KINDS, &random);
		exit(0);
	}
	for (unsigned i = 0; i < n_threads; i++) {
		void *seed = (void *)(uintptr_t)(random + 1000 * (i + 1)); // NOLINT

		CHECK(!pthread_create(&thread[i], NULL, work, seed));
	}
	for (unsigned i = 0; i < n_threads; i++)
		pthread_join(thread[i], NULL);
	ends();
	in_vain();
	CHECK(waitpid(child, &status, 0) == child && status == 0);
#define COUNT_PRINT(name) printf(#name "=%ju\n", (uintmax_t)shared->name);
	COUNTS(COUNT_PRINT)
	return 0;
}
