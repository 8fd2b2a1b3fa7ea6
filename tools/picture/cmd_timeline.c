/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr timeline: who did what when, on the terminal or as a picture.
 */
#include "analyze/derive/derive.h"
#include "analyze/read/reader.h"
#include "tools/command.h"
#include "tools/notes.h"
#include "tools/pager.h"
#include "tools/picture/picture.h"
#include "tools/progress.h"
#include "visualize/model/palette.h"
#include "visualize/chart/chart_timeline.h"
#include "visualize/model/frame.h"
#include "visualize/model/rows.h"
#include "visualize/model/timeline.h"
#include "visualize/model/view.h"
#include "visualize/page/compare.h"
#include "visualize/page/page.h"
#include "visualize/page/page_parts.h"
#include "visualize/terminal/term.h"

#include <ktr/reader.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct timeline_command {
	struct picture picture;
	struct option_list group;
	enum ktr__timeline_by by;
	enum colour_when colour;
	int all;
	int quiet; /* locks that nobody waited for have rows, too */
	int page; /* output is an HTML page */
	const char *compare; /* a second trace, shown with the first one on a page */
	FILE *print; /* where a page goes that is one of two; NULL: to the output */
	uint64_t columns;
	uint64_t max_events; /* of a page */
	struct ktr__derive *derive; /* owned: pictures refer to its sites, until they are done */
	uint64_t n_quiet; /* locks without rows, as nobody waited for them */
	uint64_t look_from_ns, look_to_ns; /* what it shows first; 0, 0: everything */
	char path[PATH_MAX];
	struct ktr__term_options term;
	struct notes notes;
};

static const char *const timeline_by[] = { "threads", "cpus", "ids", "names", NULL };

static const struct option_row timeline_rows[] = {
	OPTIONS_PICTURE(struct timeline_command, picture),
	OPTION_TEXT('o', "output", "FILE", struct timeline_command, picture.output,
		    "write a page, FILE.html, or a picture: .png, .svg, .pdf, .gp"),
	OPTION_WORD(0, "rows", "WHAT", struct timeline_command, by, KTR__BY_THREADS, timeline_by,
		    "threads, cpus, ids (of KTR_STATE, START, COUNTER) or names (of scopes)"),
	OPTION_LIST('g', "group", "GROUP", struct timeline_command, group,
		    "only rows of this group; * and ? match; may be repeated"),
	OPTION_TEXT(0, "compare", "TRACE", struct timeline_command, compare,
		    "a page of two: TRACE below, as B, and what differs in it"),
	OPTION_FLAG(0, "all", struct timeline_command, all, "all rows, even if they do not fit the window"),
	OPTION_FLAG(0, "quiet-locks", struct timeline_command, quiet,
		    "rows of all locks, not of those alone that threads waited for, where there are very many"),
	OPTION_COLOUR(struct timeline_command, colour),
	OPTION_NUMBER(0, "width", "N", struct timeline_command, columns, 40, 1000, "columns, instead of the terminal's"),
	OPTION_NUMBER(0, "events", "N", struct timeline_command, max_events, 1, UINT64_MAX,
		      "how many events a page holds at most (20M)"),
};

static const struct options timeline_options = {
	.operands = "[TRACE]",
	.about =
		"Draws what threads, CPUs or the rows of KTR_STATE and its kin did over time: on the\n"
		"terminal, as a picture, or as a page to look around in with a browser. Scopes and\n"
		"functions lie in each other, by threads.\n"
		"Without TRACE, ./ktr.out is read.",
	.examples = "ktr timeline\n"
		    "ktr timeline -o timeline.html\n"
		    "ktr timeline -o timeline.png\n"
		    "ktr timeline --compare new.ktr old.ktr -o compare.html\n"
		    "ktr timeline --group worker --group shard --around 3.2s+/-100ms\n"
		    "ktr timeline --rows cpus --from -2s\n",
	OPTIONS_ROWS(timeline_rows),
};

static int timeline_is_page(const char *output)
{
	const char *dot = output != NULL ? strrchr(output, '.') : NULL;

	return dot != NULL && dot > output && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0);
}

/* Options that have an effect on the terminal, on a picture or on a page, and not on the others. */
static int timeline_check(struct timeline_command *c)
{
	const char *command = c->picture.find.command;
	int rc, text;

	c->page = timeline_is_page(c->picture.output);
	rc = picture_check(&c->picture, c->page);
	if (rc != 0)
		return rc;
	text = !c->page && c->picture.format == KTR__GNUPLOT_TEXT;
	if (text)
		c->picture.output = NULL;
	if ((text || c->page) && c->picture.sized)
		return usage_error(command, "--size is of a picture: name one with -o");
	if (!text && (c->columns > 0 || c->colour != COLOUR_AUTO))
		return usage_error(command, "--width and --color are for the terminal");
	if (!c->page && c->max_events != 0)
		return usage_error(command, "--events is for a page: name one with -o, FILE.html");
	if (!c->page && c->compare != NULL)
		return usage_error(command, "--compare is for a page: name one with -o, FILE.html");
	if (c->max_events == 0)
		c->max_events = KTR__PAGE_EVENTS;
	return 0;
}

