/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands that print events have in common: which source, which part of it, in which
 * order, and what to do about notes.
 *
 *	struct walk walk = { .find.command = argv[0] };
 *
 *	while ((id = options_next(&options, argc, argv, &value)) > 0) {
 *		rc = walk_option(&walk, id, value);	1: taken, 0: not one of these
 *		...
 *	}
 *	rc = walk_open(&walk, argc, argv);
 *	...	walk.info is there
 *	rc = walk_run(&walk, sinks, n_sinks);
 *	status = walk_close(&walk);
 */
#ifndef TOOLS_WALK_H
#define TOOLS_WALK_H

#include "tools/filter_option.h"
#include "tools/find.h"
#include "tools/notes.h"
#include "tools/options.h"

#include <ktr/reader.h>

#include <limits.h>

/* Options of these commands start here; their own are OPTION_LONG(0) and so on. */
#define WALK_FROM OPTION_LONG(90)
#define WALK_TO   OPTION_LONG(91)
#define WALK_HEAD OPTION_LONG(92)
#define WALK_ALONE OPTION_LONG(94)

/* OPTIONS_WALK_ONWARD leaves out what only those have that print. */
#define OPTIONS_WALK OPTIONS_WALK_ONWARD, { 'R', "reverse", NULL, "newest first" }

#define OPTIONS_WALK_ONWARD                                                                        \
	OPTIONS_SOURCE, { 'n', "last", "N", "only the last N events" },                            \
		{ WALK_HEAD, "head", "N", "only the first N events" },                             \
		{ WALK_FROM, "from", "TIME", "begin there: 1.5s, 20ms; -1s counts from the end" }, \
		{ WALK_TO, "to", "TIME", "end before that" },                                      \
		{ WALK_ALONE, "no-join", NULL,                                                     \
		  "this directory alone: no rotated ones, nothing from its session" },             \
		FILTER_ROW

struct walk {
	struct find find;
	/* Options. */
	const char *from, *to, *filter;
	uint64_t n_last, n_head;
	int reverse;
	int alone;
	/* After walk_open(). */
	char path[PATH_MAX];
	struct ktr_reader *reader;
	const struct ktr_reader_info *info;
	uint64_t from_ns, to_ns; /* [from, to); to_ns UINT64_MAX: to the end */
	uint64_t n_skip;         /* events to pass over at the beginning */
	/* After walk_run(). */
	uint64_t n_events;
	uint64_t n_lost;
	int partial; /* something could not be read */
	int whole;   /* the walk went to its end */
	struct notes notes;
};

/* 1 when the option was one of these, 0 when not, -2 after a complaint. */
int walk_option(struct walk *walk, int id, const char *value);

/* Opens the source. 0, or the exit status after a complaint. */
int walk_open(struct walk *walk, int argc, char **argv);

/* The same where walk->path says already what is to be read. */
int walk_open_path(struct walk *walk);

/*
 * How many events the walk has, before it is run: for sources that are held in memory. Notes are kept. 0,
 * or 1 after a complaint.
 */
int walk_count(struct walk *walk, uint64_t *n);

/*
 * Feeds the sinks with what the options leave. 0, what a sink returned, or a negative errno after a
 * complaint. Notes are kept until walk_close(): they must not get into a pager's way.
 */
int walk_run(struct walk *walk, struct ktr_sink *const *sinks, unsigned n_sinks);

/*
 * The same without sinks, and quicker: only counts the events and what was lost. 0 or a negative errno
 * after a complaint.
 */
int walk_total(struct walk *walk);

/*
 * Prints the notes to stderr, closes the source. 0, or 1 when what was read was not all there is, or
 * when nothing was left of it by the options: that is said, too.
 */
int walk_close(struct walk *walk);

#endif
