/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records very many events, as a service would that has workers, queues and requests, but with nothing
 * in between, for tests of what reads long traces.
 *
 *	ktr run -e 1M -o TRACE -- big EVENTS
 *
 * Threads wait for the writer at the end of each burst, so that little or nothing is lost: in its last
 * request, which therefore takes as long as the pause.
 */
#include <ktr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS  4
#define PER_STEP 8         /* events that step() records */
#define BURST    (1 << 12) /* [steps] between pauses */

KTR_CLASS_DEFINE(request, "requests of the big test");

static long n_steps;

static void step(const char *name, unsigned *random, long i)
{
	static const char *const states[] = { "reading", "parsing", "waiting", "writing" };
	static const char *const hosts[] = { "left", "right", "centre" };
	static const struct timespec pause = { 0, 50 * 1000 * 1000 };

	*random = *random * 1664525u + 1013904223u;
	KTR_STATE0(KTR_SCHED, "worker", name, states[*random >> 30]);
	KTR_START1(KTR_CLASS(request), "request", name, i, "host:\"%s\"", hosts[i % 3]);
	CTR3(KTR_NET, "got %d bytes for request %ld from %s", (int)(*random >> 20), i,
	     hosts[i % 3]);
	CTR2(KTR_GEN, "step %ld of %ld", i, n_steps);
	if (i % 64 == 0)
		KTR_COUNTER0(KTR_GEN, "queue", "length", (int)(*random >> 24));
	else
		CTR1(KTR_VM, "page at 0x%lx", (unsigned long)*random << 12);
	if (i % BURST == BURST - 1)
		nanosleep(&pause, NULL);
	KTR_STOP0(KTR_CLASS(request), "request", name, i);
	KTR_STATE0(KTR_SCHED, "worker", name, "idle");
	KTR_POINT0(KTR_GEN, "done", name, "request");
}

static void *run(void *arg)
{
	char name[16];
	unsigned random = (unsigned)(size_t)arg * 7919;

	snprintf(name, sizeof(name), "worker %d", (int)(size_t)arg);
	for (long i = 0; i < n_steps; i++)
		step(name, &random, i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	n_steps = (argc > 1 ? atol(argv[1]) : 1000000) / PER_STEP / THREADS;
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