static int timeline_draw(struct timeline_command *c, const struct ktr__timeline *t,
			 const struct ktr_reader *reader)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__view view;
	struct ktr__frame frame;
	unsigned lines = c->picture.output == NULL ? ktr__term_lines(&c->term)
			 : c->all                  ? 2 * KTR__ROWS_MAX
						   : ktr__chart_timeline_lines(c->picture.height);
	char why[512];
	int rc = 0;

	if (ktr__frame_empty(t, why, sizeof(why))) {
		fail(c->picture.find.command, "%s", why);
		filter_tell(c->picture.find.command, reader);
		return 1;
	}
	if (ktr__view_init(&view, t, lines) != 0) {
		rc = fail(c->picture.find.command, "not enough memory");
	} else {
		ktr__frame_init(&frame, t->info, c->picture.command);
		ktr__frame_timeline(&frame, &view);
		if (c->picture.output == NULL)
			progress_end();
		if (c->picture.output == NULL)
			ktr__term_draw(stdout, &view, &frame, &c->term);
		else if (ktr__chart_timeline(c->picture.output, c->picture.width, c->picture.height,
					     &view, &frame, &err) != 0)
			rc = fail_with(c->picture.find.command, &err);
	}
	ktr__view_free(&view);
	return rc;
}

/* Into the output, or where it is put together with another one. */
static int timeline_put(struct timeline_command *c, struct ktr__page *page, struct ktr_error *err)
{
	return c->print != NULL ? ktr__page_print(page, c->print, c->picture.command, err)
				: ktr__page_write(page, c->picture.output, c->picture.command, err);
}

struct timeline_wanted {
	const struct ktr__timeline *t;
	const struct ktr__derive *derive;
};

static unsigned timeline_wants(const void *context, const struct ktr_reader_site *site)
{
	const struct timeline_wanted *wanted = context;

	if (ktr__derive_wants(wanted->derive, site))
		return KTR__READER_ALL_ARGS;
	return ktr__timeline_wants(wanted->t, site);
}

/* The walk, with rows of locks and memory of what providers recorded: -ENOMEM, or what it returned. */
static int timeline_feed(struct timeline_command *c, struct ktr_reader *reader, struct ktr_sink *sink,
			 struct ktr__timeline *t)
{
	int rc = ktr__derive_new(&c->derive, reader, sink, c->quiet);

	if (rc != 0)
		return rc;
	if (t != NULL)
		rc = ktr__reader_wants(reader, timeline_wants, &(struct timeline_wanted){ t, c->derive });
	if (rc == 0)
		rc = ktr_reader_walk(reader,
				     (struct ktr_sink *[]){ ktr__derive_sink(c->derive), &c->notes.sink }, 2);
	if (rc == 0)
		c->n_quiet = ktr__derive_n_quiet(c->derive);
	return rc;
}

static int timeline_page(struct timeline_command *c, struct ktr_reader *reader,
			 const struct ktr__timeline_options *o)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__page *page;
	int rc;

	if (ktr__page_new(&page, reader, o, c->max_events, &err) != 0)
		return fail_with(c->picture.find.command, &err);
	if (c->look_to_ns != 0)
		ktr__page_look(page, c->look_from_ns, c->look_to_ns);
	progress_watch(c->picture.find.command, reader, o->from_ns, o->to_ns);
	rc = timeline_feed(c, reader, &page->sink, NULL);
	progress_phase(c->picture.find.command, "writing the page");
	if (rc == -ENOMEM) {
		rc = fail(c->picture.find.command, "not enough memory");
	} else if (rc != 0) {
		rc = fail_with(c->picture.find.command, ktr_reader_error(reader));
	} else if (timeline_put(c, page, &err) != 0) {
		rc = fail_with(c->picture.find.command, &err);
		filter_tell(c->picture.find.command, reader);
	} else if (c->look_to_ns != 0 && c->print == NULL) {
		uint64_t first_ns = ktr_reader_info(reader)->first_ns;

		progress_end();
		printf("%s#view=%" PRIu64 "..%" PRIu64 "\n", c->picture.output, c->look_from_ns - first_ns,
		       c->look_to_ns - first_ns);
	}
	ktr__page_free(page);
	return rc;
}

