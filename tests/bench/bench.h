/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bench: what an event costs, beside the least it could (peer.h) and beside reading the clock, in the same
 * thread, on the same CPU.
 *
 *	bench	    the driver: what is measured, one child per configuration, table and JSON
 *	worker-exe  a traced program linked with libktr.a; its event loops are in the executable
 *	worker-so   the same, its event loops in libevent.so, linked with libktr.so
 *	nothing-*   programs that do nothing, linked with ktr and without
 *
 * A worker is started with its settings in a loader.conf of its own, so that each configuration
 * starts fresh. Driver and workers share one anonymous file (struct bench_shared): the configuration,
 * a barrier, and the samples. A sample is one short repetition of some ten thousand events: short, so
 * that on a machine that is never quiet some of them are not disturbed. Each is preceded by a repetition
 * of what it is compared with, and both by a barrier, so that all workers run side by side. The kinds
 * of events take turns, and so do the configurations, in several passes: what disturbs for a second or
 * for ten does not hit one row alone.
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * X(name, what it is compared with, events recorded in a round): loops in event.c, rows of the table. Of peer.h are
 * those whose names begin with peer; the number after a string is its length.
 */
#define BENCH_EVENT_LIST(X)                                                                      \
	X(empty, empty, 0)                                                                       \
	X(clock, clock, 0)                                                                       \
	X(gate_off, empty, 0)                                                                    \
	X(probe_off, empty, 0)                                                                   \
	X(peer0, clock, 0)                                                                       \
	X(peer3, clock, 0)                                                                       \
	X(peer6, clock, 0)                                                                       \
	X(peer6_8th, clock, 0)                                                                   \
	X(peer_str5, clock, 0)                                                                   \
	X(peer_str16, clock, 0)                                                                  \
	X(peer_str40, clock, 0)                                                                  \
	X(peer_str70, clock, 0)                                                                  \
	X(peer_str200, clock, 0)                                                                 \
	X(peer_str16x2, clock, 0)                                                                \
	X(ctr0, peer0, 1)                                                                        \
	X(ctr3, peer3, 1)                                                                        \
	X(ctr6, peer6, 1)                                                                        \
	X(ctr6_8th, peer6_8th, 1)                                                                \
	X(state0, peer3, 1)                                                                      \
	X(state0_table, peer3, 1)                                                                \
	X(state0_id8, peer3, 1)                                                                  \
	X(state0_id15, peer3, 1)                                                                 \
	X(start0, peer3, 1)                                                                      \
	X(start1, peer3, 1)                                                                      \
	X(stop0, peer3, 1)                                                                       \
	X(counter0, peer3, 1)                                                                    \
	X(scope, peer3, 2)                                                                       \
	X(str5, peer_str5, 1)                                                                    \
	X(str16, peer_str16, 1)                                                                  \
	X(str40, peer_str40, 1)                                                                  \
	X(str70, peer_str70, 1)                                                                  \
	X(str200, peer_str200, 1)                                                                \
	X(str16x2, peer_str16x2, 1)                                                              \
	X(stack6, peer6, 1)                                                                      \
	X(probe6, peer6, 1)

enum bench_event {
#define BENCH_ENUM(name, base, recorded) BENCH_##name,
	BENCH_EVENT_LIST(BENCH_ENUM)
#undef BENCH_ENUM
	BENCH_EVENTS
};

/* What is read between two single events, which then find none of their lines in that much cache: X(KiB). */
#define BENCH_COLD_LIST(X) X(32) X(256) X(1024) X(0)
#define BENCH_COLDS	   4 /* 0: three times the second cache */

#define BENCH_WORKERS_MAX 8
#define BENCH_REPS_MAX	  240
#define BENCH_PASSES	  4
#define BENCH_TAIL_RUNS	  24

/* Percentiles of single events: X(name in JSON, share of events below it). */
#define BENCH_TAIL_LIST(X)                                                                       \
	X(p50, 0.50)                                                                             \
	X(p99, 0.99)                                                                             \
	X(p999, 0.999)                                                                           \
	X(p9999, 0.9999)

enum bench_tail {
#define BENCH_ENUM(name, share) BENCH_TAIL_##name,
	BENCH_TAIL_LIST(BENCH_ENUM)
#undef BENCH_ENUM
	BENCH_TAILS
};

