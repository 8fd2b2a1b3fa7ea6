/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rows of locks and memory are drawn of. A thread called owner has table_lock for 300 ms, in the middle of
 * which one called waiter asks for it; the same of the second of a row of locks on the heap, which only
 * KTR_LOCK_NAME gives a name (with -DNAMED), and of a read-write lock that two read. 300 locks are taken that
 * nobody waits for. Memory grows by ten blocks of a megabyte, of which five are given back, and by a mapping of
 * 4 MiB, whose second half is unmapped.
 *
 *	lock_rows kept		a few locks are taken, and one of them is kept for 300 ms, for which nobody waits
 *	lock_rows waited	for which a thread waits meanwhile
 */
#ifdef NAMED
#include <ktr.h>
#endif

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t quiet[300];
static pthread_rwlock_t map_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static pthread_mutex_t *heap_lock;

static void nap(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void *owner(void *context)
{
	pthread_setname_np(pthread_self(), "owner");
	pthread_mutex_lock(&table_lock);
	pthread_barrier_wait(&both);
	nap(300);
	pthread_mutex_unlock(&table_lock);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&heap_lock[1]);
	pthread_barrier_wait(&both);
	nap(100);
	pthread_mutex_unlock(&heap_lock[1]);
	pthread_rwlock_rdlock(&map_lock);
	pthread_barrier_wait(&both);
	nap(50);
	pthread_rwlock_unlock(&map_lock);
	return context;
}

static void *waiter(void *context)
{
	pthread_setname_np(pthread_self(), "waiter");
	pthread_barrier_wait(&both);
	nap(100);
	pthread_mutex_lock(&table_lock);
	pthread_mutex_unlock(&table_lock);
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&heap_lock[1]);
	pthread_mutex_unlock(&heap_lock[1]);
	pthread_rwlock_rdlock(&map_lock);
	pthread_barrier_wait(&both);
	nap(50);
	pthread_rwlock_unlock(&map_lock);
	return context;
}

static void *blocks[10];

static void memory(void)
{
	char *map;

	for (int i = 0; i < 10; i++) {
		blocks[i] = malloc(1 << 20);
		memset(blocks[i], 1, 1 << 20);
	}
	for (int i = 0; i < 5; i++)
		free(blocks[i]);
	map = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || munmap(map + (2 << 20), 2 << 20))
		abort();
}

static void *asks(void *context)
{
	pthread_mutex_lock(&quiet[7]);
	pthread_mutex_unlock(&quiet[7]);
	return context;
}

static int keep(int waited)
{
	pthread_t thread;

	for (int i = 0; i < 12; i++) {
		pthread_mutex_lock(&quiet[i]);
		if (i == 7 && waited && pthread_create(&thread, NULL, asks, NULL))
			abort();
		nap(i == 7 ? 300 : 1);
		pthread_mutex_unlock(&quiet[i]);
	}
	if (waited)
		pthread_join(thread, NULL);
	puts("kept");
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 1)
		return keep(strcmp(argv[1], "waited") == 0);

	heap_lock = calloc(4, sizeof(*heap_lock));
#ifdef NAMED
	ktr_start();
	KTR_LOCK_NAME(&heap_lock[1], "the cache's lock");
#endif
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&quiet[i]);
		pthread_mutex_unlock(&quiet[i]);
	}
	memory();
	pthread_create(&threads[0], NULL, owner, NULL);
	pthread_create(&threads[1], NULL, waiter, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%p\n", (void *)&heap_lock[1]);
	return 0;
}
