/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is asked of the recorder with rings of 65,536 entries, and which rows keep to it: ratios to peer.h's events
 * with the same arguments, of one thread, or of each of two, that have a CPU to themselves.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#define LIMITS_ENTRIES 65536

static double limits_ratio(double ns, double base_ns)
{
	return base_ns > 0 ? ns / base_ns : 0;
}

/* Times the peer's. */
static double limits_of_event(const struct bench_config *config, enum bench_event event)
{
	switch (event) {
	case BENCH_ctr0:
	case BENCH_ctr3:
	case BENCH_ctr6:
		return config->so || config->thread_path ? 1.15 : 1.12;
	case BENCH_state0:
	case BENCH_start0:
	case BENCH_start1:
	case BENCH_stop0:
	case BENCH_counter0:
		return 1.20;
	case BENCH_state0_table:
	case BENCH_state0_id8:
		return 1.30;
	case BENCH_state0_id15:
		return 1.45;
	case BENCH_scope:
		return 2.3;
	case BENCH_str5:
	case BENCH_str16:
	case BENCH_str40:
		return 1.35;
	case BENCH_str70:
	case BENCH_str200:
		return 1.15;
	case BENCH_str16x2:
		return 1.7;
	case BENCH_stack6:
		return 2.2;
	case BENCH_probe6:
		return 1.25;
	case BENCH_ctr6_8th:
		return 1.5;
	default:
		return 0;
	}
}

struct bench_limit bench_limit_of(const struct bench_row *row)
{
	const struct bench_config *config = &row->config;

	if (bench_crowded(config) || config->entries != LIMITS_ENTRIES || row->event == BENCH_clock)
		return (struct bench_limit){ "", 0, 0 };
	if (row->event == BENCH_gate_off || row->event == BENCH_probe_off)
		return (struct bench_limit){ "ns over empty", 0.35, row->min_ns - row->base_ns };
	return (struct bench_limit){ "x peer", limits_of_event(config, row->event),
				     limits_ratio(row->min_ns, row->base_ns) };
}

struct bench_limit bench_limit_of_processes(const struct bench_row *row)
{
	if (row->threads_ns <= 0 || !bench_n_recorded(row->event) || bench_crowded(&row->config))
		return (struct bench_limit){ "", 0, 0 };
	return (struct bench_limit){ "x 2 threads", 1.05, limits_ratio(row->min_ns, row->threads_ns) };
}

struct bench_limit bench_limit_of_tail(const struct bench_row *row, enum bench_tail tail)
{
	struct bench_limit limit = { tail == BENCH_TAIL_p999 ? "ns over peer, p99.9" : "ns over peer, p99.99", 0,
				     row->tail_ns[tail] - row->tail_base_ns[tail] };

	if (row->config.n_single && (row->event == BENCH_ctr3 || row->event == BENCH_state0 ||
				     (row->event >= BENCH_str5 && row->event <= BENCH_str16x2)))
		limit.limit = tail == BENCH_TAIL_p999 ? 20 : tail == BENCH_TAIL_p9999 ? 100 : 0;
	return limit;
}

struct bench_limit bench_limit_of_cold(const struct bench_row *row, unsigned cold)
{
	static const double ctr3[] = { 1.5, 2, 2 }, state0[] = { 1.6, 2.2, 2.5 };

	if (row->cold_ns[cold] <= 0)
		return (struct bench_limit){ "", 0, 0 };
	if (cold == BENCH_COLDS - 1)
		return (struct bench_limit){ "ns over peer", 80, row->cold_ns[cold] - row->cold_base_ns[cold] };
	return (struct bench_limit){ "x peer", row->event == BENCH_ctr3 ? ctr3[cold] : state0[cold],
				     limits_ratio(row->cold_ns[cold], row->cold_base_ns[cold]) };
}

/* What it pays is calls of the kernel and faults of pages, which cost as much more as all of a start does. */
struct bench_limit bench_limit_of_startup(const struct bench_startup *startup)
{
	return (struct bench_limit){ "x without ktr", 2.5, limits_ratio(startup->min_ns, startup->base_ns) };
}

