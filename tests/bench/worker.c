/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A traced program: worker-exe or worker-so, started by the driver as
 *
 *	worker FD FIRST
 *
 * FD is the shared file, FIRST the number of its first thread among all workers of the configuration.
 * Its threads meet those of other processes at the barrier. A thread takes its CPU by its number; where
 * there are more threads than CPUs all may use both.
 */
#include "bench.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORKER_BUCKETS 65536 /* [ticks] some 25 us; what takes longer counts as that */
#define WORKER_TURNS   4    /* of each kind of event in the cold */
#define WORKER_SPINS   2000  /* a few us: longer than the other thread of a pair is late */

static struct bench_shared *worker_shared;
static uint32_t worker_first;

static uint64_t worker_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Leaves when all threads of all processes have arrived. */
static void worker_barrier(void)
{
	struct bench_shared *shared = worker_shared;
	uint32_t generation = __atomic_load_n(&shared->generation, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&shared->arrived, 1, __ATOMIC_ACQ_REL) == bench_n_workers(&shared->config)) {
		__atomic_store_n(&shared->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&shared->generation, generation + 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &shared->generation, FUTEX_WAKE, BENCH_WORKERS_MAX, NULL, NULL, 0);
		return;
	}
	for (unsigned i = 0; __atomic_load_n(&shared->generation, __ATOMIC_ACQUIRE) == generation; i++)
		if (bench_crowded(&shared->config) || i > WORKER_SPINS)
			syscall(SYS_futex, &shared->generation, FUTEX_WAIT, generation, NULL, NULL, 0);
}

static void worker_sample(struct bench_sample *sample, enum bench_event event)
{
	long n = bench_n_events(&worker_shared->config, event);

	worker_barrier();
	sample->cpu_ns = worker_ns(CLOCK_THREAD_CPUTIME_ID);
	sample->start_ns = worker_ns(CLOCK_MONOTONIC);
	bench_event_loop(event, n);
	sample->end_ns = worker_ns(CLOCK_MONOTONIC);
	sample->cpu_ns = worker_ns(CLOCK_THREAD_CPUTIME_ID) - sample->cpu_ns;
}

static void worker_percentiles(const uint32_t *n_ticks, double ticks_per_ns, double *tail_ns)
{
	static const double share[BENCH_TAILS] = {
#define WORKER_SHARE(name, below) below,
		BENCH_TAIL_LIST(WORKER_SHARE)
#undef WORKER_SHARE
	};
	uint64_t total = 0, below = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < WORKER_BUCKETS; i++)
		total += n_ticks[i];
	for (int i = 0; i < BENCH_TAILS; i++) {
		while (at < WORKER_BUCKETS - 1 && (double)(below + n_ticks[at]) < share[i] * (double)total)
			below += n_ticks[at++];
		tail_ns[i] = at / ticks_per_ns;
	}
}

/*
 * The mean without the least and the greatest twentieth (a trimmed mean: Huber, Robust Statistics, 1981): what
 * disturbs is in the tail, and of a clock that counts in steps of 10 ns nearly all readings are needed, for
 * something of 13 ns is 10 to seven of ten of them and 20 to three; the mean of the middle half is 10 then.
 */
static double worker_trimmed(const uint32_t *n_ticks, double ticks_per_ns)
{
	uint64_t total = 0, below = 0;
	double sum = 0, low, high;

	for (uint32_t i = 0; i < WORKER_BUCKETS; i++)
		total += n_ticks[i];
	low = 0.05 * (double)total;
	high = 0.95 * (double)total;
	for (uint32_t i = 0; i < WORKER_BUCKETS; i++) {
		double from = (double)below > low ? (double)below : low, to;

		below += n_ticks[i];
		to = (double)below < high ? (double)below : high;
		sum += to > from ? (to - from) * i : 0;
	}
	return sum / (high - low) / ticks_per_ns;
}

/*
 * Single events, one by one. The kinds of events, and pairs of clock readings with nothing in between, take
 * turns, one in each run: what disturbs strikes all of them alike. (With several turns in a run the first events of
 * each, whose code is not where it is run from yet, would be those of p99.99: four times two or three of ten. What
 * those take is told by events in the cold.)
 */
static void worker_tail(uint32_t (*n_ticks)[WORKER_BUCKETS], double ticks_per_ns)
{
	struct bench_shared *shared = worker_shared;
	const struct bench_config *config = &shared->config;
	uint32_t n = bench_n_tails(config);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t run = config->pass * n + i;

		memset(n_ticks, 0, BENCH_EVENTS * sizeof(*n_ticks));
		for (enum bench_event event = BENCH_empty; event < BENCH_EVENTS; event++) {
			struct bench_single single = { n_ticks[event], WORKER_BUCKETS, NULL, 0 };

			if (event == BENCH_empty || bench_is_measured(config, event))
				bench_event_single(event, config->n_single, &single);
		}
		for (enum bench_event event = BENCH_empty; event < BENCH_EVENTS; event++)
			worker_percentiles(n_ticks[event], ticks_per_ns, shared->tail_ns[event][run]);
	}
}

