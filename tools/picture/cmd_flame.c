/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr flame: what spans and stacks had for themselves, and within what.
 */
#include "tools/command.h"
#include "tools/options.h"
#include "tools/pager.h"
#include "tools/walk.h"
#include "analyze/read/reader.h"
#include "analyze/symbols/symbols.h"
#include "visualize/flame/flame_file.h"
#include "visualize/flame/flame_svg.h"
#include "visualize/flame/flame_text.h"
#include "visualize/model/palette.h"
#include "visualize/model/label.h"
#include "visualize/terminal/term.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

struct flame_command {
	struct walk walk, before;
	const char *output, *diff;
	int by_thread, icicle, rate, lines, on_cpu, off_cpu;
	uint64_t width;
	double least;
	enum ktr__flame_format format;
	char command[512];
	struct ktr__flame_pair trees;
	struct ktr__flame_walk side[2];
	struct ktr__colours colours; /* of the trace that is shown */
};

static const struct option_row flame_rows[] = {
	OPTIONS_SOURCE(struct flame_command, walk.find),
	OPTION_TEXT('o', "output", "FILE", struct flame_command, output,
		    "write a picture, FILE.svg, a page, FILE.html, or lines, FILE.folded"),
	OPTION_FLAG(0, "by-thread", struct flame_command, by_thread, "each thread by itself"),
	OPTION_TEXT(0, "diff", "BEFORE", struct flame_command, diff, "compare with that trace: red is more, blue less"),
	OPTION_FLAG(0, "rate", struct flame_command, rate, "with --diff: by what there is in a time, not in all"),
	OPTION_FLAG(0, "lines", struct flame_command, lines, "functions that were inlined are frames, too"),
	OPTION_FLAG(0, "on-cpu", struct flame_command, on_cpu, "of ktr profile --off-cpu: time on the CPU alone,"),
	OPTION_FLAG(0, "off-cpu", struct flame_command, off_cpu, "or off it alone"),
	OPTION_FLAG(0, "icicle", struct flame_command, icicle, "the outermost on top"),
	OPTION_NUMBER(0, "width", "N", struct flame_command, width, 40, 20000,
		      "of the picture, in pixels (1200), or of the terminal"),
	OPTION_PERCENT(0, "least", "PERCENT", struct flame_command, least, 100,
		       "on the terminal, frames below that are only counted (0.5)"),
	OPTIONS_WINDOW(struct flame_command, walk),
	OPTION_FILTER(struct flame_command, walk.filter),
};

static const struct options flame_options = {
	.operands = "[TRACE]",
	.about =
		"Draws a flame graph: of spans (KTR_START, KTR_SCOPE) by the time that they took, or, where the trace\n"
		"has them, of samples (ktr profile) by CPU time, or of stacks (CTRSTACK) by how often; each within what was around it. On the terminal,\n"
		"as a picture, or as a page to look around in with a browser. Without TRACE, ./ktr.out is read.",
	.examples = "ktr flame\n"
		    "ktr flame -o flame.html\n"
		    "ktr flame --by-thread --icicle -o flame.svg\n"
		    "ktr flame --diff before.ktr -o what-changed.svg after.ktr\n"
		    "ktr flame --filter 'class == net' --from 1s --to 2s\n",
	OPTIONS_ROWS(flame_rows),
};

/* What the output's name says. 0, or 2 after a complaint. */
static int flame_check(struct flame_command *c)
{
	const char *command = c->walk.find.command;

	if (c->output != NULL && strcmp(c->output, "-") == 0)
		c->output = NULL;
	c->format = c->output != NULL ? ktr__flame_format(c->output) : KTR__FLAME_TEXT;
	if (c->output != NULL && c->format == KTR__FLAME_TEXT)
		return usage_error(command, "%s: writes .svg, .html and .folded", c->output);
	if (c->format != KTR__FLAME_TEXT && c->least >= 0)
		return usage_error(command, "--least is for the terminal");
	if (c->icicle && c->format != KTR__FLAME_SVG && c->format != KTR__FLAME_PAGE)
		return usage_error(command, "--icicle is of a picture: name one with -o");
	if (c->width > 0 && c->format != KTR__FLAME_SVG && c->format != KTR__FLAME_TEXT)
		return usage_error(command, "--width is of a picture or the terminal");
	if (c->format == KTR__FLAME_SVG && c->width > 0 && c->width < KTR__FLAME_MIN_WIDTH)
		return usage_error(command, "--width: a picture has at least %u pixels", KTR__FLAME_MIN_WIDTH);
	if (c->on_cpu && c->off_cpu)
		return usage_error(command, "--on-cpu or --off-cpu");
	if (c->rate && c->diff == NULL)
		return usage_error(command, "--rate is of a comparison: --diff BEFORE");
	if (c->diff != NULL && c->format == KTR__FLAME_FOLDED)
		return usage_error(command, "--diff is of a picture, a page or the terminal");
	return 0;
}

