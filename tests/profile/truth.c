/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are busy for known shares of their time, in two places, in bursts of random lengths: truth SEED MS
 * [wait [masked]]. Each says "THREAD NS-OF-CPU-TIME NS-IN-PLACE-A NS-IN-PLACE-B NS-IN-A-AT-FIRST" of itself, but for
 * the main one, which says "THREAD". MS: of the busiest's CPU time.
 * Then 200 threads that live for 20 ms of it at most; where it waits for a line of input, of 60 to 80 ms. masked:
 * all of them have all signals blocked.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SHORT 200

static uint64_t seed, whole_ns, short_ns;
static volatile uint64_t sink;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline __attribute__((always_inline)) uint64_t work(uint64_t ns)
{
	uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID), to = from;

	while (to - from < ns) {
		for (unsigned i = 0; i < 2000; i++)
			sink += i * i;
		to = now_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	return to - from;
}

__attribute__((noinline)) uint64_t place_a(uint64_t ns)
{
	return work(ns) + 0 * sink;
}

__attribute__((noinline)) uint64_t place_b(uint64_t ns)
{
	return work(ns) + 0 * sink;
}

/* Of bursts the first three quarters are in a. */
static void *lives(uint64_t share, uint64_t all_ns, uint64_t state)
{
	uint64_t a = 0, b = 0, first = 0;

	while (a + b < all_ns) {
		uint64_t ns = 200000 + random_of(&state) % 8000000, used;

		used = place_a(ns * 3 / 4);
		a += used;
		first = first ? first : used;
		ns = place_b(ns / 4);
		b += ns;
		used += ns;
		if (share < 100) {
			uint64_t rest = used * (100 - share) / share;
			struct timespec nap = { (time_t)(rest / 1000000000u), (long)(rest % 1000000000u) };

			nanosleep(&nap, NULL);
		}
	}
	printf("%d %llu %llu %llu %llu\n", gettid(), (unsigned long long)now_ns(CLOCK_THREAD_CPUTIME_ID),
	       (unsigned long long)a, (unsigned long long)b, (unsigned long long)first);
	return NULL;
}

static void *lives_long(void *share)
{
	uint64_t percent = (uintptr_t)share;

	return lives(percent, whole_ns * percent / 100, seed * 1000003 + percent);
}

static void *lives_short(void *number)
{
	uint64_t state = seed * 7919 + (uintptr_t)number + 1;

	return lives(100, short_ns + random_of(&state) % 20000000, state);
}

int main(int argc, char **argv)
{
	static const uintptr_t shares[] = { 100, 33, 10, 1 };
	pthread_t thread[4], one;
	sigset_t all;

	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	whole_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 2000) * 1000000;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%d\n", getpid());
	if (argc > 3) {
		short_ns = 60000000;
		if (read(0, *argv, 1) < 0)
			return 1;
	}
	sigfillset(&all);
	if (argc > 4)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, lives_long, (void *)shares[i]);
	for (uintptr_t i = 0; i < SHORT; i++) {
		pthread_create(&one, NULL, lives_short, (void *)i);
		pthread_join(one, NULL);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
