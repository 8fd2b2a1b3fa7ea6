/* SPDX-License-Identifier: BSD-2-Clause */
/* N requests of each of two threads, every eighth of which waits for a lock: seven events, or ten. */
#include <ktr.h>

#include <pthread.h>
#include <stdlib.h>

static int n_requests;

static void *work(void *arg)
{
	const char *me = arg;

	for (int i = 0; i < n_requests; i++) {
		KTR_START1(KTR_NET, "request", me, i, "n:%d", i);
		KTR_STATE0(KTR_SCHED, "worker", me, "parsing");
		CTR2(KTR_VFS, "read %d of %s", i, me);
		if (i % 8 == 0) {
			KTR_START0(KTR_LOCK, "lock wait", me, i % 16);
			CTR1(KTR_GEN, "waits %d", i);
			KTR_STOP0(KTR_LOCK, "lock wait", me, i % 16);
		}
		KTR_STATE0(KTR_SCHED, "worker", me, "idle");
		KTR_STOP0(KTR_NET, "request", me, i);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static char name[2][8] = { "first", "second" };
	pthread_t thread[2];

	n_requests = argc > 1 ? atoi(argv[1]) : 1000;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, name[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
