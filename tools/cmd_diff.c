/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr diff: what changed between two traces of a program, and what is noise. Exit status as diff(1)'s.
 */
#include "tools/command.h"
#include "tools/diff.h"
#include "tools/pager.h"
#include "tools/pair_option.h"
#include "tools/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIFF_TROUBLE 2

enum {
	DIFF_JSON = OPTION_LONG(0),
	DIFF_ALL = OPTION_LONG(1),
	DIFF_LEAST = OPTION_LONG(2),
	DIFF_RISK = OPTION_LONG(3),
	DIFF_SHARE = OPTION_LONG(4),
	DIFF_COLOR = OPTION_LONG(5),
};

static const struct option_row diff_rows[] = {
	{ DIFF_ALL, "all", NULL, "also what did not change" },
	{ DIFF_SHARE, "share", NULL,
	  "call sites by their share of all events, not by events per second" },
	{ DIFF_LEAST, "least", "PERCENT", "tell changes from so much on (5)" },
	{ DIFF_RISK, "risk", "PERCENT", "of telling any change where there is none (1)" },
	PAIR_ROWS,
	{ WALK_FROM, "from", "TIME",
	  "compare from there on, in both: 1.5s, 20ms; -1s counts from the end" },
	{ WALK_TO, "to", "TIME", "up to there" },
	FILTER_ROW,
	{ DIFF_JSON, "json", NULL, "print JSON of schema ktr-diff-1" },
	{ DIFF_COLOR, "color", "WHEN", "always, never or auto (default): on a terminal" },
};

static const struct options diff_options = {
	.operands = "A B",
	.about =
		"Compares two traces of a program: which spans take longer in B, which call sites are passed\n"
		"more often, and whether that is more than noise. Exits with 0 where nothing changed, 1 where\n"
		"something did, 2 in trouble.",
	.examples =
		"ktr diff before.ktr after.ktr\n"
		"ktr diff --least 20 --all before.ktr after.ktr\n"
		"ktr diff --pair 'request %u..reply %u:arg0' before.ktr after.ktr\n"
		"ktr diff --json before.ktr after.ktr | jq '.spans[] | select(.p50.verdict == \"more\") | .name'\n",
	.rows = diff_rows,
	.n_rows = sizeof(diff_rows) / sizeof(diff_rows[0]),
};

struct diff_command {
	struct walk walk; /* options; a copy for each trace */
	struct pair_options pairs;
	struct ktr__diff_options options;
	int json, all, colour;
	enum colour_when when;
};

/* A share in percent, above 0. 0 or 2 after a complaint. */
static int diff_percent(const char *command, const char *what, const char *value, double most,
			double *share)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || *end || !(percent >= 0) || percent > most)
		return usage_error(command, "%s: \"%s\" is no share from 0 to %g percent", what,
				   value, most);
	*share = percent / 100;
	return 0;
}

static int diff_option(struct diff_command *c, int id, const char *value, int argc, char **argv)
{
	int taken = walk_option(&c->walk, id, value);

	if (!taken)
		taken = pair_option(&c->pairs, id, value, argc, argv);
	if (taken)
		return taken < 0 ? 2 : 0;
	switch (id) {
	case DIFF_LEAST:
		return diff_percent(argv[0], "--least", value, 1e6, &c->options.least);
	case DIFF_RISK:
		return diff_percent(argv[0], "--risk", value, 50, &c->options.alpha);
	case DIFF_COLOR:
		return colour_option(argv[0], value, &c->when);
	case DIFF_JSON:
		c->json = 1;
		return 0;
	case DIFF_ALL:
		c->all = 1;
		return 0;
	default:
		c->options.share = 1;
		return 0;
	}
}

/* The time that the blocks divide: the window, as far as the trace goes. */
static void diff_window(const struct walk *walk, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = walk->from_ns > walk->info->first_ns ? walk->from_ns : walk->info->first_ns;
	*to_ns = walk->to_ns < walk->info->last_ns ? walk->to_ns - 1 : walk->info->last_ns;
	if (*to_ns < *from_ns)
		*to_ns = *from_ns;
}

