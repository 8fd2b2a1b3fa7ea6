/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples made into rows. Of several workers with a CPU each, the one that fares worst is the row; a
 * repetition counts only where all of them truly ran side by side, so that a least time is never that
 * of a thread which had the machine to itself. With more threads than CPUs a repetition is one number:
 * the CPU time of all its threads over all their events.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define ROW_OVERLAP 0.8 /* share of the fastest worker's time during which all others ran too */

const char *bench_event_name(enum bench_event event)
{
	static const char *const names[BENCH_EVENTS] = {
#define ROW_NAME(name, base, recorded) #name,
		BENCH_EVENT_LIST(ROW_NAME)
#undef ROW_NAME
	};

	return names[event];
}

/* One kind of repetition of one worker, or of all: ns per event, in the order they ran. */
struct row_series {
	double ns[BENCH_REPS_MAX];
	uint32_t n;
};

static uint32_t row_n_reps(const struct bench_config *config)
{
	return config->reps * BENCH_PASSES;
}

static int row_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void row_sort(struct row_series *series)
{
	qsort(series->ns, series->n, sizeof(series->ns[0]), row_compare);
}

static double row_min(const struct row_series *sorted)
{
	return sorted->n ? sorted->ns[0] : 0;
}

static double row_median(const struct row_series *sorted)
{
	if (!sorted->n)
		return 0;
	return (sorted->ns[(sorted->n - 1) / 2] + sorted->ns[sorted->n / 2]) / 2;
}

static const struct bench_sample *row_sample(const struct bench_pair *pair, bool base)
{
	return base ? &pair->base : &pair->event;
}

/* Did all workers run side by side in repetition rep? */
static bool row_together(const struct bench_pair (*pair)[BENCH_REPS_MAX], uint32_t n_workers,
			 uint32_t rep, bool base)
{
	uint64_t start = 0, end = UINT64_MAX, shortest = UINT64_MAX;

	for (uint32_t i = 0; i < n_workers; i++) {
		const struct bench_sample *sample = row_sample(&pair[i][rep], base);
		uint64_t ns = sample->end_ns - sample->start_ns;

		start = sample->start_ns > start ? sample->start_ns : start;
		end = sample->end_ns < end ? sample->end_ns : end;
		shortest = ns < shortest ? ns : shortest;
	}
	return end > start && (double)(end - start) >= ROW_OVERLAP * (double)shortest;
}

static void row_of_worker(const struct bench_shared *shared, enum bench_event event, uint32_t worker,
			  bool base, struct row_series *series)
{
	const struct bench_config *config = &shared->config;
	double n_events = (double)bench_n_events(config, base ? bench_base(event) : event);

	series->n = 0;
	for (uint32_t rep = 0; rep < row_n_reps(config); rep++) {
		const struct bench_sample *sample = row_sample(&shared->pair[event][worker][rep], base);

		if (row_together(shared->pair[event], bench_n_workers(config), rep, base))
			series->ns[series->n++] = (double)(sample->end_ns - sample->start_ns) / n_events;
	}
	row_sort(series);
}

static void row_of_all(const struct bench_shared *shared, enum bench_event event, bool base,
		       struct row_series *series)
{
	const struct bench_config *config = &shared->config;
	double n_events = (double)bench_n_events(config, base ? bench_base(event) : event) *
			  bench_n_workers(config);

	series->n = row_n_reps(config);
	for (uint32_t rep = 0; rep < row_n_reps(config); rep++) {
		uint64_t cpu_ns = 0;

		for (uint32_t i = 0; i < bench_n_workers(config); i++)
			cpu_ns += row_sample(&shared->pair[event][i][rep], base)->cpu_ns;
		series->ns[rep] = (double)cpu_ns / n_events;
	}
	row_sort(series);
}

static void row_take(struct bench_row *row, const struct row_series *event, const struct row_series *base)
{
	row->n_counted = event->n < base->n ? event->n : base->n;
	row->min_ns = row_min(event);
	row->median_ns = row_median(event);
	row->base_ns = row_min(base);
}

static void row_times(const struct bench_shared *shared, enum bench_event event, struct bench_row *row)
{
	static struct row_series series, base;
	double worst = -1;

	if (bench_crowded(&shared->config)) {
		row_of_all(shared, event, false, &series);
		row_of_all(shared, event, true, &base);
		row_take(row, &series, &base);
		return;
	}
	for (uint32_t i = 0; i < bench_n_workers(&shared->config); i++) {
		double ratio;

		row_of_worker(shared, event, i, false, &series);
		row_of_worker(shared, event, i, true, &base);
		ratio = base.n ? row_min(&series) / row_min(&base) : 0;
		if (ratio > worst)
			row_take(row, &series, &base);
		worst = ratio > worst ? ratio : worst;
	}
}

