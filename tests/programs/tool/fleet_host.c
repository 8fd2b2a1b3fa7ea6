/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host of a fleet: N requests of each of two threads, with a query inside, 7 events a request and a counter every
 * eighth; SLOW times the query is done. Every 250th is reported with status 500.
 */
#include <ktr.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int n_requests, slow;
static volatile unsigned sum;

static void query(int i)
{
	KTR_SCOPE(KTR_VFS, "query");
	CTR2(KTR_VFS, "select %d of %s", i % 1000, i % 3 ? "users" : "orders");
	for (int k = 0; k < slow * (20 + i % 50); k++)
		sum += (unsigned)k;
}

static void *work(void *me)
{
	for (int i = 0; i < n_requests; i++) {
		KTR_SCOPE(KTR_NET, "request");
		CTR3(KTR_NET, "user %d took %f at %s", i % 97, i * 0.5, (const char *)me);
		query(i);
		CTR2(KTR_GEN, "status %d of %d", i % 250 ? 200 : 500, i);
		if (i % 8 == 0)
			KTR_COUNTER0(KTR_GEN, "queue", "length", i % 100);
		if (i % 256 == 0)
			usleep(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static char name[2][8] = { "first", "second" };
	pthread_t thread[2];

	n_requests = argc > 1 ? atoi(argv[1]) : 1000;
	slow = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, name[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
