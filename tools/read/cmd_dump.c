/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr dump: the events of a trace or session as text, oldest first.
 *
 * Events that were lost show as a line where they are missing.
 */
#include "ktr/session/drop.h"
#include "tools/command.h"
#include "tools/read/dump_calls.h"
#include "tools/read/export_walk.h"
#include "tools/read/text_options.h"
#include "tools/walk.h"

#include <inttypes.h>
#include <stdio.h>

struct dump {
	struct walk walk;
	struct text_options options;
	struct ktr__sink_text text;
	struct output to;
	int use_pager, csv, count, calls;
	const char *output;
};

static const struct option_row dump_rows[] = {
	OPTIONS_WALK(struct dump, walk),
	OPTIONS_TEXT(struct dump, options),
	OPTION_TEXT('o', "output", "FILE", struct dump, output, "write to FILE"),
	OPTION_THREADS(struct dump, walk),
	OPTION_FLAG(0, "csv", struct dump, csv, "as a table with a head, as of ktr export csv"),
	OPTION_FLAG(0, "calls", struct dump, calls, "scopes and probed functions as nested calls, with how long each took"),
	OPTION_FLAG(0, "count", struct dump, count, "print how many events there are, and nothing of them"),
	OPTION_SET(0, "no-pager", struct dump, use_pager, 0, "do not start a pager on a terminal"),
};

static const struct options dump_options = {
	.operands = "[TRACE]",
	.about = "Prints the events of a trace, or of a session that lives or has died, as text. "
		 "Without TRACE, ./ktr.out is read.",
	.examples = "ktr dump\n"
		    "ktr dump -p 4711 -n 100         the last 100 events of a running program\n"
		    "ktr dump --from 1.5s --to 1.6s --time utc\n"
		    "ktr dump -R -tcH                newest first, three columns\n"
		    "ktr dump --calls --from 1.5s    what was called, and how long it took\n"
		    "ktr dump --csv --filter 'class == net' -o net.csv\n"
		    "ktr dump --count --from 1s --to 2s\n",
	OPTIONS_ROWS(dump_rows),
};

/* A number for the next program; what was lost is not in it, and is told. */
static int dump_count(struct dump *dump)
{
	int rc = walk_total(&dump->walk);
	uint64_t n_lost = dump->walk.n_lost + ktr__dropped_sum(dump->walk.info->n_dropped);

	ktr__out_number(&dump->to.out, dump->walk.n_events, 0, ' ');
	ktr__out_char(&dump->to.out, '\n');
	if (n_lost)
		fprintf(stderr, "%s: %" PRIu64 " more were lost\n", dump->walk.find.command, n_lost);
	return rc < 0;
}

/* *printed: how printing failed, which is not told yet. */
static int dump_run(struct dump *dump, int *printed)
{
	int rc;

	if (dump->count)
		return dump_count(dump);
	if (dump->calls)
		return dump_calls(&dump->walk, &dump->to.out, !dump->options.no_header);
	text_begin(&dump->options, &dump->text, &dump->to.out, dump->walk.reader);
	rc = walk_print(&dump->walk, &ktr__sink_text_trade, &dump->text, &dump->text.sink, printed);
	return rc < 0 && !*printed && !dump->to.out.error;
}

/* Options that exclude each other. 0, or 2 after a complaint. */
static int dump_check(struct dump *dump)
{
	const char *command = dump->walk.find.command;
	int columns = dump->options.columns || dump->options.more;

	if (dump->csv && columns)
		return usage_error(command, "--csv has columns of its own");
	if (dump->calls && (columns || dump->csv || dump->count || dump->walk.reverse || dump->options.raw))
		return usage_error(command, "--calls has a form of its own: no columns, --csv, --count, -R or --raw");
	if (dump->count && (columns || dump->csv || dump->walk.n_last || dump->walk.n_head))
		return usage_error(command, "--count prints one number: no -n, --head, columns or --csv");
	if (!dump->count)
		return 0;
	dump->use_pager = 0;
	dump->walk.reverse = 0;
	return 0;
}

static int cmd_dump(int argc, char **argv)
{
	struct dump dump = { .walk.find.command = argv[0], .use_pager = 1 };
	int rc, printed = 0;

	if (!options_parse(&dump_options, argc, argv, &dump, &rc))
		return rc;
	rc = dump_check(&dump);
	if (rc)
		return rc;
	rc = walk_open(&dump.walk, argc, argv);
	if (rc)
		return rc;
	if (dump.csv)
		return export_walk(&dump.walk, ktr__export_find("csv"), dump.output ? dump.output : "-");
	dump.text.colour = dump.output ? dump.options.colour == COLOUR_ALWAYS : colour_wanted(dump.options.colour);
	rc = output_open(&dump.to, argv[0], dump.output, dump.use_pager && !dump.walk.n_head);
	if (!rc) {
		rc = dump_run(&dump, &printed);
		rc |= output_close(&dump.to, printed);
	}
	return walk_close(&dump.walk) | rc;
}

COMMAND(dump, "print the events of a trace or session as text", cmd_dump);
