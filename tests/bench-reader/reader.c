/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast a trace is read.
 *
 *	reader TRACE
 *
 * Each line is one way of reading all of it, in this process and on one core: walked, counted, walked
 * with a filter, counted into a report, printed as text and as JSON to /dev/null; and a thousand seeks to
 * moments in it. commands.c holds the commands against what is asked of them. Rates are in
 * million events per second of CPU time, so that other load disturbs them little; the best of three
 * runs counts. The last line is the most memory that any of it took.
 *
 * A trace of 50 million events comes from: ktr run -e 256K --size 0 -o TRACE -- build/examples/indexer -n 43
 * /usr/include /usr/share/perl /usr/share/perl5
 */
#include "analyze/print/sink_json.h"
#include "analyze/print/sink_text.h"
#include "analyze/stats/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define RUNS	    3
#define SEEKS	    1000
#define JSON_EVENTS 5000000u /* enough: JSON takes long */

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static struct ktr_reader *open_trace(const char *path)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES];
	struct ktr_reader *reader;

	if (ktr_reader_open(path, NULL, &reader, &err)) {
		fprintf(stderr, "reader: %s\n", ktr_error_print(&err, line, sizeof(line)));
		exit(1);
	}
	return reader;
}

/* Walks through all, or through the first `limit` events, with a sink or without. The events. */
static uint64_t walk(struct ktr_reader *reader, struct ktr_sink *sink, uint64_t limit)
{
	struct ktr_event event;
	uint64_t n = 0;
	int what;

	while ((what = ktr_reader_next(reader, &event)) > 0) {
		if (what != KTR_READ_EVENT)
			continue;
		if (sink && sink->event(sink, &event))
			break;
		if (++n == limit)
			break;
	}
	if (what < 0)
		exit(1);
	return n;
}

static uint64_t run_walk(struct ktr_reader *reader)
{
	return walk(reader, NULL, 0);
}

static uint64_t run_count(struct ktr_reader *reader)
{
	uint64_t n = 0;
	int what;

	while ((what = ktr_reader_count(reader, &n)) > 0)
		;
	if (what < 0)
		exit(1);
	return n;
}

static uint64_t run_report(struct ktr_reader *reader)
{
	struct ktr__tally *tally;
	uint64_t n;

	if (ktr__tally_new(&tally, reader, NULL))
		exit(1);
	n = walk(reader, ktr__tally_sink(tally), 0);
	ktr__tally_finish(tally);
	ktr__tally_free(tally);
	return n;
}

static struct ktr__out open_out(void)
{
	struct ktr__out out;

	if (ktr__out_open(&out, open("/dev/null", O_WRONLY | O_CLOEXEC)))
		exit(1);
	return out;
}

static uint64_t run_text(struct ktr_reader *reader)
{
	struct ktr__out out = open_out();
	struct ktr__sink_text text = {
		.out = &out,
		.info = ktr_reader_info(reader),
		.columns = KTR__TEXT_USUAL,
	};
	uint64_t n;

	ktr__sink_text_init(&text);
	n = walk(reader, &text.sink, 0);
	ktr__out_close(&out);
	return n;
}

static uint64_t run_json(struct ktr_reader *reader)
{
	struct ktr__out out = open_out();
	struct ktr__sink_json json = { .out = &out, .reader = reader };
	uint64_t n;

	if (ktr__sink_json_init(&json))
		exit(1);
	n = walk(reader, &json.sink, JSON_EVENTS);
	ktr__sink_json_fini(&json);
	ktr__out_close(&out);
	return n;
}

/* Walks with a filter; the rate is that of the events it looks at. */
static uint64_t run_filter(struct ktr_reader *reader, const char *filter)
{
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t n;

	if (ktr_reader_filter(reader, filter, &err)) {
		fprintf(stderr, "reader: %s: %s\n", filter, err.text);
		exit(1);
	}
	n = run_walk(reader);
	return n + ktr_reader_n_filtered(reader);
}

static const struct {
	const char *name;
	uint64_t (*run)(struct ktr_reader *reader);
	const char *filter;
} ways[] = {
	{ "walk", run_walk, NULL },
	{ "count", run_count, NULL },
	{ "filter: class", NULL, "class == lock" },
	{ "filter: cpu", NULL, "cpu == 0" },
	{ "filter: argument", NULL, "arg0 > 1000" },
	{ "filter: all three", NULL, "class == index|lock and cpu == 0 and arg0 in (3..5, 7)" },
	{ "filter: arithmetic", NULL, "arg0 % 8 == 3" },
	{ "report", run_report, NULL },
	{ "text", run_text, NULL },
	{ "json", run_json, NULL },
};

static void measure(const char *path, unsigned way)
{
	double best = 0;
	uint64_t n = 0;

	for (int i = 0; i < RUNS; i++) {
		double begin = cpu_seconds(), took;
		struct ktr_reader *reader = open_trace(path);

		n = ways[way].run ? ways[way].run(reader) : run_filter(reader, ways[way].filter);
		ktr_reader_close(reader);
		took = cpu_seconds() - begin;
		if (!i || took < best)
			best = took;
	}
	printf("%-18s %12" PRIu64 " events %8.1f million/s\n", ways[way].name, n, (double)n / best / 1e6);
}

static void measure_seeks(const char *path)
{
	struct ktr_reader *reader = open_trace(path);
	const struct ktr_reader_info *info = ktr_reader_info(reader);
	uint64_t step = (info->last_ns - info->first_ns) / SEEKS;
	double begin = cpu_seconds();
	struct ktr_event event;

	for (uint64_t i = 0; i < SEEKS; i++) {
		uint64_t at = info->first_ns + i * 617 % SEEKS * step;

		while (ktr_reader_seek(reader, at) == 0 &&
		       ktr_reader_next(reader, &event) > KTR_READ_EVENT)
			;
		if (event.time_ns < at)
			exit(1);
	}
	printf("%-18s %12d seeks  %8.1f us each\n", "seek", SEEKS,
	       (cpu_seconds() - begin) / SEEKS * 1e6);
	ktr_reader_close(reader);
}

int main(int argc, char **argv)
{
	struct rusage usage;

	if (argc != 2) {
		fprintf(stderr, "usage: reader TRACE\n");
		return 2;
	}
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		measure(argv[1], i);
	measure_seeks(argv[1]);
	getrusage(RUSAGE_SELF, &usage);
	printf("%-18s %12ld KiB\n", "memory", usage.ru_maxrss);
	return 0;
}
