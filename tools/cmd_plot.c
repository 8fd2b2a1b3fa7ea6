/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr plot: charts of a trace by gnuplot.
 */
#include "tools/command.h"
#include "tools/filter_option.h"
#include "tools/find.h"
#include "tools/options.h"

#include "visualize/plot.h"
#include "visualize/term.h"
#include "visualize/when.h"

#include <ktr/conf.h>
#include <ktr/reader.h>

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PLOT_FROM = OPTION_LONG(0),
	PLOT_TO = OPTION_LONG(1),
	PLOT_AROUND = OPTION_LONG(2),
	PLOT_SPAN = OPTION_LONG(3),
	PLOT_PAIR = OPTION_LONG(4),
	PLOT_SITE = OPTION_LONG(5),
	PLOT_X = OPTION_LONG(6),
	PLOT_Y = OPTION_LONG(7),
	PLOT_SIZE = OPTION_LONG(8)
};

static const struct option_row plot_rows[] = {
	OPTIONS_SOURCE,
	{ 'o', "output", "FILE",
	  "FILE.png, .svg, .pdf, .gp (a script), or - (text); else KIND.png" },
	{ PLOT_FROM, "from", "TIME", "begin there: 1.5s, 20ms; -1s counts from the end" },
	{ PLOT_TO, "to", "TIME", "end before that" },
	FILTER_ROW,
	{ PLOT_AROUND, "around", "TIME", "look around a moment: 3.2s, or 3.2s+/-20ms" },
	{ 'g', "group", "GROUP", "only rows of this group; * and ? match" },
	{ PLOT_SPAN, "span", "NAME", "time spans of this group or id, or a state of this name" },
	{ PLOT_PAIR, "pair", "A,B",
	  "time from site A to site B on a thread: file.c:42, or format text" },
	{ PLOT_SITE, "site", "SITE", "only events of a site: file.c:42, or a part of its format" },
	{ PLOT_Y, "y", "NAME", "scatter: the argument to draw" },
	{ PLOT_X, "x", "NAME", "scatter: the argument to draw it against (time)" },
	{ PLOT_SIZE, "size", "WxH", "in pixels (1200x800)" },
};

static const struct options plot_options = {
	.operands = "KIND [TRACE [TRACE]]",
	.about =
		"Draws a chart; `ktr plot list` lists the kinds. Without TRACE, ./ktr.out is read.",
	.examples = "ktr plot list\n"
		    "ktr plot latency --span 'lock wait' -o latency.png\n"
		    "ktr plot states --group worker -o states.svg\n"
		    "ktr plot scatter --site shard.c:120 --y words -o words.gp\n"
		    "ktr plot compare before.ktr after.ktr --span 'lock wait' -o compare.png\n",
	.rows = plot_rows,
	.n_rows = sizeof(plot_rows) / sizeof(plot_rows[0]),
};

struct plot_command {
	struct find find;
	const char *from, *to, *around, *filter;
	struct ktr__plot_options options;
	const struct ktr__plot_kind *kind;
	char command[512]; /* for the caption */
	char file[64];     /* where none was given */
};

static int plot_size(struct plot_command *c, const char *value)
{
	struct ktr__plot_options *o = &c->options;
	char end;

	if (sscanf(value, "%5ux%5u%c", &o->width, &o->height, &end) != 2 || o->width < 900 ||
	    o->width > 20000 || o->height < 500 || o->height > 20000)
		return usage_error(
			c->find.command,
			"--size is a width and height from 900x500 to 20000x20000, not \"%s\"",
			value);
	return 0;
}

static int plot_option(struct plot_command *c, int id, const char *value)
{
	struct ktr__plot_options *o = &c->options;
	const struct {
		int id;
		const char **to;
	} texts[] = { { 'o', &o->file },           { 'g', &o->group },
		      { PLOT_FROM, &c->from },     { PLOT_TO, &c->to },
		      { PLOT_SPAN, &o->span },     { PLOT_PAIR, &o->pair },
		      { PLOT_AROUND, &c->around }, { PLOT_SITE, &o->site },
		      { PLOT_X, &o->x },           { PLOT_Y, &o->y },
		      { FILTER_OPTION, &c->filter } };

	if (find_option(&c->find, id, value))
		return 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].id == id)
			*texts[i].to = value;
	return id == PLOT_SIZE ? plot_size(c, value) : 0;
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

