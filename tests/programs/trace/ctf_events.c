/* SPDX-License-Identifier: BSD-2-Clause */
/* Every type of argument once, then N rounds of plain events on four threads (ctf.sh). `N slow`: with pauses. */
#include <ktr.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

KTR_CLASS_DEFINE(rx, "packets received");

static long rounds;
static int slow;

/* A frame of its own under the stack. */
static __attribute__((noinline)) void every_type(void)
{
	char longer[700];
	const char *none = NULL, *nowhere = (const char *)16;
	const unsigned char bytes[] = "bytes";

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CTR6(KTR_GEN, "%hhd %hhu %hd %hu %d %u", (signed char)-1, (unsigned char)200, (short)-2,
	     (unsigned short)60000, -3, 4000000000u);
	CTR4(KTR_GEN, "%ld %lu %f %p", -4L, 1ul << 63, 0.25, (void *)0x10);
	CTR3(KTR_CLASS(rx), "%s %s %d", "w\303\266rk \"quoted\"", none, 7);
	CTR1(KTR_NET, "%s", longer);
	CTRSTACK(KTR_GEN, NULL, 3);
	KTR_STATE1(KTR_SCHED, "worker", "w1", "waiting", "shard:%d", 5);
	CTR2(KTR_GEN, "%d %d", (int)(rounds > 0), (int)strlen("a,b"));
	CTR3(KTR_GEN, "%p %s %d", nowhere, bytes, 9); /* what is copied is up to the format */
}

static void *work(void *context)
{
	long me = (long)context;

	for (long i = 0; i < rounds; i++) {
		CTR0(KTR_GEN, "nothing");
		CTR2(KTR_GEN, "%ld of %ld", i, me);
		CTR1(KTR_CLASS(rx), "%s", i % 2 ? "odd" : "even, which is longer than odd");
		if (slow && i % 10 == 0)
			usleep(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	rounds = argc > 1 ? atol(argv[1]) : 1;
	slow = argc > 2;
	every_type();
	for (long i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
