/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table and the JSON array, and the targets both of them show. The targets are those of rings of
 * 65,536 entries; they are shown and never change the exit status, because a bench is not a test.
 */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PRINT_ENTRIES 65536

/* A target: value <= limit, where text says what value is. limit 0: there is none for this row. */
struct print_target {
	const char *text;
	double limit;
	double value;
};

static double print_ratio(double ns, double base_ns)
{
	return base_ns > 0 ? ns / base_ns : 0;
}

static struct print_target print_target(const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	struct print_target target = { "", 0, 0 };

	if (row->event == BENCH_clock || bench_crowded(config) || config->entries != PRINT_ENTRIES)
		return target;
	if (config->n_processes == 2) {
		if (row->peer_ns > 0 && row->event >= BENCH_FIRST_RECORDED)
			target = (struct print_target){ "x 2 threads", 1.05,
							print_ratio(row->min_ns, row->peer_ns) };
	} else if (row->event == BENCH_gate_off) {
		target = (struct print_target){ "ns over empty", 0.35, row->min_ns - row->base_ns };
	} else {
		target = (struct print_target){ "x clock", 0, print_ratio(row->min_ns, row->base_ns) };
		if (row->event == BENCH_ctr6)
			target.limit = config->every == 1 ? 1.10 : 0.45;
		else if (row->event == BENCH_str16 && config->every == 1)
			target.limit = 1.15;
	}
	return target;
}

/* Above a bare pair of clock readings. */
static double print_tail_limit(enum bench_tail tail)
{
	return tail == BENCH_TAIL_p999 ? 60 : tail == BENCH_TAIL_p9999 ? 150 : 0;
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
	printf("%s; ns per event, minimum and median of runs; base: the clock loop (gate_off: the empty loop)\n",
	       model);
}

static void print_row(const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	struct print_target target = print_target(row);

	printf("%-9s %3u %4u  %-3s %-6s %5u  %7.2f %7.2f %7.2f %6.3f", bench_event_name(row->event),
	       config->n_threads, config->n_processes, config->so ? "so" : "exe",
	       config->thread_path ? "thread" : "rseq", config->every, row->min_ns, row->median_ns, row->base_ns,
	       print_ratio(row->min_ns, row->base_ns));
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
	bool holds = true;

	printf("%-9s %-3s %-6s", bench_event_name(row->event), config->so ? "so" : "exe",
	       config->thread_path ? "thread" : "rseq");
	for (enum bench_tail i = 0; i < BENCH_TAILS; i++) {
		double over = row->tail_ns[i] - row->tail_base_ns[i];

		printf("  %6.1f %+7.1f", row->tail_ns[i], over);
		if (print_tail_limit(i) > 0 && over > print_tail_limit(i))
			holds = false;
	}
	if (row->event >= BENCH_FIRST_RECORDED)
		printf("  %s", holds ? "holds" : "MISSED");
	printf("\n");
}

void bench_print_table(const struct bench_row *rows, unsigned n)
{
	print_machine();
	printf("\n%-9s %3s %4s  %-3s %-6s %5s  %7s %7s %7s %6s  %s\n", "name", "thr", "proc", "obj", "path",
	       "clock", "min", "median", "base", "ratio", "target");
	for (unsigned i = 0; i < n; i++) {
		if (i && rows[i].event == BENCH_clock)
			printf("\n");
		print_row(&rows[i]);
	}
	printf("\nsingle events, ns, and above a bare pair of clock readings (targets: p99.9 +60, p99.99 +150)\n"
	       "%-9s %-3s %-6s  %14s  %14s  %14s  %14s\n", "name", "obj", "path", "p50", "p99", "p99.9", "p99.99");
	for (unsigned i = 0; i < n; i++)
		if (rows[i].config.n_single)
			print_tail_row(&rows[i]);
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
		fprintf(file, ", \"%s_clock_ns\": %.2f", names[i], row->tail_base_ns[i]);
}

static void print_json_row(FILE *file, const struct bench_row *row)
{
	const struct bench_config *config = &row->config;
	struct print_target target = print_target(row);

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
	if (target.limit > 0)
		fprintf(file, ", \"target\": \"%s\", \"target_value\": %.4f, \"target_max\": %.2f, \"holds\": %s",
			target.text, target.value, target.limit,
			row->n_counted && target.value <= target.limit ? "true" : "false");
	fprintf(file, "}");
}

int bench_print_json(const struct bench_row *rows, unsigned n, const char *path)
{
	FILE *file = fopen(path, "we");
	int failed;

	if (!file) {
		fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	fprintf(file, "[\n");
	for (unsigned i = 0; i < n; i++) {
		print_json_row(file, &rows[i]);
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
