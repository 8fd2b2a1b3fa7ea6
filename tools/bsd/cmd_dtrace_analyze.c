/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dtrace-analyze: what the tool of this name of a DTrace-like kernel framework prints, of a session or a trace of
 * ktr. `ktr dump`, `ktr tail` and `ktr report` tell more.
 */
#include "tools/bsd/dtrace_events.h"
#include "tools/bsd/dtrace_json.h"
#include "tools/command.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#define DTRACE_ANALYZE_COUNT   100  /* events */
#define DTRACE_ANALYZE_SECONDS 10   /* of -c */
#define DTRACE_ANALYZE_RECENT  10   /* events that are shown without -v */
#define DTRACE_ANALYZE_WAIT_MS 100  /* of one wait with -c */

struct dtrace_analyze {
	struct find find;
	int verbose, continuous, json;
	uint64_t count, seconds;
	char path[PATH_MAX];
	struct dtrace_events events;
};

static const struct option_row dtrace_analyze_rows[] = {
	OPTION_FLAG('v', "verbose", struct dtrace_analyze, verbose, "show what was asked for, and all events, not ten"),
	OPTION_FLAG('c', "continuous", struct dtrace_analyze, continuous, "show events as they come, from now on"),
	OPTION_NUMBER('n', "count", "N", struct dtrace_analyze, count, 1, UINT32_MAX,
		      "the last N events (100); with -c, end after N"),
	OPTION_NUMBER('t', "timeout", "S", struct dtrace_analyze, seconds, 1, UINT32_MAX, "with -c: end after S seconds (10)"),
	OPTION_FLAG(0, "json", struct dtrace_analyze, json, "print the events as JSON, for dtrace-visualize -f"),
	OPTIONS_SOURCE(struct dtrace_analyze, find),
};

static const struct options dtrace_analyze_options = {
	.operands = "[TRACE]",
	.about = "Analyzes events of probes of <ktr/dtrace.h>, of a trace or a session. Without TRACE, ./ktr.out is\n"
		 "read, or where there is none, the only live session.",
	.examples = "dtrace-analyze\n"
		    "dtrace-analyze -v -n 1000 ktr.out\n"
		    "dtrace-analyze -c -t 60 -p 4711\n"
		    "dtrace-analyze --json -n 1000 > events.json\n",
	OPTIONS_ROWS(dtrace_analyze_rows),
};

/* Seconds, milliseconds and microseconds, as the framework's tool has them. */
static void dtrace_analyze_time(uint64_t ns, char text[32])
{
	snprintf(text, 32, "%" PRIu64 ".%03" PRIu64 ".%03" PRIu64, ns / 1000000000, ns / 1000000 % 1000,
		 ns / 1000 % 1000);
}

static void dtrace_analyze_id(uint32_t id, char text[16])
{
	snprintf(text, 16, id ? "%" PRIu32 : "-", id);
}

static void dtrace_analyze_probes(const struct dtrace_events *events)
{
	printf("\n=== Active Probes ===\n%-4s %-24s %-15s %-8s %-10s\n", "ID", "Name", "Type", "Enabled", "Fires");
	printf("----------------------------------------------------------------\n");
	for (uint32_t i = 0; i < events->n_probes; i++) {
		const struct dtrace_probe_seen *probe = &events->probe[i];
		char id[16], name[DTRACE_NAME + 8];

		dtrace_analyze_id(probe->id, id);
		snprintf(name, sizeof(name), "%-24s", probe->name);
		printf("%-4s ", id);
		print_visible(stdout, name);
		printf(" %-15s %-8s %-10" PRIu64 "\n", dtrace_type_name(probe->type),
		       probe->enabled < 0 ? "?" : probe->enabled ? "yes" : "no", probe->fires);
	}
}

static void dtrace_analyze_head(void)
{
	printf("%-8s %-15s %-20s %-8s %-8s %-8s %s\n", "ProbeID", "Type", "Timestamp", "CPU", "Thread", "Task",
	       "Name");
	printf("--------------------------------------------------------------------------------\n");
}

static void dtrace_analyze_event(const struct dtrace_events *events, const struct dtrace_seen *seen)
{
	const struct dtrace_probe_seen *probe = &events->probe[seen->probe];
	char id[16], at[32];

	dtrace_analyze_id(probe->id, id);
	dtrace_analyze_time(seen->ns, at);
	printf("%-8s %-15s %-20s %-8" PRIu32 " %-8" PRIu32 " %-8" PRIu32 " ", id, dtrace_type_name(probe->type), at,
	       seen->cpu, seen->tid, seen->pid);
	print_visible(stdout, probe->name);
	printf("%s", seen->n_args ? "\n         args:" : "");
	for (uint32_t i = 0; i < seen->n_args; i++)
		printf(" 0x%" PRIx64, seen->arg[i]);
	putchar('\n');
}

static void dtrace_analyze_types(const struct dtrace_events *events)
{
	for (uint32_t type = 1; *dtrace_type_name(type) != 'u'; type++) {
		uint64_t n = 0;

		for (uint32_t i = 0; i < events->n_probes; i++)
			n += events->probe[i].type == type ? events->probe[i].n : 0;
		if (n)
			printf("  %-15s: %" PRIu64 "\n", dtrace_type_name(type), n);
	}
}

