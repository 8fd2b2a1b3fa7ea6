/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue: one producer, two consumers, a bounded queue between them. Its depth is a counter, full and empty
 * are points: the counters' chart shows who waits for whom.
 *
 *	ktr run ./queue && ktr plot counters -o queue.png
 */
#define _GNU_SOURCE
#include <ktr.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

KTR_CLASS_DEFINE(queue, "the queue's depth, and who finds it full or empty");

enum {
	DEPTH = 16,
	ITEMS = 2000,
	CONSUMERS = 2,
	END = -1
};

static int ring[DEPTH];
static unsigned head, tail;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t n_free, n_used;

static void put(int item)
{
	if (sem_trywait(&n_free) != 0) {
		KTR_POINT0(KTR_CLASS(queue), "queue", "producer", "full");
		while (sem_wait(&n_free) != 0)
			;
	}
	pthread_mutex_lock(&lock);
	ring[head++ % DEPTH] = item;
	KTR_COUNTER0(KTR_CLASS(queue), "queue", "depth", (int)(head - tail));
	pthread_mutex_unlock(&lock);
	sem_post(&n_used);
}

static int get(void)
{
	int item;

	if (sem_trywait(&n_used) != 0) {
		KTR_POINT0(KTR_CLASS(queue), "queue", "consumer", "empty");
		while (sem_wait(&n_used) != 0)
			;
	}
	pthread_mutex_lock(&lock);
	item = ring[tail++ % DEPTH];
	KTR_COUNTER0(KTR_CLASS(queue), "queue", "depth", (int)(head - tail));
	pthread_mutex_unlock(&lock);
	sem_post(&n_free);
	return item;
}

static void *consume(void *arg)
{
	long *sum = arg;
	int item;

	pthread_setname_np(pthread_self(), "consumer");
	while ((item = get()) != END) {
		*sum += item;
		CTR1(KTR_CLASS(queue), "consumed %d", item);
		if (item % 100 == 0) /* now and then one takes long, and the queue fills up */
			nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
	return NULL;
}

int main(void)
{
	pthread_t consumers[CONSUMERS];
	long sums[CONSUMERS] = { 0 };

	sem_init(&n_free, 0, DEPTH);
	sem_init(&n_used, 0, 0);
	for (int i = 0; i < CONSUMERS; i++)
		if (pthread_create(&consumers[i], NULL, consume, &sums[i]) != 0)
			return 1;
	for (int i = 0; i < ITEMS; i++)
		put(i);
	for (int i = 0; i < CONSUMERS; i++)
		put(END);
	for (int i = 0; i < CONSUMERS; i++)
		pthread_join(consumers[i], NULL);
	printf("sum %ld\n", sums[0] + sums[1]);
	return sums[0] + sums[1] == (long)ITEMS * (ITEMS - 1) / 2 ? 0 : 1;
}
