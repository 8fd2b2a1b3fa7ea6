/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is asked of the recorder with rings of 65,536 entries, and which rows keep to it. Limits of ratios are
 * those of one thread, or of each of two, that have a CPU to themselves.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#define LIMITS_ENTRIES 65536

static double limits_ratio(double ns, double base_ns)
{
	return base_ns > 0 ? ns / base_ns : 0;
}

struct bench_limit bench_limit_of(const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	struct bench_limit limit = { "", 0, 0 };

	if (row->event == BENCH_clock || bench_crowded(config) || config->entries != LIMITS_ENTRIES)
		return limit;
	if (config->n_processes == 2) {
		if (row->peer_ns > 0 && row->event >= BENCH_FIRST_RECORDED)
			limit = (struct bench_limit){ "x 2 threads", 1.05,
						      limits_ratio(row->min_ns, row->peer_ns) };
	} else if (row->event == BENCH_gate_off || row->event == BENCH_probe_off) {
		limit = (struct bench_limit){ "ns over empty", 0.35, row->min_ns - row->base_ns };
	} else {
		limit = (struct bench_limit){ "x clock", 0, limits_ratio(row->min_ns, row->base_ns) };
		if (row->event == BENCH_ctr6)
			limit.limit = config->every == 1 ? 1.10 : 0.45;
		else if (row->event == BENCH_str16 && config->every == 1 && !config->thread_path)
			limit.limit = 1.15;
	}
	return limit;
}

struct bench_limit bench_limit_of_tail(const struct bench_row *row, enum bench_tail tail)
{
	struct bench_limit limit = { tail == BENCH_TAIL_p999 ? "ns over a pair, p99.9" : "ns over a pair, p99.99",
				    0,
				     row->tail_ns[tail] - row->tail_base_ns[tail] };

	if (row->config.n_single && row->event >= BENCH_FIRST_RECORDED)
		limit.limit = tail == BENCH_TAIL_p999 ? 60 : tail == BENCH_TAIL_p9999 ? 150 : 0;
	return limit;
}

struct bench_limit bench_limit_of_startup(const struct bench_startup *startup)
{
	return (struct bench_limit){ "ms over without ktr", 1.0, (startup->min_ns - startup->base_ns) / 1e6 };
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
	struct limits_worst worst[32];
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

static void limits_of_row(struct limits_summary *summary, const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	const char *path = config->thread_path ? "path without rseq" : "rseq";
	struct bench_limit limit = bench_limit_of(row);
	char what[64], where[64];

	snprintf(where, sizeof(where), "%s, %u thr x %u proc, %s%s", bench_event_name(row->event), config->n_threads,
		 config->n_processes, config->so ? "so" : "exe", config->thread_path ? ", thread path" : "");
	if (limit.limit > 0 && row->n_counted) {
		if (config->n_processes == 2)
			snprintf(what, sizeof(what), "two processes, %s", path);
		else if (row->event == BENCH_gate_off || row->event == BENCH_probe_off)
			snprintf(what, sizeof(what), "disabled %s",
				 row->event == BENCH_gate_off ? "gate" : "run-time probe");
		else if (config->every > 1)
			snprintf(what, sizeof(what), "%s, clock every %u", bench_event_name(row->event), config->every);
		else
			snprintf(what, sizeof(what), "%s, %s", bench_event_name(row->event), path);
		limits_add(summary, what, where, limit);
	}
	for (enum bench_tail tail = 0; tail < BENCH_TAILS; tail++)
		if (bench_limit_of_tail(row, tail).limit > 0) {
			snprintf(what, sizeof(what), "single events, %s", path);
			limits_add(summary, what, where, bench_limit_of_tail(row, tail));
		}
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