struct bench_config {
	uint32_t n_threads;   /* per process */
	uint32_t n_processes;
	uint32_t so;	      /* 1: event loops in a shared object */
	uint32_t thread_path; /* 1: KTR_PATH=thread */
	uint32_t every;	      /* debug.ktr.clock */
	uint32_t entries;     /* debug.ktr.entries */
	uint32_t reps;	      /* of one pass */
	uint32_t n_single;    /* single events per run of the tail; 0: not timed */
	uint32_t pass;	      /* below BENCH_PASSES */
	int32_t cpu[2];
};

static inline uint32_t bench_n_workers(const struct bench_config *config)
{
	return config->n_threads * config->n_processes;
}

/*
 * More threads than CPUs are not pinned one by one, and what counts is the CPU time that all of them
 * take, switches included; otherwise each has a CPU to itself, and the clock on the wall is exact.
 */
static inline bool bench_crowded(const struct bench_config *config)
{
	return bench_n_workers(config) > 2;
}

/* Is this timed in that configuration, as an event? Where the clock is read for each 8th, that alone. */
static inline bool bench_is_measured(const struct bench_config *config, enum bench_event event)
{
	bool eighth = event == BENCH_peer6_8th || event == BENCH_ctr6_8th;

	if (event <= BENCH_clock || eighth != (config->every != 1))
		return false;
	switch (event) {
	case BENCH_peer_str5:
	case BENCH_peer_str40 ... BENCH_peer_str16x2:
	case BENCH_state0 ... BENCH_str5:
	case BENCH_str40 ... BENCH_str16x2:
		return !bench_crowded(config);
	default:
		return true;
	}
}

/* Events that the rings take in one round. */
static inline uint32_t bench_n_recorded(enum bench_event event)
{
	static const uint8_t recorded[BENCH_EVENTS] = {
#define BENCH_RECORDED(name, base, recorded) recorded,
		BENCH_EVENT_LIST(BENCH_RECORDED)
#undef BENCH_RECORDED
	};

	return recorded[event];
}

static inline enum bench_event bench_base(enum bench_event event)
{
	static const uint8_t base[BENCH_EVENTS] = {
#define BENCH_BASE(name, base, recorded) BENCH_##base,
		BENCH_EVENT_LIST(BENCH_BASE)
#undef BENCH_BASE
	};

	return (enum bench_event)base[event];
}

/* Events of one repetition: 0.1 to 0.5 ms; longer where switches between threads belong to it. */
static inline long bench_n_events(const struct bench_config *config, enum bench_event event)
{
	if (event == BENCH_empty || event == BENCH_gate_off || event == BENCH_probe_off)
		return 400000;
	return bench_crowded(config) ? 100000 : 40000;
}

/* Runs of the tail in one pass. */
static inline uint32_t bench_n_tails(const struct bench_config *config)
{
	return config->n_single ? BENCH_TAIL_RUNS / BENCH_PASSES : 0;
}

/* Single events in the cold: of each that is drawn so, in one pass and for each size. */
static inline uint32_t bench_n_draws(const struct bench_config *config)
{
	return config->n_single ? 400 : 0;
}

static inline bool bench_is_cold(enum bench_event event)
{
	return event == BENCH_empty || event == BENCH_peer3 || event == BENCH_ctr3 || event == BENCH_state0;
}

/* Events that are recorded so in one pass. */
static inline uint64_t bench_n_cold(const struct bench_config *config)
{
	return (uint64_t)bench_n_draws(config) * BENCH_COLDS * 2;
}

/* A lap of the ring before anything is timed: its pages are mapped then. */
static inline long bench_n_warm(const struct bench_config *config)
{
	return (long)config->entries + 1024;
}

struct bench_sample {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t cpu_ns;   /* CPU time of the thread between the two */
};

struct bench_pair {
	struct bench_sample base;
	struct bench_sample event;
};