/* [bytes] Three times the second cache, and where nobody tells its size, 6 MiB. */
static uint32_t worker_beyond(void)
{
	long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);

	return bytes > 0 && bytes < 64 << 20 ? 3 * (uint32_t)bytes : 6 << 20;
}

/* Single events between which so much is read that none of their lines are where they were: by turns, too. */
static int worker_cold(uint32_t (*n_ticks)[WORKER_BUCKETS], double ticks_per_ns)
{
#define WORKER_KIB(kib) kib * 1024,
	static const uint32_t size[BENCH_COLDS] = { BENCH_COLD_LIST(WORKER_KIB) };
#undef WORKER_KIB
	struct bench_shared *shared = worker_shared;
	uint32_t most = worker_beyond(), n = bench_n_draws(&shared->config);
	char *buffer = malloc(most);

	if (!buffer)
		return -1;
	memset(buffer, 1, most);
	for (unsigned cold = 0; cold < BENCH_COLDS; cold++) {
		shared->cold_bytes[cold] = size[cold] && size[cold] < most ? size[cold] : most;
		memset(n_ticks, 0, BENCH_EVENTS * sizeof(*n_ticks));
		for (unsigned turn = 0; turn < WORKER_TURNS; turn++)
			for (enum bench_event event = BENCH_empty; event < BENCH_EVENTS; event++) {
				struct bench_single single = { n_ticks[event], WORKER_BUCKETS, buffer,
							       shared->cold_bytes[cold] };

				if (bench_is_cold(event))
					bench_event_single(event, n / WORKER_TURNS, &single);
			}
		for (enum bench_event event = BENCH_empty; event < BENCH_EVENTS; event++) {
			if (bench_is_cold(event))
				shared->cold_ns[cold][event][shared->config.pass] =
					worker_trimmed(n_ticks[event], ticks_per_ns);
		}
	}
	free(buffer);
	return 0;
}

static int worker_singles(double ticks_per_ns)
{
	uint32_t(*n_ticks)[WORKER_BUCKETS] = malloc(BENCH_EVENTS * sizeof(*n_ticks));
	int rc;

	if (!n_ticks)
		return -1;
	worker_tail(n_ticks, ticks_per_ns);
	rc = worker_cold(n_ticks, ticks_per_ns);
	free(n_ticks);
	return rc;
}

static int worker_pin(uint32_t number)
{
	const struct bench_config *config = &worker_shared->config;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(config->cpu[number % 2], &set);
	if (bench_crowded(config))
		CPU_SET(config->cpu[(number + 1) % 2], &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int worker_measure(uint32_t number)
{
	struct bench_shared *shared = worker_shared;
	const struct bench_config *config = &shared->config;
	uint64_t ticks, ns;

	if (worker_pin(number) || bench_event_open(config))
		return -1;
	bench_event_loop(BENCH_ctr0, bench_n_warm(config));
	ticks = bench_event_ticks();
	ns = worker_ns(CLOCK_MONOTONIC);
	for (uint32_t rep = 0; rep < config->reps; rep++) {
		for (enum bench_event event = 0; event < BENCH_EVENTS; event++) {
			struct bench_pair *pair =
				&shared->pair[event][number][config->pass * config->reps + rep];

			if (!bench_is_measured(config, event))
				continue;
			worker_sample(&pair->base, bench_base(event));
			worker_sample(&pair->event, event);
		}
	}
	ticks = bench_event_ticks() - ticks;
	ns = worker_ns(CLOCK_MONOTONIC) - ns;
	return number == 0 && config->n_single ? worker_singles((double)ticks / (double)ns) : 0;
}

static void *worker_thread(void *number)
{
	if (worker_measure((uint32_t)(uintptr_t)number)) {
		perror("bench: worker");
		exit(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[BENCH_WORKERS_MAX];
	uint32_t n;

	if (argc != 3) {
		fprintf(stderr, "%s: started by the driver of the bench\n", argv[0]);
		return 2;
	}
	worker_first = (uint32_t)atoi(argv[2]);
	worker_shared = mmap(NULL, sizeof(*worker_shared), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[1]), 0);
	if (worker_shared == MAP_FAILED) {
		perror("bench: worker: shared file");
		return 1;
	}
	n = worker_shared->config.n_threads;
	for (uint32_t i = 1; i < n; i++) {
		errno = pthread_create(&thread[i], NULL, worker_thread, (void *)(uintptr_t)(worker_first + i));
		if (errno) {
			perror("bench: worker: thread");
			return 1;
		}
	}
	worker_thread((void *)(uintptr_t)worker_first);
	for (uint32_t i = 1; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
