/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks of which not all is told, or whose place another one takes: the argument says which. What rows and tables
 * may say of them is in tests/cli/show/lock_known.sh. With -DNAMED linked with libktr, for names.
 */
#ifdef NAMED
#include <ktr.h>
#endif

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #what), exit(1)))

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER, noise_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t map_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;

static void nap(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static struct timespec in(long ms)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += (time.tv_nsec + ms * 1000000) / 1000000000;
	time.tv_nsec = (time.tv_nsec + ms * 1000000) % 1000000000;
	return time;
}

static pthread_t begin(void *(*function)(void *))
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, function, NULL));
	return thread;
}

static void noise(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&noise_lock);
		pthread_mutex_unlock(&noise_lock);
	}
}

/* So long, at a rate that costs more than a budget of a percent allows. */
static void noise_for(long ms)
{
	for (long i = 0; i < ms; i++) {
		noise(1000);
		nap(1);
	}
}

/* ---- a release that is lost, in a burst of others ---- */

static void lost(long n)
{
	pthread_mutex_lock(&table_lock);
	nap(500); /* who writes the trace has seen it */
	noise(n);
	pthread_mutex_unlock(&table_lock);
	noise(n);
	nap(100);
	noise(1);
	nap(100);
}

/* ---- one lock, and when it is told to, another ---- */

static volatile sig_atomic_t turned;

static void turn(int number)
{
	(void)number;
	turned = 1;
}

static void turns(void)
{
	signal(SIGUSR1, turn);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("table_lock %d\n", getpid());
	for (int told = 0;; nap(1)) {
		pthread_mutex_t *lock = turned ? &own_lock : &table_lock;

		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
		if (turned && !told)
			told = puts("own_lock") > 0;
	}
}

/* ---- an owner that is gone ---- */

static void *leaves(void *context)
{
	pthread_setname_np(pthread_self(), "leaver");
	pthread_mutex_lock(&table_lock);
	return context;
}

static void *waits(void *context)
{
	struct timespec time = in(200);

	pthread_setname_np(pthread_self(), "waiter");
	CHECK(pthread_mutex_timedlock(&table_lock, &time) == ETIMEDOUT);
	return context;
}

static void gone(void)
{
	pthread_join(begin(leaves), NULL);
	nap(50);
	pthread_join(begin(waits), NULL);
}

/* ---- one after the other in one place ---- */

#ifdef NAMED
static pthread_mutex_t *placed;

static void *holds_placed(void *context)
{
	pthread_setname_np(pthread_self(), "owner");
	pthread_mutex_lock(placed);
	pthread_barrier_wait(&both);
	nap(60);
	pthread_mutex_unlock(placed);
	return context;
}

static void *waits_placed(void *context)
{
	pthread_setname_np(pthread_self(), "waiter");
	pthread_barrier_wait(&both);
	pthread_mutex_lock(placed);
	pthread_mutex_unlock(placed);
	return context;
}

static void place(const char *name)
{
	pthread_t threads[2];

	pthread_mutex_init(placed, NULL);
	KTR_LOCK_NAME(placed, name);
	threads[0] = begin(holds_placed);
	threads[1] = begin(waits_placed);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	pthread_mutex_destroy(placed);
}

/* One that has its name before anybody asks for locks. */
static void named(void)
{
	placed = malloc(sizeof(*placed));
	pthread_mutex_init(placed, NULL);
	KTR_LOCK_NAME(placed, "early name");
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("named");
	for (;; nap(1)) {
		pthread_mutex_lock(placed);
		pthread_mutex_unlock(placed);
	}
}

static void again(void)
{
	ktr_start();
	placed = malloc(sizeof(*placed));
	place("first");
	place("second");
	free(placed);
}
#endif

/* ---- readers, of which only waiting is told ---- */

static void *reads(void *context)
{
	pthread_setname_np(pthread_self(), "reader");
	pthread_rwlock_rdlock(&map_lock);
	nap(100);
	pthread_rwlock_unlock(&map_lock);
	return context;
}

static void *writes(void *context)
{
	pthread_setname_np(pthread_self(), "writer");
	nap(50);
	pthread_rwlock_wrlock(&map_lock);
	pthread_rwlock_unlock(&map_lock);
	return context;
}

