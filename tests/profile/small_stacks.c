/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads with the smallest stacks that there are, of which each uses nearly all, busy and waiting; and calls by
 * the address of a function of the C library: small_stacks [late|takes|runs]. Says "THREAD ns" of each, then "saved
 * WHAT" for what a saved address did.
 * It is to be linked with -z now: the loader takes some 3 KiB of a stack to bind a call, more with wider registers.
 * late: it waits for a line of input before it begins, and for another one before it calls by the address.
 * takes: it takes signal 61 while they are there, and they go on until 60 is taken by another, and a while.
 * runs: they go on until there is a line of input, and a while.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define N 20
#define ROOM 3072 /* [bytes] that a thread leaves: what the calls here take, and little more */

#define BELOW 8192 /* [bytes] that are nobody's, of PAINT: who overruns a stack is found out */
#define PAINT 0x5a

static char *stacks[N];
static ssize_t (*volatile saved)(int, void *, size_t);
static int (*volatile saved_nap)(const struct timespec *, struct timespec *);
static volatile uint64_t sink;
static uint64_t used_ns[N];
static int tids[N];
static unsigned goes_on;	      /* atomic: threads do */
static unsigned n_rounds;	      /* atomic: of all of them */

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) void busy(void)
{
	struct timespec nap = { 0, 2000000 };

	for (int i = 0; i < 5 || __atomic_load_n(&goes_on, __ATOMIC_ACQUIRE); i++) {
		uint64_t end = cpu_ns() + 2000000;

		__atomic_fetch_add(&n_rounds, 1, __ATOMIC_RELAXED);

		while (cpu_ns() < end)
			for (unsigned k = 0; k < 2000; k++)
				sink += k;
		nanosleep(&nap, NULL);
	}
}

/* Goes down until there is little left. */
static __attribute__((noinline)) void sinks(const char *low)
{
	volatile char bytes[256];

	bytes[0] = 1;
	if ((uintptr_t)bytes - (uintptr_t)low > ROOM + sizeof(bytes))
		sinks(low);
	else
		busy();
	sink += (uint64_t)bytes[0];
}

static void *lives(void *number)
{
	uintptr_t i = (uintptr_t)number;

	sinks(stacks[i]);
	tids[i] = gettid();
	used_ns[i] = cpu_ns();
	return NULL;
}

/* They go on: until that has happened, and ten rounds of each. */
static void waits(const char *how, char *line)
{
	struct sigaction now = { .sa_handler = SIG_DFL };
	struct timespec nap = { 0, 5000000 };
	unsigned n;

	if (strcmp(how, "takes") == 0) {
		signal(61, SIG_IGN);
		while (sigaction(60, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			nanosleep(&nap, NULL);
	} else if (read(0, line, 1) != 1) {
		exit(4);
	}
	n = __atomic_load_n(&n_rounds, __ATOMIC_RELAXED);
	while (__atomic_load_n(&n_rounds, __ATOMIC_RELAXED) - n < 10 * N)
		nanosleep(&nap, NULL);
	__atomic_store_n(&goes_on, 0, __ATOMIC_RELEASE);
}

static void *saves(void *unused)
{
	saved = read;
	saved_nap = nanosleep;
	return unused;
}

/* [bytes] that a thread wrote below its stack. */
static long overrun(const char *stack)
{
	long n = BELOW;

	while (n && stack[-n] == PAINT)
		n--;
	return n;
}

int main(int argc, char **argv)
{
	size_t bytes = ((size_t)sysconf(_SC_THREAD_STACK_MIN) + 4095) & ~4095ul;
	struct timespec nap = { 0, 1000000 };
	pthread_t thread[N], one;
	pthread_attr_t attr;
	int pipe_fd[2];
	char c = 0;
	bool late = argc > 1 && strcmp(argv[1], "late") == 0;

	alarm(300);
	goes_on = argc > 1 && !late;
	if (late && read(0, *argv, 1) != 1)
		return 1;
	for (uintptr_t i = 0; i < N; i++) {
		pthread_attr_init(&attr);
		stacks[i] = aligned_alloc(4096, BELOW + bytes);
		if (!stacks[i])
			return 2;
		memset(stacks[i], PAINT, BELOW);
		stacks[i] += BELOW;
		if ( pthread_attr_setstack(&attr, stacks[i], bytes) ||
		    pthread_create(&thread[i], &attr, lives, (void *)i))
			return 2;
	}
	if (argc > 1 && !late)
		waits(argv[1], *argv);
	pthread_create(&one, NULL, saves, NULL);
	for (int i = 0; i < N; i++)
		pthread_join(thread[i], NULL);
	pthread_join(one, NULL);
	for (int i = 0; i < N; i++)
		if (overrun(stacks[i])) {
			fprintf(stderr, "a stack is overrun by %ld bytes\n", overrun(stacks[i]));
			return 5;
		}
	for (int i = 0; i < N; i++)
		printf("%d %llu\n", tids[i], (unsigned long long)used_ns[i]);
	fflush(stdout);
	if (late && read(0, *argv, 1) != 1)
		return 1;
	if (pipe(pipe_fd) || write(pipe_fd[1], "x", 1) != 1)
		return 3;
	errno = 33;
	printf("saved %s %d", saved(pipe_fd[0], &c, 1) == 1 && c == 'x' ? "reads" : "does not read", errno);
	close(pipe_fd[0]);
	printf(" %s", saved(pipe_fd[0], &c, 1) < 0 && errno == EBADF ? "fails" : "does not fail");
	printf(" %s\n", saved_nap(&nap, NULL) == 0 ? "sleeps" : "does not sleep");
	return 0;
}