/* Reads one of the traces. 0, with the walk open, or DIFF_TROUBLE after a complaint. */
static int diff_read(struct diff_command *c, char *command, char *path, struct walk *walk,
		     struct ktr__blocks **blocks)
{
	char *argv[] = { command, path, NULL };
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_sink *sink;
	uint64_t from_ns, to_ns;
	int rc;

	*walk = c->walk;
	optind = 1;
	if (walk_open(walk, 2, argv))
		return DIFF_TROUBLE;
	diff_window(walk, &from_ns, &to_ns);
	rc = ktr__pairs_check(c->pairs.pair, c->pairs.n, walk->reader, &err);
	if (rc)
		fail_with(command, &err);
	else
		rc = ktr__blocks_new(blocks, walk->reader, from_ns, to_ns,
				     c->pairs.n ? c->pairs.pair : NULL);
	if (!rc) {
		sink = ktr__blocks_sink(*blocks);
		rc = walk_run(walk, &sink, 1);
	}
	if (!rc)
		rc = ktr__blocks_finish(*blocks);
	if (rc == -ENOMEM)
		fail(command, "no memory");
	if (!rc)
		return 0;
	walk_close(walk);
	ktr__blocks_free(*blocks);
	*blocks = NULL;
	return DIFF_TROUBLE;
}

static int diff_print(const struct diff_command *c, const char *command,
		      const struct diff_report *report)
{
	json_t *tree;
	int bad = 0;

	if (!c->json) {
		diff_text(report, stdout);
	} else {
		tree = diff_json(report);
		bad = !tree || (json_dumpf(tree, stdout, JSON_COMPACT) && !ferror(stdout));
		json_decref(tree);
		putchar('\n');
	}
	if (fflush(stdout) && errno != EPIPE) {
		fail(command, "standard output: %s", strerror(errno));
		return DIFF_TROUBLE;
	}
	if (bad)
		fail(command, "no memory");
	return bad ? DIFF_TROUBLE : report->diff->n_changes != 0;
}

static int diff_compare(struct diff_command *c, char *command, const struct walk *walk,
			struct ktr__blocks *const *blocks)
{
	struct diff_report report = { .info = { walk[0].info, walk[1].info },
				      .all = c->all,
				      .bold = c->colour };
	struct ktr__diff *diff;
	int rc;

	if (ktr__diff_new(&diff, blocks[0], blocks[1], &c->options)) {
		fail(command, "no memory");
		return DIFF_TROUBLE;
	}
	report.diff = diff;
	rc = diff_print(c, command, &report);
	ktr__diff_free(diff);
	return rc;
}

static int diff_both(struct diff_command *c, char **argv, char *const *path)
{
	struct ktr__blocks *blocks[2] = { NULL, NULL };
	struct walk walk[2];
	int n = 0, rc = 0;

	for (; n < 2 && !rc; n += !rc)
		rc = diff_read(c, argv[0], path[n], &walk[n], &blocks[n]);
	if (!rc)
		rc = diff_compare(c, argv[0], walk, blocks);
	while (n-- > 0) {
		int is_empty = !walk[n].n_events;

		ktr__blocks_free(blocks[n]);
		/* What is not all there cannot be called the same, nor can what is not there at all. */
		rc = walk_close(&walk[n]) || is_empty ? DIFF_TROUBLE : rc;
	}
	return rc;
}

static int cmd_diff(int argc, char **argv)
{
	struct diff_command c = { .walk.find.command = argv[0],
				  .options = { .alpha = 0.01, .least = 0.05 } };
	const char *value;
	int id, rc = 0;

	while ((id = options_next(&diff_options, argc, argv, &value)) > 0 && !rc)
		rc = diff_option(&c, id, value, argc, argv);
	if (id < 0 || rc)
		return rc ? rc : options_status(id);
	if (c.json && c.when == COLOUR_ALWAYS)
		return usage_error(argv[0], "--json has no colours");
	if (c.pairs.n > 1)
		return usage_error(argv[0], "one --pair is compared at a time");
	if (argc - optind != 2)
		return usage_error(argv[0], "wants two traces");
	c.colour = colour_wanted(c.when);
	return diff_both(&c, argv, argv + optind);
}

COMMAND(diff, "compare two traces: what takes longer, what comes more often, what is noise",
	cmd_diff);
