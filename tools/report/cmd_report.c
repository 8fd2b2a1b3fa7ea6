/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr report: what happened, at a glance or as JSON, in one walk and little memory whatever the
 * length of the trace.
 */
#include "analyze/print/json_print.h"
#include "analyze/read/reader.h"
#include "analyze/stats/functions.h"
#include "analyze/stats/samples.h"
#include "analyze/stats/syscalls.h"
#include "tools/command.h"
#include "tools/pager.h"
#include "tools/pair_option.h"
#include "tools/report/report.h"
#include "tools/report/report_names.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "tools/walk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct report_command {
	struct walk walk;
	struct pair_options pairs;
	uint64_t top, n_gaps;
	int json, use_pager, colour, histogram, functions, profile, lines, source, syscalls;
	unsigned width;
	enum colour_when when;
};

static const struct option_row report_rows[] = {
	OPTIONS_SOURCE(struct report_command, walk.find),
	OPTION_NUMBER(0, "top", "N", struct report_command, top, 0, UINT32_MAX, "lines of each table, 10 by default; 0: all"),
	OPTIONS_PAIR(struct report_command, pairs),
	OPTION_NUMBER(0, "gaps", "N", struct report_command, n_gaps, 1, KTR__GAPS_MAX,
		      "the N longest times without an event, overall and of each thread"),
	OPTION_FLAG(0, "histogram", struct report_command, histogram,
		    "below each span, state and pair, how often it lasted how long"),
	OPTION_FLAG(0, "functions", struct report_command, functions,
		    "time by scope and probed function instead: calls, own time, whole time"),
	OPTION_FLAG(0, "profile", struct report_command, profile,
		    "CPU time by thread and function instead, by the samples of ktr profile"),
	OPTION_FLAG(0, "lines", struct report_command, lines,
		    "with --profile: by line of the source, too; inlined functions count by themselves"),
	OPTION_FLAG(0, "source", struct report_command, source,
		    "with --profile: the source itself, with the time of each line beside it"),
	OPTION_FLAG(0, "syscalls", struct report_command, syscalls,
		    "system calls, files, peers and errors instead, of a trace of ktr ktrace -o"),
	OPTION_TEXT(0, "from", "TIME", struct report_command, walk.from,
		    "count from there on: 1.5s, 20ms; -1s counts from the end"),
	OPTION_TEXT(0, "to", "TIME", struct report_command, walk.to, "count up to there"),
	OPTION_FILTER(struct report_command, walk.filter),
	OPTION_FLAG(0, "json", struct report_command, json,
		    "print JSON of schema ktr-report-1; of several traces, one line each"),
	OPTION_COLOUR(struct report_command, when),
	OPTION_SET(0, "no-pager", struct report_command, use_pager, 0, "do not start a pager on a terminal"),
};

static const struct options report_options = {
	.operands = "[TRACE...]",
	.about =
		"Sums up what was recorded: events by class, call site, thread and CPU, losses, how long "
		"spans and states lasted, and the values of counters. Without TRACE, ./ktr.out is read.",
	.examples =
		"ktr report\n"
		"ktr report --top 0 --from 1s --to 2s ktr.out\n"
		"ktr report --pair 'request %u' 'reply %u' --key arg0 --histogram\n"
		"ktr report --functions          where the time of probed functions went\n"
		"ktr report --profile            where CPU time went, after ktr profile\n"
		"ktr report --syscalls           what strace -c counts, and more, after ktr ktrace -o\n"
		"ktr report --pair net.c:40..net.c:77:id --gaps 5\n"
		"ktr report --json before after | jq '.spans[0].p99_ns'\n"
		"ktr report -p 4711              what the rings of a running program hold now\n",
	OPTIONS_ROWS(report_rows),
};

/* Prints what was counted. 0 or 1 after a complaint. */
static int report_print(const struct report_command *c, const struct report *report, FILE *to)
{
	json_t *tree;
	int rc;

	if (!c->json) {
		rc = report_text(report, to);
		return rc || *report->short_of_memory ? fail(c->walk.find.command,
						       "not enough memory: tables are left out")
						: 0;
	}
	tree = report_json(report);
	rc = tree ? ktr__json_print(tree, to, JSON_COMPACT) : -1;
	json_decref(tree);
	fputc('\n', to);
	return rc && !ferror(to) ? fail(c->walk.find.command, "no memory") : 0;
}

/* What looks at the arguments of events: spans, states and counters; pairs by hand; who left a CPU. */
struct report_sinks {
	struct ktr__oncpu oncpu;
	struct ktr__tally *tally;
	struct ktr__functions functions; /* where they are asked for */
	struct ktr__samples samples; /* likewise */
	struct ktr__syscalls syscalls; /* likewise */
	int profile, by_function;
};

static unsigned report_wants(const void *context, const struct ktr_reader_site *site)
{
	const struct report_sinks *sinks = context;

	int wants = site->kind != KTR_KIND_EVENT || sinks->tally->pairs || sinks->oncpu.listens || sinks->profile ||
		    (sinks->by_function && ktr__functions_wants(site));

	return wants ? KTR__READER_ALL_ARGS : 0;
}

