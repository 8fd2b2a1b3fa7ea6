/* SPDX-License-Identifier: BSD-2-Clause */
/* The table and the JSON array. Limits are shown and never change the exit status: a bench is not a test. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static double print_ratio(double ns, double base_ns)
{
	return base_ns > 0 ? ns / base_ns : 0;
}

static void print_machine(void)
{
	char line[256], model[128] = "unknown CPU";
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "model name : %127[^\n]", model) == 1)
			break;
	if (file)
		fclose(file);
	printf("%s; ns per event, minimum and median of runs\n"
	       "base: what it is compared with, of peers the clock, of what is off the empty loop, otherwise the peer\n"
	       "(tests/bench/peer.h) with the same arguments; x clock: a loop that reads the session's clock\n", model);
}

static void print_row(const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	struct bench_limit target = bench_limit_of(row);

	printf("%-13s %3u %4u  %-3s %-6s %5u  %7.2f %7.2f %7.2f %6.3f %7.3f", bench_event_name(row->event),
	       config->n_threads, config->n_processes, config->so ? "so" : "exe",
	       config->thread_path ? "thread" : "rseq", config->every, row->min_ns, row->median_ns, row->base_ns,
	       print_ratio(row->min_ns, row->base_ns), print_ratio(row->min_ns, row->clock_ns));
	if (!row->n_counted)
		printf("  never ran side by side");
	else if (target.limit > 0)
		printf("  %5.3f <= %.2f %-13s %s", target.value, target.limit, target.text,
		       target.value <= target.limit ? "holds" : "MISSED");
	printf("\n");
}

static void print_tail_row(const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	bool holds = true, asked = false;

	printf("%-13s %-3s %-6s", bench_event_name(row->event), config->so ? "so" : "exe",
	       config->thread_path ? "thread" : "rseq");
	for (enum bench_tail i = 0; i < BENCH_TAILS; i++) {
		double over = row->tail_ns[i] - row->tail_base_ns[i];

		printf("  %6.1f %+7.1f", row->tail_ns[i], over);
		asked |= bench_limit_of_tail(row, i).limit > 0;
		if (bench_limit_of_tail(row, i).limit > 0 && over > bench_limit_of_tail(row, i).limit)
			holds = false;
	}
	if (asked)
		printf("  %s", holds ? "holds" : "MISSED");
	printf("\n");
}

static void print_cold_row(const struct bench_row *row)
{
	const struct bench_config *config = &row->config;

	for (unsigned i = 0; i < BENCH_COLDS; i++) {
		struct bench_limit limit = bench_limit_of_cold(row, i);

		if (limit.limit > 0)
			printf("%-13s %-3s %-6s %6u KiB  %7.1f %7.1f  %7.3f <= %-5.2f %-13s %s\n",
			       bench_event_name(row->event), config->so ? "so" : "exe",
			       config->thread_path ? "thread" : "rseq", row->cold_bytes[i] >> 10, row->cold_ns[i],
			       row->cold_base_ns[i], limit.value, limit.limit, limit.text,
			       limit.value <= limit.limit ? "holds" : "MISSED");
	}
}

static void print_startup(const struct bench_startup *startup)
{
	struct bench_limit limit = bench_limit_of_startup(startup);

	printf("%-9s %-3s  %8.3f %8.3f  %8.3f %8.3f  %+6.3f  %.3f <= %.2f  %s  %s\n", "startup",
	       startup->so ? "so" : "exe", startup->min_ns / 1e6, startup->median_ns / 1e6, startup->base_ns / 1e6,
	       startup->base_median_ns / 1e6, (startup->min_ns - startup->base_ns) / 1e6, limit.value, limit.limit,
	       limit.text, limit.value <= limit.limit ? "holds" : "MISSED");
}

void bench_print_table(const struct bench_results *results)
{
	const struct bench_row *rows = results->rows;

	print_machine();
	printf("\n%-13s %3s %4s  %-3s %-6s %5s  %7s %7s %7s %6s %7s  %s\n", "name", "thr", "proc", "obj", "path",
	       "clock", "min", "median", "base", "ratio", "x clock", "limit");
	for (unsigned i = 0; i < results->n_rows; i++) {
		if (i && rows[i].event == BENCH_clock)
			printf("\n");
		print_row(&rows[i]);
	}
	printf("\nsingle events, ns, and above the peer's (others: above a bare pair of clock readings)\n"
	       "%-13s %-3s %-6s  %14s  %14s  %14s  %14s\n", "name", "obj", "path", "p50", "p99", "p99.9", "p99.99");
	for (unsigned i = 0; i < results->n_rows; i++)
		if (rows[i].config.n_single)
			print_tail_row(&rows[i]);
	printf("\nsingle events after so much was read, ns above a pair of clock readings, means of nine in ten\n"
	       "%-13s %-3s %-6s %10s  %7s %7s\n", "name", "obj", "path", "read", "event", "peer");
	for (unsigned i = 0; i < results->n_rows; i++)
		print_cold_row(&rows[i]);
	printf("\na program that does nothing, ms: linked with ktr, no mask set, and without ktr\n"
	       "%-9s %-3s  %8s %8s  %8s %8s  %6s\n", "name", "obj", "min", "median", "without", "median", "more");
	for (unsigned i = 0; i < results->n_startups; i++)
		print_startup(&results->startup[i]);
	bench_limits_print(results);
}

static void print_json_tail(FILE *file, const struct bench_row *row)
{
	static const char *const names[BENCH_TAILS] = {
#define PRINT_NAME(name, share) #name,
		BENCH_TAIL_LIST(PRINT_NAME)
#undef PRINT_NAME
	};

	for (int i = 0; i < BENCH_TAILS; i++)
		fprintf(file, ", \"%s_ns\": %.2f", names[i], row->tail_ns[i]);
	for (int i = 0; i < BENCH_TAILS; i++)
		fprintf(file, ", \"%s_base_ns\": %.2f", names[i], row->tail_base_ns[i]);
}

static void print_json_cold(FILE *file, const struct bench_row *row)
{
	for (unsigned i = 0; i < BENCH_COLDS; i++)
		if (row->cold_bytes[i])
			fprintf(file, ", \"cold_%u_ns\": %.2f, \"cold_%u_peer_ns\": %.2f", row->cold_bytes[i] >> 10,
				row->cold_ns[i], row->cold_bytes[i] >> 10, row->cold_base_ns[i]);
}

static void print_json_row(FILE *file, const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	struct bench_limit target = bench_limit_of(row);

	fprintf(file,
		"{\"name\": \"%s\", \"threads\": %u, \"processes\": %u, \"object\": \"%s\", \"path\": \"%s\", "
		"\"clock_mode\": \"every%u\", \"entries\": %u, \"runs\": %u, \"min_ns\": %.4f, "
		"\"median_ns\": %.4f, \"base_ns\": %.4f, \"ratio_min\": %.4f",
		bench_event_name(row->event), config->n_threads, config->n_processes,
		config->so ? "so" : "exe", config->thread_path ? "thread" : "rseq", config->every,
		config->entries, row->n_counted, row->min_ns, row->median_ns, row->base_ns,
		print_ratio(row->min_ns, row->clock_ns));
	if (config->n_single)
		print_json_tail(file, row);
	print_json_cold(file, row);
	if (target.limit > 0)
		fprintf(file, ", \"target\": \"%s\", \"target_value\": %.4f, \"target_max\": %.2f, \"holds\": %s",
			target.text, target.value, target.limit,
			row->n_counted && target.value <= target.limit ? "true" : "false");
	fprintf(file, "}");
}

static void print_json_startup(FILE *file, const struct bench_startup *startup)
{
	struct bench_limit limit = bench_limit_of_startup(startup);

	fprintf(file,
		"{\"name\": \"startup\", \"threads\": 1, \"processes\": 1, \"object\": \"%s\", \"path\": \"rseq\", "
		"\"clock_mode\": \"every1\", \"entries\": 0, \"runs\": %u, \"min_ns\": %.0f, \"median_ns\": %.0f, "
		"\"base_ns\": %.0f, \"base_median_ns\": %.0f, \"ratio_min\": %.4f, \"target\": \"%s\", "
		"\"target_value\": %.4f, \"target_max\": %.2f, \"holds\": %s}",
		startup->so ? "so" : "exe", startup->n_runs, startup->min_ns, startup->median_ns,
		startup->base_ns, startup->base_median_ns, print_ratio(startup->min_ns, startup->base_ns),
		limit.text, limit.value, limit.limit, limit.value <= limit.limit ? "true" : "false");
}

int bench_print_json(const struct bench_results *results, const char *path)
{
	unsigned n = results->n_rows + results->n_startups;
	FILE *file = fopen(path, "we");
	int failed;

	if (!file) {
		fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	fprintf(file, "[\n");
	for (unsigned i = 0; i < n; i++) {
		if (i < results->n_rows)
			print_json_row(file, &results->rows[i]);
		else
			print_json_startup(file, &results->startup[i - results->n_rows]);
		fprintf(file, i + 1 < n ? ",\n" : "\n");
	}
	fprintf(file, "]\n");
	failed = ferror(file);
	if (fclose(file) != 0 || failed) {
		fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}
