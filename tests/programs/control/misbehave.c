/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Misbehaves once in a million iterations: threads count steps as fast as they can, and in the first one
 * the millionth goes wrong. It goes on for as long again, and the others as long as it does.
 *
 *	misbehave [THREADS [ITERATIONS]]
 */
#include <ktr.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static long iterations = 1000000;
static int done;

static void *work(void *argument)
{
	int worker = (int)(intptr_t)argument;

	for (long i = 0; worker ? !__atomic_load_n(&done, __ATOMIC_RELAXED) : i < 2 * iterations; i++) {
		int fault = worker == 0 && i == iterations;

		CTR3(KTR_NET, "worker %d, step %ld, fault %d", worker, i, fault);
	}
	if (!worker)
		__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t thread[64];

	if (argc > 2)
		iterations = atol(argv[2]);
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
