/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr diff: what changed between traces of a program, what did not, and what cannot be told. Exit status as
 * diff(1)'s, and one more for what cannot be told.
 */
#include "analyze/print/json_print.h"
#include "tools/command.h"
#include "tools/pager.h"
#include "tools/pair_option.h"
#include "tools/report/diff.h"
#include "tools/report/diff_json.h"
#include "tools/report/diff_runs.h"
#include "tools/report/diff_text.h"
#include "tools/report/report_names.h"
#include "tools/walk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct diff_command {
	struct walk walk; /* options; a copy for each trace */
	struct pair_options pairs;
	struct ktr__diff_options options;
	int json, all, colour;
	enum colour_when when;
};

static const struct option_row diff_rows[] = {
	OPTION_FLAG(0, "all", struct diff_command, all, "also what did not change, and all that cannot be told"),
	OPTION_FLAG(0, "share", struct diff_command, options.share,
		    "call sites by their share of all events, not by events per second"),
	OPTION_PERCENT(0, "least", "PERCENT", struct diff_command, options.least, 1000000,
		       "changes below that are the same (5)"),
	OPTION_PERCENT(0, "risk", "PERCENT", struct diff_command, options.alpha, 50, "that any verdict at all is wrong (5)"),
	OPTIONS_PAIR(struct diff_command, pairs),
	OPTION_TEXT(0, "from", "TIME", struct diff_command, walk.from,
		    "compare from there on, in both: 1.5s, 20ms; -1s counts from the end"),
	OPTION_TEXT(0, "to", "TIME", struct diff_command, walk.to, "up to there"),
	OPTION_FILTER(struct diff_command, walk.filter),
	OPTION_FLAG(0, "json", struct diff_command, json, "print JSON of schema ktr-diff-2"),
	OPTION_COLOUR(struct diff_command, when),
};

static const struct options diff_options = {
	.operands = "A B | A1 A2 ... -- B1 B2 ...",
	.about =
		"Compares two traces of a program, or several runs of each of two builds: how long they took, which\n"
		"spans take longer in B, what comes more often. Says of each whether it changed, is the same, or\n"
		"cannot be told, and then which change would have been seen. Exits with 0 where all is the same, 1\n"
		"where something changed, 2 in trouble, 3 where nothing did as far as can be told.",
	.examples =
		"ktr diff before.ktr after.ktr\n"
		"ktr diff before.1 before.2 before.3 -- after.1 after.2 after.3\n"
		"ktr diff --least 20 --all before.ktr after.ktr\n"
		"ktr diff --pair 'request %u..reply %u:arg0' before.ktr after.ktr\n"
		"ktr diff --json before.ktr after.ktr | jq '.rows[] | select(.verdict == \"more\") | .name'\n",
	OPTIONS_ROWS(diff_rows),
};

static int diff_status(const struct ktr__diff *diff)
{
	if (diff->n_of[KTR__DIFF_MORE] || diff->n_of[KTR__DIFF_LESS])
		return 1;
	return diff->n_of[KTR__DIFF_UNKNOWN] || diff->n_left_out ? DIFF_UNKNOWN : 0;
}

static int diff_print(const struct diff_command *c, const char *command,
		      const struct diff_report *report)
{
	json_t *tree;
	int bad = 0;

	if (!c->json) {
		bad = diff_text(report, stdout) != 0;
	} else {
		tree = diff_json(report);
		bad = !tree || (ktr__json_print(tree, stdout, JSON_COMPACT) && !ferror(stdout));
		json_decref(tree);
		putchar('\n');
	}
	if (fflush(stdout) && errno != EPIPE) {
		fail(command, "standard output: %s", strerror(errno));
		return DIFF_TROUBLE;
	}
	if (bad)
		fail(command, "no memory");
	if (bad)
		return DIFF_TROUBLE;
	return diff_status(report->diff);
}

/*
 * How many of the operands are A's: those before "--", which getopt(3) takes away; of two without it, one. 0 after a
 * complaint.
 */
static unsigned diff_split(int argc, char **argv, int n_behind)
{
	int n = argc - optind, n_a = n - n_behind;

	/* "--" before all operands only ends the options. */
	if (n_behind < 0 || n_a == 0)
		n_a = n == 2 ? 1 : 0;
	if (n_a <= 0 || n_a == n)
		usage_error(argv[0], "wants two traces, or several of each: A1 A2 A3 -- B1 B2 B3");
	else if ((unsigned)n > DIFF_RUNS_MAX)
		usage_error(argv[0], "compares at most %u traces", DIFF_RUNS_MAX);
	else
		return (unsigned)n_a;
	return 0;
}

/* How many words stand after "--"; -1 where there is none. */
static int diff_behind(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return argc - 1 - i;
	return -1;
}

static int diff_all(struct diff_command *c, int argc, char **argv, unsigned n_a)
{
	struct diff_runs runs = { .options = c->walk,
				  .pair = c->pairs.n ? c->pairs.pair : NULL,
				  .compare = c->options };
	struct diff_report report = { .runs = &runs, .all = c->all, .bold = c->colour,
				      .width = report_names_width() };
	char *const *path = argv + optind;
	unsigned n_b = (unsigned)(argc - optind) - n_a;
	int rc = diff_runs_read(&runs, argv[0], path, n_a, n_b);

	report.diff = runs.diff;
	if (!rc)
		rc = diff_print(c, argv[0], &report);
	return diff_runs_close(&runs) ? DIFF_TROUBLE : rc;
}

static int cmd_diff(int argc, char **argv)
{
	struct diff_command c = { .walk.find.command = argv[0],
				  .options = { .alpha = 0.05, .least = 0.05 } };
	int n_behind = diff_behind(argc, argv), rc;
	unsigned n_a;

	if (!options_parse(&diff_options, argc, argv, &c, &rc))
		return rc;
	if (c.json && c.when == COLOUR_ALWAYS)
		return usage_error(argv[0], "--json has no colours");
	if (c.pairs.n > 1)
		return usage_error(argv[0], "one --pair is compared at a time");
	n_a = diff_split(argc, argv, n_behind);
	if (!n_a)
		return 2;
	c.colour = colour_wanted(c.when);
	return diff_all(&c, argc, argv, n_a);
}

COMMAND(diff, "compare traces: what takes longer, what comes more often, what cannot be told",
	cmd_diff);
