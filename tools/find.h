/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command works on: a trace, or a session named by a process, by its name, or by being the
 * only live one.
 *
 *	OPTIONS_SOURCE(struct dump, find),		in the table of options
 *	...
 *	rc = find_source(&find, argc, argv, 0, path, sizeof(path));
 *	if (rc)
 *		return rc;
 */
#ifndef TOOLS_FIND_H
#define TOOLS_FIND_H

#include "tools/options.h"

#include <stddef.h>
#include <sys/types.h>

/* What a TRACE that is left out means. */
#define FIND_TRACE "ktr.out"

struct find {
	const char *command; /* argv[0], for complaints */
	uint64_t pid;        /* -p; 0: none */
	const char *session; /* -s */
};

/* The rows that say what is to be read; member: a struct find. */
#define OPTIONS_SOURCE(of, member)                                                               \
	OPTION_NUMBER('p', "pid", "PID", of, member.pid, 1, INT32_MAX, "the session of a process"),  \
	OPTION_TEXT('s', "session", "NAME", of, member.session, "a session by its name (see ktr ls)")

/*
 * Resolves -p, -s or one operand (a trace directory or a session file), or ./ktr.out where nothing
 * is given, to a path for ktr_reader_open(). n: operands of the command's own before the trace's, which is
 * argv[optind + n]. Returns 0, or the exit status after a complaint.
 */
int find_source(const struct find *find, int argc, char **argv, int n, char *path, size_t size);

/* Resolves -p or -s, or else the only live session there is, to the path of a session file. */
int find_session(const struct find *find, char *path, size_t size);

/* Does a session's name match one of n names or patterns (* ? [)? 1 or 0. */
int find_matches(char *const *patterns, int n, const char *name);

#endif
