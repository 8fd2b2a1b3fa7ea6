/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver: which configurations are measured, in which order, on which CPUs.
 *
 *	bench [-q] [-j FILE.json] [-m TEXT] [WORKERS]
 *
 * WORKERS is the directory of the worker programs, by default the driver's own. -q takes a tenth of
 * the runs; -m only configurations whose description holds TEXT ("1 thread, exe, rseq").
 */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BENCH_ENTRIES 65536

struct bench_options {
	bool quick;
	const char *json;
	const char *match;
	char workers[PATH_MAX];
};

#define CONFIG(threads, processes, object, path, k)                                              \
	{                                                                                        \
		.n_threads = threads, .n_processes = processes, .so = object, .thread_path = path, \
		.every = k, .entries = BENCH_ENTRIES                                             \
	}

static const struct bench_config bench_configs[] = {
	CONFIG(1, 1, 0, 0, 1), CONFIG(1, 1, 1, 0, 1), CONFIG(2, 1, 0, 0, 1), CONFIG(1, 2, 0, 0, 1),
	CONFIG(2, 1, 1, 0, 1), CONFIG(1, 2, 1, 0, 1), CONFIG(8, 1, 0, 0, 1), CONFIG(8, 1, 1, 0, 1),
	CONFIG(1, 1, 0, 1, 1), CONFIG(1, 1, 1, 1, 1), CONFIG(2, 1, 0, 1, 1), CONFIG(1, 2, 0, 1, 1),
	CONFIG(2, 1, 1, 1, 1), CONFIG(1, 2, 1, 1, 1), CONFIG(8, 1, 0, 1, 1), CONFIG(8, 1, 1, 1, 1),
	CONFIG(1, 1, 0, 0, 8), CONFIG(1, 1, 1, 0, 8), CONFIG(2, 1, 0, 0, 8),
};

#define BENCH_CONFIGS (sizeof(bench_configs) / sizeof(bench_configs[0]))

static void bench_describe(const struct bench_config *config, char *text, size_t size)
{
	snprintf(text, size, "%u %s, %u %s, %s, %s, every %u", config->n_threads,
		 config->n_threads == 1 ? "thread" : "threads", config->n_processes,
		 config->n_processes == 1 ? "process" : "processes", config->so ? "so" : "exe",
		 config->thread_path ? "thread path" : "rseq path", config->every);
}

/* Of hardware threads that share a core, the first. */
static bool bench_cpu_first(int cpu)
{
	char path[96];
	int first = cpu;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	file = fopen(path, "re");
	if (file) {
		if (fscanf(file, "%d", &first) != 1)
			first = cpu;
		fclose(file);
	}
	return first == cpu;
}

/* The last two cores we may use; the first CPU of a machine takes most of its interrupts. */
static int bench_cpus(int32_t *cpu)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (int pass = 0; pass < 2 && n < 2; pass++) {
		n = 0;
		for (int i = CPU_SETSIZE - 1; i >= 0 && n < 2; i--)
			if (CPU_ISSET(i, &set) && (pass || bench_cpu_first(i)))
				cpu[n++] = i;
	}
	if (n == 1)
		cpu[1] = cpu[0];
	return n;
}

static void bench_progress(unsigned at, unsigned n, const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (what)
		fprintf(stderr, "\r\033[K[%u/%u] %s", at + 1, n, what);
	else
		fprintf(stderr, "\r\033[K");
	fflush(stderr);
}

static int bench_configure(struct bench_shared *shared, const struct bench_config *config, bool quick)
{
	struct bench_config *to = &shared->config;

	*to = *config;
	to->reps = (bench_crowded(config) ? 100 : BENCH_REPS_MAX) / BENCH_PASSES;
	to->n_single = bench_n_workers(config) == 1 && config->every == 1 ? 100000 : 0;
	if (quick) {
		to->reps = to->reps < 40 ? 3 : to->reps / 10;
		to->n_single /= 10;
	}
	return bench_cpus(to->cpu) >= 2 || bench_n_workers(config) == 1 ? 0 : -1;
}

