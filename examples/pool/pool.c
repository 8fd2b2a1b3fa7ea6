/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool: a thread pool. Each worker is a row of the timeline ("idle", "running"), each task a span, and the
 * number of tasks that wait a counter: one look tells whether the workers or the tasks are too few.
 *
 *	ktr run ./pool && ktr timeline
 */
#define _GNU_SOURCE
#include <ktr.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

KTR_CLASS_DEFINE(pool, "tasks and workers of the pool");

enum {
	WORKERS = 3,
	TASKS = 60
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static unsigned waiting[TASKS], n_waiting;
static int closed;
static volatile unsigned long sink;

static void submit(unsigned size)
{
	pthread_mutex_lock(&lock);
	waiting[n_waiting++] = size;
	KTR_COUNTER0(KTR_CLASS(pool), "pool", "tasks waiting", (int)n_waiting);
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

/* The size of the next task, 0 when there will be none. */
static unsigned take(void)
{
	unsigned size = 0;

	pthread_mutex_lock(&lock);
	while (!n_waiting && !closed)
		pthread_cond_wait(&not_empty, &lock);
	if (n_waiting) {
		size = waiting[--n_waiting];
		KTR_COUNTER0(KTR_CLASS(pool), "pool", "tasks waiting", (int)n_waiting);
	}
	pthread_mutex_unlock(&lock);
	return size;
}

static void run_task(unsigned size)
{
	KTR_SCOPE(KTR_CLASS(pool), "task", "size:%u", size);

	for (unsigned long i = 0; i < size * 1000ul; i++)
		sink += i * i;
}

static void *worker(void *arg)
{
	const char *name = arg;
	unsigned size;

	pthread_setname_np(pthread_self(), name);
	for (;;) {
		KTR_STATE0(KTR_CLASS(pool), "worker", name, "idle");
		size = take();
		if (!size)
			break;
		KTR_STATE1(KTR_CLASS(pool), "worker", name, "running", "size:%u", size);
		run_task(size);
	}
	return NULL;
}

int main(void)
{
	static char names[WORKERS][16];
	pthread_t threads[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		snprintf(names[i], sizeof(names[i]), "worker %d", i);
		if (pthread_create(&threads[i], NULL, worker, names[i]) != 0)
			return 1;
	}
	for (unsigned i = 0; i < TASKS; i++)
		submit(i % 10 ? 100 : 2000); /* every tenth is twenty times as long */
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d tasks done\n", TASKS);
	return 0;
}