static void dtrace_analyze_summary(const struct dtrace_analyze *analyze)
{
	const struct dtrace_events *events = &analyze->events;
	const struct dtrace_seen *last = events->event + events->n - 1;
	size_t n = analyze->verbose || events->n < DTRACE_ANALYZE_RECENT ? events->n : DTRACE_ANALYZE_RECENT;
	char from[32], to[32];

	printf("\n=== DTrace Event Analysis ===\nTotal events: %zu\n", events->n);
	if (events->n_passed)
		printf("Older events, not among them: %" PRIu64 "\n", events->n_passed);
	if (events->n_lost)
		printf("Lost events: %" PRIu64 "\n", events->n_lost);
	if (!events->n) {
		printf("\nNo events to analyze.\n");
		return;
	}
	dtrace_analyze_time(events->event[0].ns, from);
	dtrace_analyze_time(last->ns, to);
	printf("\nTime range: %s to %s\nDuration: %" PRIu64 ".%03" PRIu64 " ms\n\nEvents by type:\n", from, to,
	       (last->ns - events->event[0].ns) / 1000000, (last->ns - events->event[0].ns) / 1000 % 1000);
	dtrace_analyze_types(events);
	if (analyze->continuous)
		return;
	printf("\n=== Recent Events (last %zu) ===\n", n);
	dtrace_analyze_head();
	for (size_t i = events->n - n; i < events->n; i++)
		dtrace_analyze_event(events, &events->event[i]);
}

static uint64_t dtrace_analyze_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* What comes, until the time, the number or the session is over. 0, or 1 after a complaint. */
static int dtrace_analyze_follow(struct dtrace_analyze *analyze, struct ktr_reader *reader)
{
	struct dtrace_events *events = &analyze->events;
	uint64_t now = dtrace_analyze_now(), until = now + analyze->seconds * 1000000000;
	struct ktr_event event;
	int what = KTR_READ_WAIT, rc = 0;

	for (; what != KTR_READ_END && !rc && now < until && (!analyze->count || events->n < analyze->count);
	     now = dtrace_analyze_now()) {
		what = ktr_reader_next(reader, &event);
		if (what < 0)
			return fail_with(analyze->find.command, ktr_reader_error(reader));
		if (what == KTR_READ_LOSS)
			events->n_lost += ktr_reader_loss(reader)->n_events;
		if (what == KTR_READ_WAIT) {
			fflush(stdout);
			rc = ktr_reader_wait(reader, DTRACE_ANALYZE_WAIT_MS) == -EINTR;
		}
		if (what != KTR_READ_EVENT)
			continue;
		what = dtrace_events_add(events, &event);
		if (what < 0)
			return fail(analyze->find.command, "not enough memory");
		if (what && !analyze->json)
			dtrace_analyze_event(events, &events->event[events->n - 1]);
		what = KTR_READ_EVENT;
	}
	return 0;
}

/* 0 or 1 after a complaint. */
static int dtrace_analyze_open(const struct dtrace_analyze *analyze, struct ktr_reader **reader)
{
	struct ktr_reader_options options = { .size = sizeof(options), .follow = analyze->continuous };
	struct ktr_error err = KTR_ERROR_NONE;

	if (analyze->continuous)
		options.from_ns = dtrace_analyze_now();
	return ktr_reader_open(analyze->path, &options, reader, &err) ? fail_with(analyze->find.command, &err) : 0;
}

/* Closes the reader. */
static int dtrace_analyze_read(struct dtrace_analyze *analyze, struct ktr_reader *reader)
{
	int rc;

	if (ktr_reader_info(reader)->kind == KTR_SOURCE_LIVE)
		dtrace_events_session(&analyze->events, analyze->path);
	if (analyze->continuous && !analyze->json) {
		dtrace_analyze_probes(&analyze->events);
		printf("\n=== Events ===\n");
		dtrace_analyze_head();
	}
	rc = analyze->continuous ? dtrace_analyze_follow(analyze, reader) :
				   dtrace_events_read(&analyze->events, analyze->find.command, reader);
	ktr_reader_close(reader);
	return rc;
}

static void dtrace_analyze_begin(const struct dtrace_analyze *analyze)
{
	printf("GNU Mach DTrace Analysis Tool\n==============================\n");
	if (!analyze->verbose)
		return;
	printf("Configuration:\n  Source: ");
	print_visible(stdout, analyze->path);
	printf("\n  Max events: ");
	printf(analyze->count ? "%" PRIu64 : "all", analyze->count);
	printf("\n  Continuous: %s\n", analyze->continuous ? "yes" : "no");
	if (analyze->continuous)
		printf("  Timeout: %" PRIu64 " seconds\n", analyze->seconds);
}

static int cmd_dtrace_analyze(int argc, char **argv)
{
	struct dtrace_analyze analyze = { .find.command = argv[0] };
	struct ktr_reader *reader;
	int rc;

	if (!options_parse(&dtrace_analyze_options, argc, argv, &analyze, &rc))
		return rc;
	if (analyze.seconds && !analyze.continuous)
		return usage_error(argv[0], "-t is for -c");
	if (!analyze.seconds)
		analyze.seconds = DTRACE_ANALYZE_SECONDS;
	if (!analyze.count && !analyze.continuous)
		analyze.count = DTRACE_ANALYZE_COUNT;
	analyze.events.keep = analyze.continuous ? 0 : analyze.count;
	rc = dtrace_source(&analyze.find, argc, argv, analyze.path, sizeof(analyze.path));
	if (!rc)
		rc = dtrace_analyze_open(&analyze, &reader);
	if (rc)
		return rc;
	if (!analyze.json)
		dtrace_analyze_begin(&analyze);
	rc = dtrace_analyze_read(&analyze, reader);
	dtrace_events_end(&analyze.events);
	if (analyze.json) {
		dtrace_json_print(&analyze.events, stdout);
	} else {
		if (!analyze.continuous)
			dtrace_analyze_probes(&analyze.events);
		dtrace_analyze_summary(&analyze);
		printf("\nAnalysis complete.\n");
	}
	dtrace_events_free(&analyze.events);
	return rc;
}

COMMAND_ALONE(dtrace_analyze, "dtrace-analyze", NULL, cmd_dtrace_analyze);