/* Reads one side, and leaves its walk open. 0, or the exit status after a complaint. */
static int flame_read(struct flame_command *c, unsigned side, struct walk *walk)
{
	struct ktr_sink *sink = &c->side[side].sink;
	struct ktr__symbols *symbols = c->lines ? ktr__reader_symbols(walk->reader) : NULL;
	int rc;

	if (symbols)
		ktr__symbols_want_lines(symbols);
	rc = ktr__flame_walk_begin(&c->side[side], &c->trees, side,
				       c->by_thread ? KTR__FLAME_EACH : KTR__FLAME_MERGED, walk->reader);

	c->side[side].part = c->on_cpu ? KTR__FLAME_ON : c->off_cpu ? KTR__FLAME_OFF : KTR__FLAME_WHOLE;
	if (rc == 0)
		rc = walk_run(walk, &sink, 1);
	/* A source that fails half-way gives what it has; that has been said. */
	if (rc == 0 || walk->partial)
		rc = ktr__flame_walk_end(&c->side[side]);
	return rc == 0 ? 0 : fail(walk->find.command, "not enough memory");
}

static int flame_file(const struct flame_command *c, const struct ktr__flame_view *view)
{
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = ktr__flame_file(view, c->format, c->output, &err);

	return rc == 0 ? 0 : fail_with(c->walk.find.command, &err);
}

static int flame_terminal(const struct flame_command *c, const struct ktr__flame_view *view)
{
	struct ktr__term_options term;

	ktr__term_detect(&term, STDOUT_FILENO, "never");
	if (ktr__flame_print_tree(view, c->width > 0 ? (unsigned)c->width : term.width, term.ascii,
				  c->least >= 0 ? c->least : 0.005, stdout) != 0)
		return fail(c->walk.find.command, "not enough memory");
	return 0;
}

static int flame_show(struct flame_command *c)
{
	uint64_t n_lost = c->walk.n_lost + c->before.n_lost;
	struct ktr__flame_view view;
	int rc = ktr__flame_end(&c->trees.spans);

	if (rc == 0)
		rc = ktr__flame_end(&c->trees.stacks);
	if (rc == 0)
		rc = ktr__flame_end(&c->trees.samples);
	if (rc == 0)
		rc = ktr__flame_view_init(&view, &c->trees, c->side,
					  c->diff == NULL ? KTR__FLAME_ALONE
					  : c->rate       ? KTR__FLAME_RATES
							  : KTR__FLAME_SUMS,
					  c->walk.info, c->command, n_lost);
	if (rc == -ENOENT)
		return fail(c->walk.find.command, "%s", view.frame.note);
	if (rc != 0)
		return fail(c->walk.find.command, "not enough memory");
	view.colours = &c->colours;
	view.icicle = c->icicle;
	view.width = c->width > 0 ? (unsigned)c->width : 1200;
	return c->output != NULL ? flame_file(c, &view) : flame_terminal(c, &view);
}

/* Of both traces, one after the other. */
static int flame_both(struct flame_command *c)
{
	int rc = flame_read(c, 0, &c->walk);

	if (rc == 0 && c->diff != NULL) {
		c->before = (struct walk){ .find.command = c->walk.find.command,
					   .from = c->walk.from,
					   .to = c->walk.to,
					   .filter = c->walk.filter };
		snprintf(c->before.path, sizeof(c->before.path), "%s", c->diff);
		rc = walk_open_path(&c->before);
		if (rc != 0)
			return rc;
		rc = flame_read(c, 1, &c->before);
		if (walk_close(&c->before) && rc == 0)
			rc = 1;
	}
	return rc;
}

static int cmd_flame(int argc, char **argv)
{
	struct flame_command c = { .walk.find.command = argv[0], .least = -1 };
	int rc;

	snprintf(c.command, sizeof(c.command), "%s", argv[0]);
	for (int i = 1; i < argc; i++)
		ktr__label_word(c.command, sizeof(c.command), argv[i]);
	if (!options_parse(&flame_options, argc, argv, &c, &rc))
		return rc;
	rc = flame_check(&c);
	if (rc == 0)
		rc = walk_open(&c.walk, argc, argv);
	if (rc != 0)
		return rc;
	setlocale(LC_CTYPE, "");
	rc = ktr__flame_init(&c.trees.spans) != 0 || ktr__flame_init(&c.trees.stacks) != 0 ||
			     ktr__flame_init(&c.trees.samples) != 0 ||
			     ktr__colours_init(&c.colours, c.walk.reader) != 0
		     ? fail(argv[0], "not enough memory")
		     : flame_both(&c);
	if (rc == 0)
		rc = c.walk.n_events > 0 ? flame_show(&c) : 1;
	ktr__flame_walk_free(&c.side[0]);
	ktr__flame_walk_free(&c.side[1]);
	ktr__flame_free(&c.trees.spans);
	ktr__flame_free(&c.trees.stacks);
	ktr__flame_free(&c.trees.samples);
	ktr__colours_free(&c.colours);
	return walk_close(&c.walk) || rc;
}

COMMAND(flame, "draw what spans and stacks had for themselves: terminal, picture, or page for a browser", cmd_flame);