static void read_on(void)
{
	pthread_t threads[2];

	pthread_rwlock_wrlock(&map_lock);
	threads[0] = begin(reads);
	threads[1] = begin(writes);
	nap(100);
	pthread_rwlock_unlock(&map_lock);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

/* ---- of two processes ---- */

static void shared(void)
{
	struct {
		pthread_mutex_t lock;
		int taken;
	} *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	int status;
	pid_t child;

	CHECK(map != MAP_FAILED);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	CHECK(!pthread_mutex_init(&map->lock, &attr));
	pthread_mutex_lock(&map->lock);
	child = fork();
	CHECK(child >= 0);
	for (int i = 0; i < 20; i++) {
		if (child) {
			nap(5);
			map->taken++;
			pthread_mutex_unlock(&map->lock);
			nap(5);
			pthread_mutex_lock(&map->lock);
		} else {
			pthread_mutex_lock(&map->lock);
			map->taken++;
			pthread_mutex_unlock(&map->lock);
			nap(6);
		}
	}
	if (!child)
		exit(0);
	pthread_mutex_unlock(&map->lock);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	printf("%d %d %p\n", getpid(), child, (void *)&map->lock);
	CHECK(map->taken == 40);
}

/* ---- members ---- */

struct part {
	int n;
	union {
		struct {
			char pad[16];
			pthread_mutex_t lock;
		};
		char bytes[64];
	};
	pthread_rwlock_t rows[2];
};

static struct part parts[3][2];
static union {
	char bytes[64];
	struct {
		long n;
		pthread_mutex_t lock;
	} in;
} early;
static struct {
	pthread_mutex_t first;
	struct part inner;
} whole;

static void members(void)
{
	static pthread_mutex_t in_function[4];

	pthread_mutex_lock(&parts[2][1].lock);
	pthread_mutex_unlock(&parts[2][1].lock);
	pthread_rwlock_wrlock(&parts[0][1].rows[1]);
	pthread_rwlock_unlock(&parts[0][1].rows[1]);
	pthread_mutex_lock(&whole.first);
	pthread_mutex_unlock(&whole.first);
	pthread_mutex_lock(&whole.inner.lock);
	pthread_mutex_unlock(&whole.inner.lock);
	pthread_mutex_lock(&early.in.lock);
	pthread_mutex_unlock(&early.in.lock);
	pthread_mutex_lock(&in_function[3]);
	pthread_mutex_unlock(&in_function[3]);
}

/* ---- a lock of its own ---- */

static uint32_t word, other_word;

/* Says how often the kernel had it wait, and how often it refused. */
static void wait_futex(uint32_t value)
{
	static unsigned waited, refused;
	long code;

	if (value == UINT32_MAX) {
		printf("%u %u\n", waited, refused);
		return;
	}
	code = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
	if (code == 0 || errno == EINTR)
		waited++;
	else
		refused++;
}

static void *wakes(void *context)
{
	for (int i = 0; i < 20; i++) {
		nap(5);
		__atomic_store_n(&word, i + 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return context;
}

static void futexes(void)
{
	const struct timespec short_time = { 0, 1000000 };
	pthread_t thread;

	errno = 0;
	CHECK(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &short_time, NULL, 0) == -1 && errno == ETIMEDOUT);
	errno = 7;
	CHECK(syscall(SYS_gettid) == getpid() && errno == 7);
	CHECK(syscall(SYS_futex, NULL, 999, 0, NULL, NULL, 0) == -1 && errno == ENOSYS);
	/* Six arguments. */
	CHECK((void *)syscall(SYS_mmap, NULL, 4096L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L) != MAP_FAILED);
	thread = begin(wakes);
	for (uint32_t i = 0; i < 20; i++)
		while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == i)
			wait_futex(i);
	pthread_join(thread, NULL);
	wait_futex(UINT32_MAX);
	for (int i = 0; i < 5; i++) {
		CHECK(syscall(SYS_futex, &other_word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) == -1);
		CHECK(errno == EAGAIN);
	}
	for (int i = 0; i < 3; i++) {
		CHECK(syscall(SYS_futex, &other_word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 0) == -1);
		CHECK(errno == EINVAL);
	}
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	cpu_set_t set;

	CHECK(argc > 1);
	pthread_barrier_init(&both, NULL, 2);
	if (strcmp(what, "lost") == 0) {
		CPU_ZERO(&set);
		CPU_SET(sched_getcpu(), &set);
		sched_setaffinity(0, sizeof(set), &set);
		lost(200000);
	} else if (strcmp(what, "spent") == 0) {
		pthread_mutex_lock(&table_lock);
		noise_for(atol(argv[2]));
		pthread_mutex_unlock(&table_lock);
		pthread_mutex_lock(&own_lock);
		nap(200);
	} else if (strcmp(what, "turns") == 0) {
		turns();
	} else if (strcmp(what, "gone") == 0) {
		gone();
	} else if (strcmp(what, "read") == 0) {
		read_on();
	} else if (strcmp(what, "shared") == 0) {
		shared();
	} else if (strcmp(what, "members") == 0) {
		members();
	} else if (strcmp(what, "futex") == 0) {
		futexes();
#ifdef NAMED
	} else if (strcmp(what, "again") == 0) {
		again();
	} else if (strcmp(what, "named") == 0) {
		named();
#endif
	}
	return 0;
}
