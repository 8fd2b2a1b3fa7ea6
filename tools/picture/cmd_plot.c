/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr plot: charts of a trace by gnuplot.
 */
#include "analyze/derive/derive.h"
#include "analyze/read/reader.h"
#include "tools/command.h"
#include "tools/notes.h"
#include "tools/pair_option.h"
#include "tools/picture/picture.h"
#include "tools/picture/plot_verdict.h"
#include "tools/progress.h"
#include "visualize/chart/plot.h"
#include "visualize/chart/plots.h"
#include "visualize/model/palette.h"
#include "visualize/model/label.h"
#include "visualize/terminal/term.h"

#include <ktr/conf.h>
#include <ktr/reader.h>

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct plot_command {
	struct picture picture;
	struct ktr__plot_options options;
	struct pair_options pairs;
	const struct ktr__plot_kind *kind;
	char file[64]; /* where none was given */
	struct notes notes;
	struct ktr__colours colours; /* of the first trace */
	struct ktr__derive *derive; /* owned: the chart refers to its sites; NULL: there is none */
};

static const struct option_row plot_rows[] = {
	OPTIONS_PICTURE(struct plot_command, picture),
	OPTION_TEXT('o', "output", "FILE", struct plot_command, picture.output,
		    "FILE.png, .svg, .pdf, .gp (a script), or - (text); else KIND.png"),
	OPTION_TEXT('g', "group", "GROUP", struct plot_command, options.group,
		    "only rows of this group; * and ? match"),
	OPTION_TEXT(0, "span", "NAME", struct plot_command, options.span,
		    "time spans of this group or id, or a state of this name"),
	OPTIONS_PAIR(struct plot_command, pairs),
	OPTION_TEXT(0, "site", "SITE", struct plot_command, options.site,
		    "only events of a site: file.c:42, or a part of its format"),
	OPTION_TEXT(0, "y", "NAME", struct plot_command, options.y, "scatter: the argument to draw"),
	OPTION_TEXT(0, "x", "NAME", struct plot_command, options.x, "scatter: the argument to draw it against (time)"),
};

static const char *plot_names(unsigned i, const char **help)
{
	*help = i ? ktr__plot_kinds[i - 1] ? ktr__plot_kinds[i - 1]->help : NULL : "what kinds there are";
	return !i ? "list" : ktr__plot_kinds[i - 1] ? ktr__plot_kinds[i - 1]->name : NULL;
}

static const struct options plot_options = {
	.first = plot_names,
	.operands = "KIND [TRACE [TRACE]]",
	.about =
		"Draws a chart; `ktr plot list` lists the kinds. Without TRACE, ./ktr.out is read.",
	.examples = "ktr plot list\n"
		    "ktr plot latency --span 'lock wait' -o latency.png\n"
		    "ktr plot latency --pair shard.c:141 shard.c:163 --key arg0 -o held.png\n"
		    "ktr plot states --group worker -o states.svg\n"
		    "ktr plot scatter --site shard.c:120 --y words -o words.gp\n"
		    "ktr plot compare before.ktr after.ktr --span 'lock wait' -o compare.png\n",
	OPTIONS_ROWS(plot_rows),
};

/* Was an option given that says what is drawn? Each kind takes some of them. */
static int plot_chosen(const struct plot_command *c, const struct option_row *row)
{
	size_t first = offsetof(struct plot_command, options);

	if (row->kind != OPTION_KIND_TEXT || row->at < first || row->at >= first + sizeof(c->options))
		return 0;
	return *(const char *const *)(const void *)((const char *)c + row->at) != NULL;
}

/* A kind's line of help names the options that it takes; any other would have no effect. */
static int plot_check_options(struct plot_command *c)
{
	char name[16];

	for (unsigned i = 0; i < plot_options.n_rows; i++) {
		snprintf(name, sizeof(name), "--%s", plot_rows[i].name);
		if (plot_chosen(c, &plot_rows[i]) && strstr(c->kind->help, name) == NULL)
			return usage_error(c->picture.find.command, "%s does not take %s: %s",
					   c->kind->name, name, c->kind->help);
	}
	if (c->pairs.n > 0 && strstr(c->kind->help, "--pair") == NULL)
		return usage_error(c->picture.find.command, "%s does not take --pair: %s",
				   c->kind->name, c->kind->help);
	if (c->pairs.n > 1)
		return usage_error(c->picture.find.command, "one --pair is drawn at a time");
	c->options.pair = c->pairs.n > 0 ? c->pairs.pair : NULL;
	if (c->options.span != NULL && c->options.pair != NULL)
		return usage_error(c->picture.find.command, "--span and --pair exclude each other");
	return 0;
}

static int plot_list(void)
{
	for (unsigned i = 0; ktr__plot_kinds[i] != NULL; i++)
		printf("%-10s %s\n", ktr__plot_kinds[i]->name, ktr__plot_kinds[i]->help);
	return 0;
}

