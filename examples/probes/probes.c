/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probes: a cache that watches itself for a while. Its lookups are points of a probe, which cost a test of one
 * word until the program wants to know; then a handler counts hits by power of two of the distance to the last one,
 * in the threads that look up, while others go on, and is removed again under their feet.
 *
 *	ktr run build/examples/probes
 *	ktr dump --filter 'class == probe' | head	lookups that were watched, with key and distance
 *	ktr report				how many, by whom
 */
#include <ktr/probe.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#define CACHE_THREADS 3
#define CACHE_ROUNDS  3
#define CACHE_LOOKUPS 2000 /* watched in each round, at least */

static uint64_t cache_last[CACHE_THREADS];
static uint64_t histogram[64];
static int stop;

/* What a lookup touches, far or near: numbers that look random (xorshift, Marsaglia 2003). */
static uint64_t cache_key(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> (*state & 31) & 0xffffff;
}

static void *cache_use(void *context)
{
	unsigned self = (unsigned)(uintptr_t)context;
	uint64_t state = self + 88172645463325252ull;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t key = cache_key(&state), last = cache_last[self];

		KTR_PROBE_POINT2(KTR_PROBE_CUSTOM, "lookup", key, key > last ? key - last : last - key);
		cache_last[self] = key;
	}
	return NULL;
}

/* Runs in the threads that look up. */
static void watch(struct ktr_probe *probe, uint64_t key, uint64_t distance, uint64_t a2, uint64_t a3, uint64_t a4,
		  uint64_t a5)
{
	(void)probe, (void)key, (void)a2, (void)a3, (void)a4, (void)a5;
	__atomic_fetch_add(&histogram[distance ? 63 - __builtin_clzll(distance) : 0], 1, __ATOMIC_RELAXED);
}

static uint64_t watched(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 64; i++)
		sum += __atomic_load_n(&histogram[i], __ATOMIC_RELAXED);
	return sum;
}

int main(void)
{
	struct ktr_probe_metrics metrics = { .size = sizeof(metrics) };
	pthread_t thread[CACHE_THREADS];
	struct ktr_probe *probe;
	uint64_t seen = 0;

	for (uintptr_t i = 0; i < CACHE_THREADS; i++)
		pthread_create(&thread[i], NULL, cache_use, (void *)i);
	for (int round = 1; round <= CACHE_ROUNDS; round++) {
		if (ktr_probe_register(KTR_PROBE_CUSTOM, "lookup", "cache_use", watch, &probe) ||
		    ktr_probe_enable(probe))
			return 1;
		while (watched() < seen + CACHE_LOOKUPS)
			sched_yield();
		if (ktr_probe_remove(probe))
			return 1;
		/* From here on nobody is in the handler. */
		seen = watched();
		CTR1(KTR_INIT, "round %d is over", round); /* kept, whatever the lookups flush out */
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < CACHE_THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 64; i++)
		if (histogram[i])
			printf("from %8" PRIu64 ": %" PRIu64 "\n", (uint64_t)1 << i, histogram[i]);
	ktr_probe_metrics(&metrics);
	printf("%s\n", watched() == seen && metrics.n_fired >= seen ? "3 rounds, nothing behind them" : "wrong");
	return 0;
}
