/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows nothing of ktr, and takes the time itself of what it has and waits for:
 *
 *	lock_times ROUNDS
 *
 * Prints a line for each round: "hold D NS": it has had hold_lock[D] so long; "wait D NS": it has waited so long
 * for wait_lock[D], which another thread has had for about 20 us to 5 ms. D 0 of hold is a lock that is given back
 * at once: what it takes more by the events' clock than by this one is what being told of costs.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define KINDS 8

static const uint64_t hold_ns[KINDS] = { 0, 100, 300, 1000, 3000, 20000, 200000, 2000000 };
static const uint64_t wait_ns[KINDS] = { 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000 };
pthread_mutex_t hold_lock[KINDS], wait_lock[KINDS];
static uint64_t *own[2][KINDS];
static pthread_barrier_t barrier;
static unsigned n_rounds;

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static uint64_t spin(uint64_t ns)
{
	uint64_t begin = now(), end = begin;

	while (end - begin < ns)
		end = now();
	return end - begin;
}

static void hold(unsigned kind)
{
	for (unsigned i = 0; i < n_rounds; i++) {
		pthread_mutex_lock(&hold_lock[kind]);
		own[0][kind][i] = spin(hold_ns[kind]);
		pthread_mutex_unlock(&hold_lock[kind]);
	}
}

static void *holder(void *unused)
{
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned i = 0; i < n_rounds; i++) {
			pthread_mutex_lock(&wait_lock[kind]);
			pthread_barrier_wait(&barrier);
			spin(wait_ns[kind]);
			pthread_mutex_unlock(&wait_lock[kind]);
			pthread_barrier_wait(&barrier);
		}
	return unused;
}

static void wait_for(unsigned kind)
{
	for (unsigned i = 0; i < n_rounds; i++) {
		uint64_t begin;

		pthread_barrier_wait(&barrier);
		begin = now();
		pthread_mutex_lock(&wait_lock[kind]);
		own[1][kind][i] = now() - begin;
		pthread_mutex_unlock(&wait_lock[kind]);
		pthread_barrier_wait(&barrier);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;

	n_rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		pthread_mutex_init(&hold_lock[kind], NULL);
		pthread_mutex_init(&wait_lock[kind], NULL);
		for (unsigned what = 0; what < 2; what++)
			if (!(own[what][kind] = calloc(n_rounds, sizeof(uint64_t))))
				return 1;
	}
	pthread_barrier_init(&barrier, NULL, 2);
	for (unsigned kind = 0; kind < KINDS; kind++)
		hold(kind);
	if (pthread_create(&thread, NULL, holder, NULL))
		return 1;
	for (unsigned kind = 0; kind < KINDS; kind++)
		wait_for(kind);
	pthread_join(thread, NULL);
	for (unsigned what = 0; what < 2; what++)
		for (unsigned kind = 0; kind < KINDS; kind++)
			for (unsigned i = 0; i < n_rounds; i++)
				printf("%s %u %ju\n", what ? "wait" : "hold", kind, (uintmax_t)own[what][kind][i]);
	return 0;
}
