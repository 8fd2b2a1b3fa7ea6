/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests/cli/control/live.sh: eight threads that record without end, until standard input is closed; or, with
 * a number, that many events of a busy class and among them a thousand of a rare one.
 */
#include <ktr.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N_THREADS 8
#define N_RARE	  1000

KTR_CLASS_DEFINE(rx, "packets received");

static int done;

static void *work(void *context)
{
	int me = (int)(intptr_t)context;

	for (int i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++) {
		CTR2(KTR_CLASS(rx), "thread %d does %d", me, i);
		usleep(500); /* so that eight threads leave something to others, and rings do not wrap */
	}
	return NULL;
}

static void rare(long n)
{
	for (long i = 0, next = 0; i < n; i++) {
		if (i == next) {
			CTR1(KTR_INIT, "rare %ld", i);
			next += n / N_RARE;
		}
		CTR1(KTR_GEN, "busy %ld", i);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread[N_THREADS];
	char byte;

	if (argc > 1) {
		rare(atol(argv[1]));
		return 0;
	}
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i))
			return 1;
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