/* Reports on the source that the operands name. The exit status. */
static int report_one(struct report_command *c, int argc, char **argv, FILE *to)
{
	struct walk walk = c->walk;
	const struct ktr__tally_options options = { c->pairs.pair, c->pairs.n, (unsigned)c->n_gaps };
	struct ktr_error err = KTR_ERROR_NONE;
	struct report_sinks sinks = { .tally = NULL, .profile = c->profile, .by_function = c->functions };
	int rc = walk_open(&walk, argc, argv), short_of_memory = 0;

	if (rc)
		return rc;
	if (ktr__pairs_check(c->pairs.pair, c->pairs.n, walk.reader, &err)) {
		walk_close(&walk);
		return fail_with(walk.find.command, &err);
	}
	if (ktr__tally_new(&sinks.tally, walk.reader, &options) || ktr__oncpu_init(&sinks.oncpu, walk.reader) ||
	    ktr__reader_wants(walk.reader, report_wants, &sinks) ||
	    (c->functions && ktr__functions_init(&sinks.functions, walk.reader)) ||
	    (c->profile && ktr__samples_init(&sinks.samples, walk.reader))) {
		ktr__samples_free(&sinks.samples);
		ktr__functions_free(&sinks.functions);
		ktr__oncpu_free(&sinks.oncpu);
		ktr__tally_free(sinks.tally);
		walk_close(&walk);
		return fail(walk.find.command, "no memory");
	}
	/* The others look at each event. */
	sinks.samples.wants_lines = c->lines;
	if (c->lines && sinks.samples.symbols)
		ktr__symbols_want_lines(sinks.samples.symbols);
	if (!sinks.oncpu.listens && !c->functions && !c->profile && !c->syscalls)
		ktr__tally_count_only(sinks.tally, walk.reader);
	ktr__syscalls_init(&sinks.syscalls);
	rc = walk_run(&walk,
		      (struct ktr_sink *[]){ ktr__tally_sink(sinks.tally), &sinks.oncpu.sink,
					     c->functions  ? &sinks.functions.sink
					     : c->syscalls ? &sinks.syscalls.sink
							   : &sinks.samples.sink },
		      c->functions || c->profile || c->syscalls ? 3 : 2);
	walk.n_events = sinks.tally->n_events;
	if (!rc)
		rc = ktr__tally_finish(sinks.tally);
	if (!rc && c->functions)
		rc = ktr__functions_finish(&sinks.functions);
	if (!rc && c->syscalls)
		rc = ktr__syscalls_finish(&sinks.syscalls);
	if (!rc && c->profile)
		rc = ktr__samples_finish(&sinks.samples);
	ktr__oncpu_finish(&sinks.oncpu);
	if (rc && !walk.partial)
		fail(walk.find.command, "%s: %s", walk.path, strerror(-rc));
	rc = report_print(c,
			  &(struct report){
				  .reader = walk.reader,
				  .info = walk.info,
				  .tally = sinks.tally,
				  .oncpu = &sinks.oncpu,
				  .functions = c->functions ? &sinks.functions : NULL,
				  .syscalls = c->syscalls ? &sinks.syscalls : NULL,
				  .samples = c->profile ? &sinks.samples : NULL,
				  .pair = c->pairs.pair,
				  .top = (unsigned)c->top,
				  .partial = walk.partial || rc,
				  .width = c->width,
				  .bold = c->colour,
				  .source = c->source,
				  .histogram = c->histogram,
				  .short_of_memory = &short_of_memory,
			  },
			  to) |
	     (rc != 0);
	if (c->functions)
		ktr__functions_free(&sinks.functions);
	if (c->profile)
		ktr__samples_free(&sinks.samples);
	ktr__syscalls_free(&sinks.syscalls);
	ktr__oncpu_free(&sinks.oncpu);
	ktr__tally_free(sinks.tally);
	return walk_close(&walk) | rc;
}

/* Several operands: one report after the other. The worst exit status. */
static int report_all(struct report_command *c, int argc, char **argv, FILE *to)
{
	int first = optind, status = 0;

	if (argc - first < 2)
		return report_one(c, argc, argv, to);
	for (int i = first; i < argc; i++) {
		char *one[] = { argv[0], argv[i], NULL };
		int rc;

		optind = 1;
		rc = report_one(c, 2, one, to);
		if (rc == 2)
			return rc;
		status |= rc;
		if (!c->json && i + 1 < argc)
			fputc('\n', to);
	}
	return status;
}

static int cmd_report(int argc, char **argv)
{
	struct report_command c = { .walk.find.command = argv[0], .top = 10, .use_pager = 1 };
	struct pager pager;
	FILE *to;
	int rc;

	if (!options_parse(&report_options, argc, argv, &c, &rc))
		return rc;
	if (c.source && !c.profile)
		return usage_error(argv[0], "--source is of --profile");
	c.lines |= c.source;
	if (c.lines && !c.profile)
		return usage_error(argv[0], "--lines is of --profile");
	if (c.functions + c.profile + c.syscalls > 1)
		return usage_error(argv[0], "--functions, --profile and --syscalls are reports of their own");
	if (c.json && c.when == COLOUR_ALWAYS)
		return usage_error(argv[0], "--json has no colours");
	c.colour = colour_wanted(c.when);
	c.width = report_names_width();
	pager_open(&pager, c.use_pager && !c.json);
	to = fdopen(dup(pager.fd), "w");
	if (!to)
		return fail(argv[0], "standard output: %s", strerror(errno));
	rc = report_all(&c, argc, argv, to);
	if ((fclose(to) && errno != EPIPE) && !rc)
		rc = fail(argv[0], "standard output: %s", strerror(errno));
	pager_close(&pager);
	return rc;
}

COMMAND(report, "sum up a trace or session: counts, rates, durations", cmd_report);