/* Finds the kind that the first operand names. */
static int plot_find(struct plot_command *c, int argc, char **argv)
{
	const char *names[16], *name, *nearest;
	size_t n = 0;

	if (optind == argc)
		return usage_error(argv[0], "which kind? `ktr plot list` lists them");
	name = argv[optind];
	c->kind = ktr__plot_find(name);
	if (c->kind != NULL)
		return 0;
	for (; ktr__plot_kinds[n] != NULL && n < 16; n++)
		names[n] = ktr__plot_kinds[n]->name;
	nearest = ktr_nearest_of(name, names, n);
	if (nearest != NULL)
		return usage_error(argv[0], "there is no kind \"%s\"; did you mean %s?", name,
				   nearest);
	return usage_error(argv[0], "there is no kind \"%s\"; `ktr plot list` lists them", name);
}

/*
 * Sets the filter that was given. Where all of the trace is drawn, the reader passes over what the chart
 * has no use for.
 */
static int plot_filter(const struct plot_command *c, const struct ktr__plot *plot,
		       struct ktr_reader *reader, int derives)
{
	const char *useful = plot->options.pair != NULL ? NULL : plot->kind->filter;

	if (useful != NULL && !derives && c->picture.filter == NULL && c->picture.from == NULL &&
	    c->picture.to == NULL && c->picture.around == NULL)
		return filter_use(c->picture.find.command, reader, useful);
	return filter_use(c->picture.find.command, reader, c->picture.filter);
}

struct plot_wanted {
	const struct ktr__plot *plot;
	struct ktr__derive *derive; /* NULL: there are no rows */
};

static unsigned plot_wants(const void *context, const struct ktr_reader_site *site)
{
	const struct plot_wanted *wanted = context;

	if (wanted->derive != NULL && ktr__derive_wants(wanted->derive, site))
		return KTR__READER_ALL_ARGS;
	return ktr__plot_wants(wanted->plot, site);
}

/* Makes a plot and its reader ready for the walk. */
static int plot_open(struct plot_command *c, struct ktr__plot *plot, struct ktr_reader *reader)
{
	struct ktr__plot_options o = c->options;
	struct ktr_error err = KTR_ERROR_NONE;
	struct plot_wanted wanted = { plot, NULL };
	int rc;

	rc = picture_window(&c->picture, ktr_reader_info(reader), &o.from_ns, &o.to_ns);
	if (rc != 0)
		return rc;
	if (ktr__pairs_check(c->pairs.pair, c->pairs.n, reader, &err) != 0)
		return fail_with(c->picture.find.command, &err);
	rc = ktr__plot_init(plot, c->kind, ktr_reader_info(reader), &o, &err);
	if (rc != 0)
		return err.code == EINVAL ? usage_error(c->picture.find.command, "%s", err.text)
					  : fail_with(c->picture.find.command, &err);
	/* What has rows has those of locks and memory, too. */
	if ((plot->kind == &ktr__plot_states || plot->kind == &ktr__plot_counters) &&
	    ktr__derive_new(&c->derive, reader, &plot->sink, 0) != 0)
		return fail(c->picture.find.command, "not enough memory");
	wanted.derive = c->derive;
	rc = plot_filter(c, plot, reader, c->derive != NULL);
	if (rc != 0)
		return rc;
	if (ktr__reader_wants(reader, plot_wants, &wanted) != 0)
		return fail(c->picture.find.command, "not enough memory");
	return 0;
}

/* Feeds a plot with its trace. */
static int plot_walk(struct plot_command *c, struct ktr__plot *plot, struct ktr_reader *reader)
{
	struct ktr_sink *sinks[] = { &plot->sink, &c->notes.sink };
	int rc;

	if (c->derive != NULL)
		sinks[0] = ktr__derive_sink(c->derive);
	progress_watch(c->picture.find.command, reader, plot->options.from_ns, plot->options.to_ns);
	rc = ktr_reader_walk(reader, sinks, 2);
	if (c->picture.filter == NULL)
		plot->n_events += ktr_reader_n_filtered(reader);
	if (rc == 0)
		return 0;
	if (rc == -ENOMEM)
		return fail(c->picture.find.command, "not enough memory");
	return fail_with(c->picture.find.command, ktr_reader_error(reader));
}

/* Has what ktr diff says be found out. Around a moment there is nothing that it would say. */
static void plot_compare(struct plot_command *c, struct plot_verdict *verdict, char paths[2][PATH_MAX])
{
	if (c->kind->n_traces < 2 || c->picture.around != NULL)
		return;
	verdict->path = paths;
	verdict->runs.options.find.command = c->picture.find.command;
	verdict->runs.options.from = c->picture.from;
	verdict->runs.options.to = c->picture.to;
	verdict->runs.options.filter = c->picture.filter;
	verdict->runs.pair = c->options.pair;
	plot_verdict_begin(verdict);
}