/* Zero-filled by the driver, which writes config; the rest is the workers'. */
struct bench_shared {
	struct bench_config config;
	uint32_t arrived;    /* barrier: workers that wait; atomic */
	uint32_t generation; /* barrier: +1 each time all have arrived; a futex */
	struct bench_pair pair[BENCH_EVENTS][BENCH_WORKERS_MAX][BENCH_REPS_MAX];
	double tail_ns[BENCH_EVENTS][BENCH_TAIL_RUNS][BENCH_TAILS]; /* of worker 0 */
	double cold_ns[BENCH_COLDS][BENCH_EVENTS][BENCH_PASSES];    /* trimmed means, of worker 0; 0: not timed */
	uint32_t cold_bytes[BENCH_COLDS];
};

/* event.c: runs a loop of n events. */
__attribute__((visibility("default"))) void bench_event_loop(enum bench_event event, long n);

/*
 * Times n single events, before each of which so many bytes of a buffer are read: n_ticks[t] counts those that
 * took t ticks of the CPU's clock, the last of n_buckets those that took as many or more.
 */
struct bench_single {
	uint32_t *n_ticks;
	uint32_t n_buckets;
	const volatile char *cold;
	uint32_t n_cold;
};
__attribute__((visibility("default")))
void bench_event_single(enum bench_event event, long n, const struct bench_single *single);

/* What the thread needs for what it is compared with. 0 or -1. */
__attribute__((visibility("default"))) int bench_event_open(const struct bench_config *config);

/* The CPU's clock as event.c reads it. */
__attribute__((visibility("default"))) uint64_t bench_event_ticks(void);

/*
 * launch.c: runs one pass of a configuration in workers from the directory `workers`, which fill in the
 * samples of that pass in *shared. Returns 0, or -1 with a line on stderr: a worker failed, or the session
 * does not hold exactly the events that were timed.
 */
struct bench_shared *bench_launch_map(int *fd);
int bench_launch(struct bench_shared *shared, int fd, const char *workers);

/* row.c: samples made into rows. */
struct bench_row {
	struct bench_config config;
	enum bench_event event;
	uint32_t n_counted; /* repetitions in which all workers ran side by side */
	double min_ns;	    /* per event */
	double median_ns;
	double base_ns;	    /* least of what it is compared with */
	double clock_ns;    /* least of the clock loop in this configuration */
	double tail_ns[BENCH_TAILS]; /* single events, least of the runs; 0: not timed */
	double tail_base_ns[BENCH_TAILS];
	double cold_ns[BENCH_COLDS]; /* single events above a pair of clock readings; 0: not timed */
	double cold_base_ns[BENCH_COLDS];
	uint32_t cold_bytes[BENCH_COLDS];
	double threads_ns; /* two processes: what two threads took; else 0 */
};

/* Fills one row per event from the samples of all passes; returns their number. */
unsigned bench_rows_make(const struct bench_shared *shared, struct bench_row *rows);
/* Looks up, for each row of two processes, the row of two threads. */
void bench_rows_pair(struct bench_row *rows, unsigned n);

const char *bench_event_name(enum bench_event event);

/* startup.c: runs each of the programs that do nothing n times. One row for the executable, one for the
 * shared library. 0, or -1 with a line on stderr. */
#define BENCH_STARTUPS	 2
#define BENCH_STARTS_MAX 400

struct bench_startup {
	uint32_t so;
	uint32_t n_runs;
	double min_ns; /* from being spawned to having ended */
	double median_ns;
	double base_ns; /* without ktr: least, and median */
	double base_median_ns;
};

int bench_startup(const char *workers, unsigned n, struct bench_startup *startup);

/* All there is to print. */
struct bench_results {
	const struct bench_row *rows;
	unsigned n_rows;
	const struct bench_startup *startup;
	unsigned n_startups;
};

/* print.c */
void bench_print_table(const struct bench_results *results);
int bench_print_json(const struct bench_results *results, const char *path);

/* limits.c: what is asked of a row. limit 0: nothing. */
struct bench_limit {
	const char *text; /* what value is */
	double limit;
	double value;
};

struct bench_limit bench_limit_of(const struct bench_row *row);
struct bench_limit bench_limit_of_processes(const struct bench_row *row);
struct bench_limit bench_limit_of_tail(const struct bench_row *row, enum bench_tail tail);
struct bench_limit bench_limit_of_cold(const struct bench_row *row, unsigned cold);
struct bench_limit bench_limit_of_startup(const struct bench_startup *startup);

/* One line for each limit: the row that fares worst, and whether it holds. */
void bench_limits_print(const struct bench_results *results);

#endif