static int plot_window(struct plot_command *c, const struct ktr_reader_info *info,
		       struct ktr__plot_options *o)
{
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES];
	int rc = 0;

	if (c->around != NULL && (c->from != NULL || c->to != NULL))
		return usage_error(c->find.command,
				   "--around and --from or --to exclude each other");
	if (c->around != NULL)
		rc = ktr__when_around(c->around, info, &o->from_ns, &o->to_ns, &err);
	if (rc == 0 && c->from != NULL)
		rc = ktr__when_parse(c->from, info, &o->from_ns, &err);
	if (rc == 0 && c->to != NULL)
		rc = ktr__when_parse(c->to, info, &o->to_ns, &err);
	if (rc != 0)
		return usage_error(c->find.command, "%s",
				   ktr_error_print(&err, line, sizeof(line)));
	if (o->to_ns != 0 && o->from_ns >= o->to_ns)
		return usage_error(c->find.command, "the window ends before it begins");
	return 0;
}

/* Feeds a plot with one trace. */
static int plot_walk(struct plot_command *c, struct ktr__plot *plot, struct ktr_reader *reader)
{
	struct ktr__plot_options o = c->options;
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_sink *sink = &plot->sink;
	int rc;

	memset(plot, 0, sizeof(*plot));
	rc = plot_window(c, ktr_reader_info(reader), &o);
	if (rc != 0)
		return rc;
	rc = ktr__plot_init(plot, c->kind, ktr_reader_info(reader), &o, &err);
	if (rc != 0)
		return err.code == EINVAL ? usage_error(c->find.command, "%s", err.text)
					  : fail_with(c->find.command, &err);
	rc = filter_use(c->find.command, reader, c->filter);
	if (rc != 0)
		return rc;
	rc = ktr_reader_walk(reader, &sink, 1);
	if (rc == 0)
		return 0;
	if (rc == -ENOMEM)
		return fail(c->find.command, "not enough memory");
	return fail_with(c->find.command, ktr_reader_error(reader));
}

/* Reads what the plots need, then draws the first, which knows of the second. */
static int plot_run(struct plot_command *c, char paths[2][PATH_MAX])
{
	struct ktr_reader *reader[2] = { NULL, NULL };
	struct ktr__plot plot[2];
	struct ktr_error err = KTR_ERROR_NONE;
	unsigned n = 0;
	int rc = 0;

	memset(plot, 0, sizeof(plot));
	for (; n < c->kind->n_traces && rc == 0; n++) {
		if (ktr_reader_open(paths[n], NULL, &reader[n], &err) != 0)
			rc = fail_with(c->find.command, &err);
		else
			rc = plot_walk(c, &plot[n], reader[n]);
	}
	plot[0].other = n == 2 ? &plot[1] : NULL;
	if (rc == 0 && ktr__plot_draw(&plot[0], &err) != 0) {
		rc = fail_with(c->find.command, &err);
		if (err.code == ENODATA)
			filter_tell(c->find.command, reader[0]);
	}
	for (unsigned i = 0; i < 2; i++) {
		ktr__plot_free(&plot[i]);
		ktr_reader_close(reader[i]);
	}
	return rc;
}

/* One trace, or two: both are operands then. */
static int plot_sources(struct plot_command *c, int argc, char **argv, char paths[2][PATH_MAX])
{
	if (c->kind->n_traces == 1)
		return find_source_at(&c->find, argc, argv, 1, paths[0], PATH_MAX);
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

static int cmd_plot(int argc, char **argv)
{
	static char paths[2][PATH_MAX];
	struct plot_command c = { .find.command = argv[0] };
	struct ktr_error err = KTR_ERROR_NONE;
	enum ktr__gnuplot_format format;
	const char *value;
	int id, rc = 0;

	c.options.width = KTR__CHART_WIDTH;
	c.options.height = KTR__CHART_HEIGHT;
	c.options.command = c.command;
	snprintf(c.command, sizeof(c.command), "%s", argv[0]);
	for (int i = 1; i < argc; i++)
		ktr__label_word(c.command, sizeof(c.command), argv[i]);
	while ((id = options_next(&plot_options, argc, argv, &value)) > 0 && rc == 0)
		rc = plot_option(&c, id, value);
	if (id < 0 || rc != 0)
		return rc != 0 ? rc : options_status(id);
	if (optind < argc && strcmp(argv[optind], "list") == 0)
		return plot_list();
	rc = plot_find(&c, argc, argv);
	if (rc != 0)
		return rc;
	if (ktr__gnuplot_format_of(c.options.file, &format, &err) != 0)
		return usage_error(argv[0], "%s: %s", c.options.file, err.text);
	if (format == KTR__GNUPLOT_TEXT && c.options.file != NULL && !c.kind->as_text)
		return usage_error(argv[0], "%s needs colours: name a picture with -o",
				   c.kind->name);
	rc = plot_sources(&c, argc, argv, paths);
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