static int timeline_walk(struct timeline_command *c, struct ktr_reader *reader, struct ktr__colours *colours)
{
	const struct ktr_reader_info *info = ktr_reader_info(reader);
	struct ktr__timeline_options o = { .by = c->by,
					   .group = c->group.text,
					   .n_groups = c->group.n,
					   .colours = colours };
	struct ktr__timeline t;
	int rc = picture_window(&c->picture, info, &o.from_ns, &o.to_ns);

	if (rc == 0)
		rc = filter_use(c->picture.find.command, reader, c->picture.filter);
	if (rc != 0)
		return rc;
	if (c->page && c->picture.around != NULL) {
		/* A page holds everything, and can be looked around in. */
		c->look_from_ns = o.from_ns;
		c->look_to_ns = o.to_ns;
		o.from_ns = o.to_ns = 0;
	}
	if (c->page)
		return timeline_page(c, reader, &o);
	o.n_columns = c->picture.output == NULL ? ktr__term_columns(&c->term)
						: ktr__chart_timeline_columns(c->picture.width);
	rc = ktr__timeline_init(&t, info, &o);
	progress_watch(c->picture.find.command, reader, o.from_ns, o.to_ns);
	if (rc == 0)
		rc = timeline_feed(c, reader, &t.sink, &t);
	progress_phase(c->picture.find.command, "drawing");
	if (rc < 0 && rc != -ENOMEM && t.error == 0)
		rc = fail_with(c->picture.find.command, ktr_reader_error(reader));
	else if (rc != 0 || ktr__timeline_end(&t) != 0)
		rc = fail(c->picture.find.command, "not enough memory");
	else
		rc = timeline_draw(c, &t, reader);
	ktr__timeline_free(&t);
	return rc;
}

static int timeline_read(struct timeline_command *c, struct ktr_reader *reader)
{
	struct ktr__colours colours;
	int rc = ktr__colours_init(&colours, reader) == 0 ? timeline_walk(c, reader, &colours)
							  : fail(c->picture.find.command, "not enough memory");

	ktr__colours_free(&colours);
	ktr__derive_free(c->derive);
	c->derive = NULL;
	return rc;
}

/* Sets noted where not all could be read, which was told. */
static int timeline_open(struct timeline_command *c, const char *path, int *noted)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_reader *reader;
	int rc;

	if (ktr_reader_open(path, NULL, &reader, &err) != 0)
		return fail_with(c->picture.find.command, &err);
	notes_init(&c->notes);
	c->n_quiet = 0;
	rc = timeline_read(c, reader);
	progress_end();
	if (rc == 0 && c->n_quiet > 0)
		fprintf(stderr, "%s: %" PRIu64 " locks that no thread waited for have no rows; --quiet-locks draws them\n",
			c->picture.find.command, c->n_quiet);
	*noted |= notes_tell(&c->notes, c->picture.find.command) != 0;
	ktr_reader_close(reader);
	return rc;
}

/* Two pages, and one that has both. */
static int timeline_compare(struct timeline_command *c, int *noted)
{
	struct ktr__compare_side side[2] = { { tmpfile(), c->path }, { tmpfile(), c->compare } };
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		c->print = side[i].page;
		rc = c->print != NULL ? timeline_open(c, side[i].name, noted)
				      : fail(c->picture.find.command, "no temporary file: %s", strerror(errno));
	}
	if (rc == 0 && ktr__compare_write(c->picture.output, side, c->picture.command, &err) != 0)
		rc = fail_with(c->picture.find.command, &err);
	for (int i = 0; i < 2; i++)
		if (side[i].page != NULL)
			fclose(side[i].page);
	return rc;
}

static int cmd_timeline(int argc, char **argv)
{
	struct timeline_command c = { .all = 0 };
	int rc, noted = 0;

	picture_init(&c.picture, argc, argv, 600, 300);
	if (!options_parse(&timeline_options, argc, argv, &c, &rc))
		return rc;
	rc = timeline_check(&c);
	if (rc == 0)
		rc = find_source(&c.picture.find, argc, argv, 0, c.path, sizeof(c.path));
	if (rc != 0)
		return rc;
	setlocale(LC_CTYPE, "");
	ktr__term_detect(&c.term, STDOUT_FILENO, colour_words[c.colour]);
	if (c.columns > 0)
		c.term.width = (unsigned)c.columns;
	if (c.all)
		c.term.height = 0;
	rc = c.compare != NULL ? timeline_compare(&c, &noted) : timeline_open(&c, c.path, &noted);
	return rc == 0 && noted ? 1 : rc;
}

COMMAND(timeline,
	"draw what threads and rows did over time: terminal, picture, or page for a browser",
	cmd_timeline);
