/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with points of its own around each of its system calls: own N. Each thread tells "before I", makes a
 * call whose second argument is I, and tells "after I".
 */
#include <ktr.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

KTR_CLASS_DEFINE(own, "around calls");

static int rounds;

static void *own_calls(void *argument)
{
	for (int i = 0; i < rounds; i++) {
		KTR_SCOPE(KTR_CLASS(own), "work", "i:%d", i);
		CTR1(KTR_CLASS(own), "before %d", i);
		syscall(SYS_fcntl, 1, 1, i);
		CTR1(KTR_CLASS(own), "after %d", i);
	}
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	rounds = argc > 1 ? atoi(argv[1]) : 10;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, own_calls, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