/* An interrupt only ever adds: of several runs, the least of each percentile. */
static void row_tail(const struct bench_shared *shared, enum bench_event event, double *tail_ns)
{
	for (int i = 0; i < BENCH_TAILS; i++) {
		tail_ns[i] = shared->tail_ns[event][0][i];
		for (int run = 1; run < BENCH_TAIL_RUNS; run++)
			if (shared->tail_ns[event][run][i] < tail_ns[i])
				tail_ns[i] = shared->tail_ns[event][run][i];
	}
}

/* The clock's own row: all repetitions that anything was compared with. */
static void row_clock(const struct bench_shared *shared, struct bench_row *row)
{
	static struct row_series series, all;
	uint32_t n = bench_crowded(&shared->config) ? 1 : bench_n_workers(&shared->config);

	row->min_ns = 0;
	row->median_ns = 0;
	row->n_counted = 0;
	for (enum bench_event event = 0; event < BENCH_EVENTS; event++) {
		if (!bench_is_measured(&shared->config, event) || bench_base(event) != BENCH_clock)
			continue;
		for (uint32_t i = 0; i < n; i++) {
			if (bench_crowded(&shared->config))
				row_of_all(shared, event, true, &series);
			else
				row_of_worker(shared, event, i, true, &series);
			row->n_counted += series.n;
			if (series.n && (!row->min_ns || row_min(&series) < row->min_ns))
				row->min_ns = row_min(&series);
			if (series.n && all.n < BENCH_REPS_MAX)
				all.ns[all.n++] = row_median(&series);
		}
	}
	row_sort(&all);
	row->median_ns = row_median(&all);
	all.n = 0;
	row->base_ns = row->min_ns;
}

/*
 * Of the passes, which are processes, the median: where a cache is as large as what was read, it depends on the
 * pages that a process got which of its lines are left, of the peer's few as of an event's.
 */
static double row_cold_ns(const double *event_ns, const double *pair_ns)
{
	double ns[BENCH_PASSES];

	for (int i = 0; i < BENCH_PASSES; i++)
		ns[i] = event_ns[i] - pair_ns[i];
	qsort(ns, BENCH_PASSES, sizeof(ns[0]), row_compare);
	return (ns[(BENCH_PASSES - 1) / 2] + ns[BENCH_PASSES / 2]) / 2;
}

static void row_cold(const struct bench_shared *shared, enum bench_event event, struct bench_row *row)
{
	for (int i = 0; i < BENCH_COLDS; i++) {
		const double *pair_ns = shared->cold_ns[i][BENCH_empty];

		row->cold_bytes[i] = shared->cold_bytes[i];
		row->cold_ns[i] = row_cold_ns(shared->cold_ns[i][event], pair_ns);
		row->cold_base_ns[i] = row_cold_ns(shared->cold_ns[i][bench_base(event)], pair_ns);
	}
}

unsigned bench_rows_make(const struct bench_shared *shared, struct bench_row *rows)
{
	unsigned n = 0;

	for (enum bench_event event = BENCH_clock; event < BENCH_EVENTS; event++) {
		struct bench_row *row = &rows[n];

		if (event != BENCH_clock && !bench_is_measured(&shared->config, event))
			continue;
		memset(row, 0, sizeof(*row));
		row->config = shared->config;
		row->event = event;
		if (event == BENCH_clock)
			row_clock(shared, row);
		else
			row_times(shared, event, row);
		row->clock_ns = rows[0].min_ns;
		if (shared->config.n_single) {
			row_tail(shared, event == BENCH_clock ? BENCH_empty : event, row->tail_ns);
			row_tail(shared, bench_n_recorded(event) ? bench_base(event) : BENCH_empty,
				 row->tail_base_ns);
		}
		if (shared->config.n_single && bench_n_recorded(event) && bench_is_cold(event))
			row_cold(shared, event, row);
		n++;
	}
	return n;
}

void bench_rows_pair(struct bench_row *rows, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct bench_config *a = &rows[i].config;

		for (unsigned k = 0; a->n_processes == 2 && k < n; k++) {
			const struct bench_config *b = &rows[k].config;

			if (b->n_processes == 1 && b->n_threads == 2 * a->n_threads && b->so == a->so &&
			    b->thread_path == a->thread_path && b->every == a->every &&
			    b->entries == a->entries && rows[k].event == rows[i].event)
				rows[i].threads_ns = rows[k].min_ns;
		}
	}
}