/* What the lines of the summary are about; rows that say the same are one line. */
struct limits_worst {
	char what[64];
	struct bench_limit limit;
	char where[64];
	unsigned n_rows;
	unsigned n_missed;
};

struct limits_summary {
	struct limits_worst worst[96];
	unsigned n;
};

static void limits_add(struct limits_summary *summary, const char *what, const char *where,
		       struct bench_limit limit)
{
	struct limits_worst *worst = summary->worst;
	unsigned i = 0;

	while (i < summary->n && (strcmp(worst[i].what, what) != 0 || strcmp(worst[i].limit.text, limit.text) != 0))
		i++;
	if (i == sizeof(summary->worst) / sizeof(summary->worst[0]))
		return;
	if (i == summary->n) {
		snprintf(worst[i].what, sizeof(worst[i].what), "%s", what);
		worst[i].n_rows = worst[i].n_missed = 0;
		summary->n++;
	}
	if (!worst[i].n_rows || limit.value > worst[i].limit.value) {
		worst[i].limit = limit;
		snprintf(worst[i].where, sizeof(worst[i].where), "%s", where);
	}
	worst[i].n_rows++;
	worst[i].n_missed += limit.value > limit.limit;
}

static void limits_of_singles(struct limits_summary *summary, const struct bench_row *row, const char *where)
{
	char what[64];

	for (enum bench_tail tail = 0; tail < BENCH_TAILS; tail++)
		if (bench_limit_of_tail(row, tail).limit > 0) {
			snprintf(what, sizeof(what), "single %s", bench_event_name(row->event));
			limits_add(summary, what, where, bench_limit_of_tail(row, tail));
		}
	for (unsigned cold = 0; cold < BENCH_COLDS; cold++)
		if (bench_limit_of_cold(row, cold).limit > 0) {
			snprintf(what, sizeof(what), "%s after %u KiB", bench_event_name(row->event),
				 row->cold_bytes[cold] >> 10);
			limits_add(summary, what, where, bench_limit_of_cold(row, cold));
		}
}

static void limits_of_row(struct limits_summary *summary, const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	const char *path = config->thread_path ? "path without rseq" : "rseq";
	struct bench_limit limit = bench_limit_of(row), processes = bench_limit_of_processes(row);
	char what[64], where[64];

	snprintf(where, sizeof(where), "%s, %u thr x %u proc, %s%s", bench_event_name(row->event), config->n_threads,
		 config->n_processes, config->so ? "so" : "exe", config->thread_path ? ", thread path" : "");
	if (limit.limit > 0 && row->n_counted) {
		if (row->event == BENCH_gate_off || row->event == BENCH_probe_off)
			snprintf(what, sizeof(what), "disabled %s",
				 row->event == BENCH_gate_off ? "gate" : "run-time probe");
		else
			snprintf(what, sizeof(what), "%s, %s%s", bench_event_name(row->event), path,
				 config->so || config->thread_path ? "" : ", static");
		limits_add(summary, what, where, limit);
	}
	if (processes.limit > 0 && row->n_counted) {
		snprintf(what, sizeof(what), "two processes, %s", path);
		limits_add(summary, what, where, processes);
	}
	limits_of_singles(summary, row, where);
}

void bench_limits_print(const struct bench_results *results)
{
	static struct limits_summary summary;

	summary.n = 0;
	for (unsigned i = 0; i < results->n_rows; i++)
		limits_of_row(&summary, &results->rows[i]);
	for (unsigned i = 0; i < results->n_startups; i++)
		limits_add(&summary, "startup", results->startup[i].so ? "so" : "exe",
			   bench_limit_of_startup(&results->startup[i]));
	printf("\nlimits, each with the row that fares worst\n");
	for (unsigned i = 0; i < summary.n; i++) {
		const struct limits_worst *worst = &summary.worst[i];

		printf("%-7s %-34s %8.3f <= %-6.2f %-22s %u of %u rows; worst: %s\n",
		       worst->n_missed ? "MISSED" : "holds", worst->what, worst->limit.value, worst->limit.limit,
		       worst->limit.text, worst->n_rows - worst->n_missed, worst->n_rows, worst->where);
	}
}
