/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows nothing of ktr and waits for locks as often as it says: whoever waits is seen to wait, in
 * the lock itself or by the kernel, before it gets what it waits for.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #what), exit(1)))

static pthread_mutex_t plain_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checking_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t recursive_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spinning_lock;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t c11_lock;
static atomic_int waiter; /* its number, once it is about to wait */
static int turn;

/* It sleeps: it has asked for what it cannot have. */
static void see_asleep(void)
{
	char path[64], line[512], *end;
	FILE *f;

	while (!waiter)
		;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", waiter);
	do {
		f = fopen(path, "r");
		line[0] = '\0';
		CHECK(f && fgets(line, sizeof(line), f));
		fclose(f);
		end = strrchr(line, ')');
	} while (!end || end[2] != 'S');
}

/* A thread that runs what, which waits for what give() gives. */
static void wait_for(void *(*what)(void *), void (*give)(void), int sleeps)
{
	pthread_t thread;

	waiter = 0;
	CHECK(!pthread_create(&thread, NULL, what, NULL));
	if (sleeps)
		see_asleep();
	give();
	pthread_join(thread, NULL);
}

static void *take_plain(void *unused)
{
	struct timespec late;

	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 1000;
	waiter = gettid();
	switch (turn++ % 3) {
	case 0:
		CHECK(!pthread_mutex_lock(&plain_lock));
		break;
	case 1:
		CHECK(!pthread_mutex_timedlock(&plain_lock, &late));
		break;
	default:
		CHECK(!pthread_mutex_clocklock(&plain_lock, CLOCK_REALTIME, &late));
	}
	CHECK(!pthread_mutex_unlock(&plain_lock));
	return unused;
}

static void give_plain(void)
{
	CHECK(!pthread_mutex_unlock(&plain_lock));
}

static void *take_c11(void *unused)
{
	waiter = gettid();
	CHECK(mtx_lock(&c11_lock) == thrd_success);
	CHECK(mtx_unlock(&c11_lock) == thrd_success);
	return unused;
}

static void give_c11(void)
{
	CHECK(mtx_unlock(&c11_lock) == thrd_success);
}

static void *take_rw(void *unused)
{
	waiter = gettid();
	CHECK(!(turn++ % 2 ? pthread_rwlock_wrlock(&rw_lock) : pthread_rwlock_rdlock(&rw_lock)));
	CHECK(!pthread_rwlock_unlock(&rw_lock));
	return unused;
}

static void give_rw(void)
{
	CHECK(!pthread_rwlock_unlock(&rw_lock));
}

static void *take_sem(void *unused)
{
	waiter = gettid();
	CHECK(!sem_wait(&semaphore));
	return unused;
}

static void give_sem(void)
{
	CHECK(!sem_post(&semaphore));
}

static void *take_cond(void *unused)
{
	CHECK(!pthread_mutex_lock(&plain_lock));
	turn = 0;
	waiter = gettid();
	while (!turn)
		CHECK(!pthread_cond_wait(&condition, &plain_lock));
	CHECK(!pthread_mutex_unlock(&plain_lock));
	return unused;
}

static void give_cond(void)
{
	CHECK(!pthread_mutex_lock(&plain_lock));
	turn = 1;
	CHECK(!pthread_cond_signal(&condition));
	CHECK(!pthread_mutex_unlock(&plain_lock));
}

static void *take_barrier(void *unused)
{
	waiter = gettid();
	pthread_barrier_wait(&barrier);
	return unused;
}

static void give_barrier(void)
{
	pthread_barrier_wait(&barrier);
}

static void after_cancel(void *unused)
{
	(void)unused;
	CHECK(!pthread_mutex_unlock(&plain_lock)); /* it has it again */
}

static void *cancel_cond(void *unused)
{
	CHECK(!pthread_mutex_lock(&plain_lock));
	waiter = gettid();
	pthread_cleanup_push(after_cancel, NULL);
	for (;;)
		pthread_cond_wait(&condition, &plain_lock);
	pthread_cleanup_pop(0);
	return unused;
}

static void *cancel_sem(void *unused)
{
	waiter = gettid();
	sem_wait(&semaphore);
	return unused;
}

static void cancel(void *(*what)(void *))
{
	pthread_t thread;
	void *result;

	waiter = 0;
	CHECK(!pthread_create(&thread, NULL, what, NULL));
	see_asleep();
	pthread_cancel(thread);
	pthread_join(thread, &result);
	CHECK(result == PTHREAD_CANCELED);
}

