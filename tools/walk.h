/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands that print events have in common: which source, which part of it, in which
 * order, and what to do about notes.
 *
 *	OPTIONS_WALK(struct dump, walk),		in the table of options
 *	...
 *	rc = walk_open(&walk, argc, argv);
 *	...	walk.info is there
 *	rc = walk_run(&walk, sinks, n_sinks);
 *	status = walk_close(&walk);
 */
#ifndef TOOLS_WALK_H
#define TOOLS_WALK_H

#include "analyze/print/crew.h"
#include "tools/filter_option.h"
#include "tools/find.h"
#include "tools/notes.h"
#include "tools/options.h"

#include <ktr/reader.h>

#include <limits.h>

/* member: a struct walk. OPTIONS_WALK_ONWARD leaves out what only those have that print. */
#define OPTIONS_WALK(of, member)                                                                   \
	OPTIONS_WALK_ONWARD(of, member), OPTION_FLAG('R', "reverse", of, member.reverse, "newest first")

#define OPTIONS_WALK_ONWARD(of, member)                                                            \
	OPTIONS_SOURCE(of, member.find),                                                           \
	OPTION_NUMBER('n', "last", "N", of, member.n_last, 1, UINT64_MAX, "only the last N events"), \
	OPTION_NUMBER(0, "head", "N", of, member.n_head, 1, UINT64_MAX, "only the first N events"), \
	OPTIONS_WINDOW(of, member),                                                                \
	OPTION_FLAG(0, "no-join", of, member.alone,                                                \
		    "this directory alone: no rotated ones, nothing from its session"),            \
	OPTION_FILTER(of, member.filter)

/* Of those that print events one by one. */
#define OPTION_THREADS(of, member)                                                                 \
	OPTION_NUMBER('j', "threads", "N", of, member.n_threads, 1, KTR__CREW_MOST,                \
		      "print with N threads; the output is the same (the CPUs there are, up to 4)")

/* The same for all that has a from and a to. */
#define OPTIONS_WINDOW(of, member)                                                                 \
	OPTION_TEXT(0, "from", "TIME", of, member.from, "begin there: 1.5s, 20ms; -1s counts from the end"), \
	OPTION_TEXT(0, "to", "TIME", of, member.to, "end before that")

struct walk {
	struct find find;
	/* Options. */
	const char *from, *to, *filter;
	uint64_t n_last, n_head;
	uint64_t n_threads; /* 0: as many as are of use */
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

/* Opens the source. 0, or the exit status after a complaint. */
int walk_open(struct walk *walk, int argc, char **argv);

/* The same where walk->path says already what is to be read. */
int walk_open_path(struct walk *walk);

/*
 * Where the last n_last events of a trace begin: from_ns, and n_skip of that very time are before them. 0, or the
 * exit status after a complaint. path, filter and to_ns are set.
 */
int walk_back(struct walk *walk);

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
 * The same for one sink, `of` of the trade, whose work is done by several threads. What printing returned is in
 * *printed, too.
 */
int walk_print(struct walk *walk, const struct ktr__crew_trade *trade, void *of, struct ktr_sink *sink,
	       int *printed);

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
