/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long output on a terminal goes through a pager, as git's does: $PAGER, or less with -FRX unless
 * $LESS says otherwise. Where output is no terminal, PAGER is empty or "cat", or there is no
 * pager, it goes straight to stdout.
 */
#ifndef TOOLS_PAGER_H
#define TOOLS_PAGER_H

#include "analyze/print/newfile.h"
#include "analyze/print/out.h"
#include "tools/options.h"

#include <sys/types.h>

struct pager {
	int fd;    /* to write to */
	pid_t pid; /* of the pager, or -1 */
};

/*
 * Starts the pager if one is wanted. From then on SIGPIPE is ignored: a pager that is left early
 * shows as EPIPE, which is no failure.
 */
void pager_open(struct pager *pager, int wanted);

/* Closes the way to the pager and waits until its user has had enough. */
void pager_close(struct pager *pager);

/*
 * Where a command's text goes: to a file, which appears when it is complete, to a pager, or to the standard
 * output.
 */
struct output {
	const char *command;
	const char *path; /* NULL: no file */
	struct pager pager;
	struct ktr__newfile file; /* where there is a path */
	struct ktr__out out;
};

/* paged: a pager is wanted where there is no path. 0, or 1 after a complaint; then nothing is open. */
int output_open(struct output *output, const char *command, const char *path, int paged);

/*
 * Writes the rest. rc: 0, or negative: how writing failed before. 0, or 1 after a complaint; nobody reading on is
 * no failure.
 */
int output_close(struct output *output, int rc);

enum colour_when {
	COLOUR_AUTO,
	COLOUR_ALWAYS,
	COLOUR_NEVER
};

extern const char *const colour_words[];

/* member: an enum colour_when. */
#define OPTION_COLOUR(of, member)                                                                  \
	OPTION_WORD(0, "color", "WHEN", of, member, COLOUR_AUTO, colour_words,                     \
		    "always, never or auto (default): on a terminal")

/* Are colours wanted? On a terminal, unless NO_COLOR is set or TERM is "dumb" (no-color.org). */
int colour_wanted(enum colour_when when);

#endif