/* One pass of one configuration; its samples are kept in *kept between passes. */
static int bench_one(struct bench_shared *shared, int fd, const struct bench_options *options,
		     struct bench_shared *kept, unsigned pass)
{
	*shared = *kept;
	shared->config.pass = pass;
	if (bench_launch(shared, fd, options->workers))
		return -1;
	*kept = *shared;
	return 0;
}

/* Which configurations are wanted and possible? Fills kept[] and returns their number. */
static unsigned bench_choose(const struct bench_options *options, struct bench_shared *kept)
{
	unsigned n = 0;

	for (unsigned i = 0; i < BENCH_CONFIGS; i++) {
		char text[128];

		bench_describe(&bench_configs[i], text, sizeof(text));
		if (options->match && !strstr(text, options->match))
			continue;
		if (bench_configure(&kept[n], &bench_configs[i], options->quick))
			printf("left out, there is one CPU only: %s\n", text);
		else
			n++;
	}
	return n;
}

static int bench_all(const struct bench_options *options, struct bench_shared *kept, unsigned n)
{
	int fd;
	struct bench_shared *shared = bench_launch_map(&fd);

	if (!shared) {
		perror("bench: shared file");
		return -1;
	}
	for (unsigned i = 0; i < n * BENCH_PASSES; i++) {
		char text[128];

		bench_describe(&kept[i % n].config, text, sizeof(text));
		bench_progress(i, n * BENCH_PASSES, text);
		if (bench_one(shared, fd, options, &kept[i % n], i / n)) {
			bench_progress(0, 0, NULL);
			fprintf(stderr, "bench: failed: %s\n", text);
			return -1;
		}
	}
	bench_progress(0, 0, NULL);
	return 0;
}

static int bench_options(int argc, char **argv, struct bench_options *options)
{
	int c;

	while ((c = getopt(argc, argv, "qj:m:")) != -1) {
		if (c == 'q')
			options->quick = true;
		else if (c == 'j')
			options->json = optarg;
		else if (c == 'm')
			options->match = optarg;
		else
			return -1;
	}
	if (argc - optind > 1)
		return -1;
	if (optind < argc)
		return snprintf(options->workers, PATH_MAX, "%s", argv[optind]) < PATH_MAX ? 0 : -1;
	if (readlink("/proc/self/exe", options->workers, PATH_MAX - 1) < 0)
		return -1;
	dirname(options->workers);
	return 0;
}

int main(int argc, char **argv)
{
	static struct bench_row rows[BENCH_CONFIGS * BENCH_EVENTS];
	struct bench_shared *kept = calloc(BENCH_CONFIGS, sizeof(*kept));
	static struct bench_startup startup[BENCH_STARTUPS];
	struct bench_results results = { .rows = rows, .startup = startup, .n_startups = BENCH_STARTUPS };
	struct bench_options options = { 0 };
	unsigned n_configs, n = 0;

	if (bench_options(argc, argv, &options)) {
		fprintf(stderr, "usage: bench [-q] [-j FILE.json] [-m TEXT] [WORKERS]\n");
		return 2;
	}
	if (!kept) {
		perror("bench");
		return 1;
	}
	/* ^C ends the worker; what it leaves behind is then removed as after any failure. */
	signal(SIGINT, SIG_IGN);
	n_configs = bench_choose(&options, kept);
	if (bench_all(&options, kept, n_configs))
		return 1;
	for (unsigned i = 0; i < n_configs; i++)
		n += bench_rows_make(&kept[i], rows + n);
	free(kept);
	bench_rows_pair(rows, n);
	results.n_rows = n;
	if (bench_startup(options.workers, options.quick ? 40 : BENCH_STARTS_MAX, startup))
		return 1;
	bench_print_table(&results);
	return options.json && bench_print_json(&results, options.json) ? 1 : 0;
}