/* What locks answer, and what becomes of errno. */
static void codes(void)
{
	const struct timespec past = { 0, 0 };
	int status;

	errno = 42;
	CHECK(!pthread_mutex_lock(&checking_lock));
	CHECK(pthread_mutex_lock(&checking_lock) == EDEADLK);
	CHECK(pthread_mutex_trylock(&checking_lock) == EBUSY);
	CHECK(pthread_mutex_timedlock(&checking_lock, &past) == EDEADLK);
	CHECK(!pthread_mutex_unlock(&checking_lock));
	CHECK(pthread_mutex_unlock(&checking_lock) == EPERM);
	CHECK(!pthread_mutex_lock(&recursive_lock));
	CHECK(!pthread_mutex_lock(&recursive_lock));
	CHECK(!pthread_mutex_unlock(&recursive_lock));
	CHECK(!pthread_mutex_unlock(&recursive_lock));
	CHECK(!pthread_mutex_lock(&plain_lock));
	CHECK(pthread_mutex_timedlock(&plain_lock, &past) == ETIMEDOUT);
	CHECK(!pthread_mutex_unlock(&plain_lock));
	CHECK(mtx_lock(&c11_lock) == thrd_success);
	CHECK(mtx_trylock(&c11_lock) == thrd_busy);
	CHECK(mtx_unlock(&c11_lock) == thrd_success);
	CHECK(!sem_post(&semaphore));
	CHECK(!sem_wait(&semaphore));
	CHECK(errno == 42);
	CHECK(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
	CHECK(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
	CHECK(!pthread_rwlock_wrlock(&rw_lock));
	CHECK(pthread_rwlock_wrlock(&rw_lock) == EDEADLK);
	CHECK(pthread_rwlock_tryrdlock(&rw_lock) == EBUSY);
	CHECK(!pthread_rwlock_unlock(&rw_lock));
	CHECK(!pthread_mutex_lock(&plain_lock));
	if (fork() == 0) {
		CHECK(!pthread_mutex_unlock(&plain_lock));
		CHECK(!pthread_mutex_lock(&plain_lock));
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	CHECK(!pthread_mutex_unlock(&plain_lock));
}

/* Whose it is not cannot give it back, nor wait with it. */
static void *not_its(void *unused)
{
	CHECK(pthread_mutex_unlock(&checking_lock) == EPERM);
	CHECK(pthread_cond_wait(&condition, &checking_lock) == EPERM);
	CHECK(pthread_mutex_unlock(&recursive_lock) == EPERM);
	return unused;
}

/* What is refused whether or not there is something to be had. */
static void refused(void)
{
	const struct timespec bad = { 0, 1000000000 }, late = { INT_MAX, 0 };
	pthread_t thread;

	CHECK(!sem_post(&semaphore));
	CHECK(sem_timedwait(&semaphore, &bad) == -1 && errno == EINVAL);
	CHECK(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &late) == -1 && errno == EINVAL);
	CHECK(!sem_trywait(&semaphore));
	CHECK(pthread_mutex_clocklock(&plain_lock, CLOCK_PROCESS_CPUTIME_ID, &late) == EINVAL);
	CHECK(!pthread_mutex_timedlock(&plain_lock, &bad));
	CHECK(pthread_mutex_timedlock(&plain_lock, &bad) == EINVAL);
	CHECK(!pthread_mutex_unlock(&plain_lock));
	CHECK(pthread_rwlock_timedrdlock(&rw_lock, &bad) == EINVAL);
	CHECK(pthread_rwlock_clockwrlock(&rw_lock, CLOCK_PROCESS_CPUTIME_ID, &late) == EINVAL);
	CHECK(!pthread_mutex_lock(&checking_lock) && !pthread_mutex_lock(&recursive_lock));
	CHECK(!pthread_create(&thread, NULL, not_its, NULL));
	pthread_join(thread, NULL);
	CHECK(!pthread_mutex_unlock(&checking_lock) && !pthread_mutex_unlock(&recursive_lock));
}

static void *robust_owner(void *lock)
{
	CHECK(!pthread_mutex_lock(lock));
	return NULL;
}

static void robust(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t lock;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	CHECK(!pthread_mutex_init(&lock, &attr));
	CHECK(!pthread_create(&thread, NULL, robust_owner, &lock));
	pthread_join(thread, NULL);
	CHECK(pthread_mutex_lock(&lock) == EOWNERDEAD);
	CHECK(!pthread_mutex_consistent(&lock));
	CHECK(!pthread_mutex_unlock(&lock));
	CHECK(!pthread_mutex_destroy(&lock));
}

static void *deadlock(void *unused)
{
	CHECK(!pthread_mutex_lock(&second_lock));
	waiter = gettid();
	pthread_mutex_lock(&first_lock);
	return unused;
}

static void hang(void)
{
	pthread_t thread;

	CHECK(!pthread_mutex_lock(&first_lock));
	CHECK(!pthread_create(&thread, NULL, deadlock, NULL));
	see_asleep();
	printf("%d %d\n", gettid(), waiter);
	fflush(stdout);
	pthread_mutex_lock(&second_lock);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	CHECK(!pthread_spin_init(&spinning_lock, 0) && !pthread_barrier_init(&barrier, NULL, 2) &&
	      !sem_init(&semaphore, 0, 0) && mtx_init(&c11_lock, mtx_plain) == thrd_success);
	if (strcmp(what, "hang") == 0)
		hang();
	if (strcmp(what, "codes") == 0) {
		codes();
		refused();
		robust();
		cancel(cancel_cond);
		cancel(cancel_sem);
		puts("as they should be");
	}
	for (int i = 0; i < ROUNDS && strcmp(what, "wait") == 0; i++) {
		CHECK(!pthread_mutex_lock(&plain_lock));
		wait_for(take_plain, give_plain, 1);
		CHECK(mtx_lock(&c11_lock) == thrd_success);
		wait_for(take_c11, give_c11, 1);
		turn = i;
		CHECK(!pthread_rwlock_wrlock(&rw_lock));
		wait_for(take_rw, give_rw, 1);
		wait_for(take_sem, give_sem, 1);
		wait_for(take_cond, give_cond, 1);
		wait_for(take_barrier, give_barrier, 1);
		turn = i;
		CHECK(!pthread_spin_lock(&spinning_lock));
		CHECK(!pthread_spin_unlock(&spinning_lock));
	}
	return 0;
}