/* Reads what the plots need, then draws the first, which knows of the second. */
static int plot_run(struct plot_command *c, char paths[2][PATH_MAX])
{
	struct ktr_reader *reader[2] = { NULL, NULL };
	struct ktr__plot plot[2];
	struct ktr_error err = KTR_ERROR_NONE;
	struct plot_verdict verdict = { .rc = 0 };
	unsigned n = 0;
	int rc = 0;

	memset(plot, 0, sizeof(plot));
	c->options.colours = &c->colours;
	notes_init(&c->notes);
	progress_expect(c->kind->n_traces);
	for (; n < c->kind->n_traces && rc == 0; n++) {
		if (ktr_reader_open(paths[n], NULL, &reader[n], &err) != 0)
			rc = fail_with(c->picture.find.command, &err);
		else if (n == 0 && ktr__colours_init(&c->colours, reader[n]) != 0)
			rc = fail(c->picture.find.command, "not enough memory");
		else
			rc = plot_open(c, &plot[n], reader[n]);
	}
	plot[0].other = n == 2 ? &plot[1] : NULL;
	if (rc == 0)
		plot_compare(c, &verdict, paths);
	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = plot_walk(c, &plot[i], reader[i]);
	if (rc == 0 && verdict.path != NULL) {
		rc = plot_verdict_end(&verdict);
		plot[0].verdict = plot_verdict_words;
		plot[0].verdict_context = &verdict;
	}
	if (c->options.file != NULL && strcmp(c->options.file, "-") != 0)
		progress_phase(c->picture.find.command, "drawing");
	else
		progress_end();
	if (rc == 0 && ktr__plot_draw(&plot[0], &err) != 0) {
		progress_wipe();
		rc = fail_with(c->picture.find.command, &err);
		if (err.code == ENODATA && c->picture.filter != NULL)
			filter_tell(c->picture.find.command, reader[0]);
	}
	progress_end();
	if (notes_tell(&c->notes, c->picture.find.command) && rc == 0)
		rc = 1;
	for (unsigned i = 0; i < 2; i++) {
		ktr__plot_free(&plot[i]);
		ktr_reader_close(reader[i]);
	}
	ktr__derive_free(c->derive);
	ktr__colours_free(&c->colours);
	plot_verdict_free(&verdict);
	return rc;
}

/* One trace, or two: both are operands then. */
static int plot_sources(struct plot_command *c, int argc, char **argv, char paths[2][PATH_MAX])
{
	if (c->kind->n_traces == 1)
		return find_source(&c->picture.find, argc, argv, 1, paths[0], PATH_MAX);
	if (c->picture.find.pid != 0 || c->picture.find.session != NULL)
		return usage_error(argv[0], "%s wants two traces, and no -p or -s", c->kind->name);
	if (argc - optind != 3)
		return usage_error(argv[0], "%s wants two traces", c->kind->name);
	for (int i = 0; i < 2; i++)
		snprintf(paths[i], PATH_MAX, "%s", argv[optind + 1 + i]);
	return 0;
}

/* Text for "-", which is drawn as wide as the terminal. */
static void plot_output(struct plot_command *c)
{
	struct ktr__term_options term;

	if (c->options.file == NULL) {
		snprintf(c->file, sizeof(c->file), "%s.png", c->kind->name);
		c->options.file = c->file;
	} else if (strcmp(c->options.file, "-") == 0) {
		ktr__term_detect(&term, STDOUT_FILENO, "never");
		c->options.width = term.width;
		c->options.height = term.height > 12 ? term.height - 2 : 30;
	}
}

/* What is to be drawn out of what, and where to. 0 or an exit status. */
static int plot_prepare(struct plot_command *c, int argc, char **argv, char paths[2][PATH_MAX])
{
	int rc = plot_find(c, argc, argv);

	if (rc == 0)
		rc = plot_check_options(c);
	if (rc == 0)
		rc = picture_check(&c->picture, 0);
	if (rc != 0)
		return rc;
	c->options.file = c->picture.output;
	c->options.command = c->picture.command;
	c->options.width = c->picture.width;
	c->options.height = c->picture.height;
	if (c->picture.format == KTR__GNUPLOT_TEXT && c->picture.output != NULL &&
	    !c->kind->as_text)
		return usage_error(argv[0], "%s needs colours: name a picture with -o",
				   c->kind->name);
	if (c->picture.format == KTR__GNUPLOT_TEXT && c->picture.output != NULL && c->picture.sized)
		return usage_error(argv[0], "--size is of a picture: name one with -o");
	return plot_sources(c, argc, argv, paths);
}

static int cmd_plot(int argc, char **argv)
{
	static char paths[2][PATH_MAX];
	struct plot_command c = { .kind = NULL };
	int rc;

	picture_init(&c.picture, argc, argv, 900, 500);
	if (!options_parse(&plot_options, argc, argv, &c, &rc))
		return rc;
	if (optind < argc && strcmp(argv[optind], "list") == 0) {
		rc = operands_at_most(argv[0], argc, argv, 1);
		return rc != 0 ? rc : plot_list();
	}
	rc = plot_prepare(&c, argc, argv, paths);
	if (rc != 0)
		return rc;
	setlocale(LC_CTYPE, "");
	plot_output(&c);
	rc = plot_run(&c, paths);
	if (rc == 0 && c.options.file == c.file)
		printf("%s\n", c.file);
	return rc;
}

COMMAND(plot, "draw a chart: rates, latencies, states, counters; `ktr plot list`", cmd_plot);
