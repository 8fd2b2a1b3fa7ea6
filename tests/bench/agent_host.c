/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows nothing of ktr, and how long what the agent stands before takes in it: prints for each row
 * the least of its rounds, ns.
 *
 *	peer	an event of three words (peer.h)
 *	lock	pthread_mutex_lock(3) and pthread_mutex_unlock(3), of a mutex that nobody else has
 *	heap	malloc(3) and free(3) as an interpreter has them: of 256 blocks in use one is given back, and one
 *		of 16 to 512 bytes is got
 *	built	a function that was compiled to be probed
 *	long	one that was not, and begins with an instruction that has room for a jump
 *	short	with one that has room for a short jump alone, to another one between functions
 */
#include "peer.h"

#include <ktr/fbt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HOST_ROUNDS 60
#define HOST_CALLS  20000
#define HOST_BLOCKS 256

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static void *host_block[HOST_BLOCKS];

static double host_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void host_peer(void)
{
	for (uint64_t i = 0; i < HOST_CALLS; i++)
		peer_3(1, i, i, i);
}

static void host_locks(void)
{
	for (int i = 0; i < HOST_CALLS; i++) {
		pthread_mutex_lock(&host_lock);
		pthread_mutex_unlock(&host_lock);
	}
}

static void host_heap(void)
{
	uint64_t random = 88172645463325252ull;

	for (int i = 0; i < HOST_CALLS; i++) {
		void **at = &host_block[random >> 8 & (HOST_BLOCKS - 1)];

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		free(*at);
		*at = malloc(16 + (random >> 32 & 31) * 16);
		if (!*at)
			abort();
		*(char *)*at = 1; /* whoever gets one writes to it */
	}
}

#define HOST_CALLED(name, attribute, first)                                                      \
	__attribute__((noinline, aligned(64))) attribute long called_##name(long i);             \
	__attribute__((noinline, aligned(64))) attribute long called_##name(long i)              \
	{                                                                                        \
		__asm__ volatile(first : : : "eax");                                             \
		return i;                                                                        \
	}                                                                                        \
	static void host_##name(void)                                                            \
	{                                                                                        \
		for (long i = 0; i < HOST_CALLS; i++)                                            \
			called_##name(i);                                                        \
	}
HOST_CALLED(built, __attribute__((patchable_function_entry(16, 14))), "movl $0, %%eax")
HOST_CALLED(long, , "movl $0, %%eax")
HOST_CALLED(short, , "xorl %%eax, %%eax")

static void *host_sleeps(void *unused)
{
	pause();
	return unused;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*loop)(void);
	} rows[] = { { "peer", host_peer },   { "lock", host_locks }, { "heap", host_heap },
		     { "built", host_built }, { "long", host_long },  { "short", host_short } };
	enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };
	pthread_t thread;
	double least[N_ROWS] = { 0 }, began, ns;

	/* Of programs that have one thread alone the C library takes locks without their price. */
	if (peer_open(4096) || pthread_create(&thread, NULL, host_sleeps, NULL))
		return 1;
	for (int round = 0; round < HOST_ROUNDS; round++)
		for (int i = 0; i < N_ROWS; i++) {
			began = host_now();
			rows[i].loop();
			ns = (host_now() - began) / HOST_CALLS;
			least[i] = !round || ns < least[i] ? ns : least[i];
		}
	for (int i = 0; i < N_ROWS; i++)
		printf("%s %.3f\n", rows[i].name, least[i]);
	return 0;
}
