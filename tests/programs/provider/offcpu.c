/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are off the CPU, each in a way of its own, in a function of that name. Each says "TID KIND OFF-
 * NS": what passed on the clock around its waits, less its CPU time meanwhile; of who waits for a CPU what the
 * kernel counted, to its end; "TID wall NS", from its first line to its end, and "TID made NS", from before it
 * was made; and "TID cpu NS". A kind that the machine does not allow says nothing.
 * offcpu late: it waits for a line of input before it begins.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 120000000 /* long beside what a busy machine does to a wake-up, which is in both readings */
#define N_NAPS 4
#define NOINLINE __attribute__((noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem, begun;
static int pipe_fd[2], faults = -1;
static char *page;
static volatile uint64_t sink;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) void busy(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (unsigned i = 0; i < 2000; i++)
			sink += i;
}

static inline __attribute__((always_inline)) void nap(void)
{
	struct timespec time = { 0, NAP_NS };

	nanosleep(&time, NULL);
}

static void rests(void)
{
	struct timespec time = { 0, 2000000 };

	nanosleep(&time, NULL);
}

/* How long the calling thread has waited for a CPU, as the kernel counts it; 0: it does not. */
static uint64_t queued_ns(void)
{
	unsigned long long on = 0, queued = 0;
	FILE *stat = fopen("/proc/thread-self/schedstat", "r");

	if (stat && fscanf(stat, "%llu %llu", &on, &queued) != 2)
		queued = 0;
	if (stat)
		fclose(stat);
	return queued;
}

/* ---- waits; each call is followed by something, so that it leaves a frame ---- */

static NOINLINE void naps(void)
{
	for (int i = 0; i < N_NAPS; i++) {
		nap();
		sink++;
	}
}

static NOINLINE void polls(void)
{
	for (int i = 0; i < N_NAPS; i++) {
		poll(NULL, 0, NAP_NS / 1000000);
		sink++;
	}
}

static NOINLINE void reads(void)
{
	char c;

	for (int i = 0; i < N_NAPS; i++)
		sink += (uint64_t)read(pipe_fd[0], &c, 1);
}

static NOINLINE void locks(void)
{
	pthread_mutex_lock(&mutex);
	sink++;
	pthread_mutex_unlock(&mutex);
	sink++;
}

static NOINLINE void rwlocks(void)
{
	pthread_rwlock_rdlock(&rwlock);
	sink++;
	pthread_rwlock_unlock(&rwlock);
	sink++;
}

static NOINLINE void conds(void)
{
	struct timespec until;

	pthread_mutex_lock(&guard);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 4 * (long)NAP_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (pthread_cond_timedwait(&cond, &guard, &until) == 0)
		sink++;
	pthread_mutex_unlock(&guard);
	sink++;
}

static NOINLINE void sems(void)
{
	for (int i = 0; i < N_NAPS; i++) {
		sem_wait(&sem);
		sink++;
	}
}

/* Until the other thread gives the page. */
static NOINLINE void pages(void)
{
	if (faults >= 0)
		sink += (uint64_t)*(volatile char *)page;
}

/* Others want the same CPU. */
static NOINLINE void queues(void)
{
	busy(400000000);
	sink++;
}

/* ---- threads ---- */

static const struct kind {
	const char *name;
	void (*waits)(void);
} kinds[] = { { "naps", naps },   { "polls", polls }, { "reads", reads }, { "locks", locks },
	      { "rwlocks", rwlocks }, { "conds", conds }, { "sems", sems },   { "pages", pages },
	      { "queues", queues } };

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t made_ns[N_KINDS];

static void pin(void)
{
	cpu_set_t set, one;

	sched_getaffinity(0, sizeof(set), &set);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set)) {
			CPU_SET(cpu, &one);
			break;
		}
	sched_setaffinity(0, sizeof(one), &one);
}

static void *lives(void *context)
{
	const struct kind *kind = context;
	uint64_t began = now_ns(CLOCK_MONOTONIC), began_cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), from, cpu, off;
	uint64_t queued, end;
	char said[256];
	int n = 0;

	pthread_setname_np(pthread_self(), kind->name);
	if (kind->waits == queues)
		pin();
	queued = queued_ns();
	sem_post(&begun);
	from = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	kind->waits();
	off = now_ns(CLOCK_MONOTONIC) - from - (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	busy(100000000);
	if (kind->waits == queues)
		off = queued_ns() - queued;
	/* What comes after the last reading is in the trace alone: who has just slept keeps its CPU so long. */
	rests();
	end = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - began_cpu;
	if (kind->waits != pages || faults >= 0)
		n = snprintf(said, sizeof(said), "%d %s %llu\n", gettid(), kind->name, (unsigned long long)off);
	n += snprintf(said + n, sizeof(said) - (size_t)n, "%d wall %llu\n%d made %llu\n%d cpu %llu\n", gettid(),
		      (unsigned long long)(end - began), gettid(),
		      (unsigned long long)(end - made_ns[kind - kinds]), gettid(), (unsigned long long)cpu);
	return write(1, said, (size_t)n) == n ? NULL : context;
}

static void *competes(void *unused)
{
	pin();
	busy(400000000);
	return unused;
}

/* A page that does not come before somebody gives it. */
static void faults_begin(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)page;
	range.range.len = 4096;
	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0)
		faults = fd;
}

static void faults_end(void)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)page, 4096 } };

	if (faults >= 0)
		ioctl(faults, UFFDIO_ZEROPAGE, &zero);
}

int main(int argc, char **argv)
{
	pthread_t thread[N_KINDS], other;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && read(0, *argv, 1) != 1)
		return 1;
	faults_begin();
	if (pipe(pipe_fd) || sem_init(&sem, 0, 0) || sem_init(&begun, 0, 0))
		return 1;
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	pthread_create(&other, NULL, competes, NULL);
	for (unsigned i = 0; i < N_KINDS; i++) {
		made_ns[i] = now_ns(CLOCK_MONOTONIC);
		pthread_create(&thread[i], NULL, lives, (void *)(uintptr_t)&kinds[i]);
	}
	for (unsigned i = 0; i < N_KINDS; i++)
		sem_wait(&begun);
	for (int i = 0; i < N_NAPS; i++) {
		nap();
		sem_post(&sem);
		if (write(pipe_fd[1], "x", 1) != 1)
			return 1;
	}
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_unlock(&rwlock);
	faults_end();
	for (unsigned i = 0; i < N_KINDS; i++)
		pthread_join(thread[i], NULL);
	pthread_join(other, NULL);
	return 0;
}
