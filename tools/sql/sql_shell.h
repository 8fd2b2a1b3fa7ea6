/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries one after the other: from the command line, from a file, or typed. */
#ifndef TOOLS_SQL_SHELL_H
#define TOOLS_SQL_SHELL_H

#include "tools/sql/sql_print.h"

struct ktr__sql;

struct sql_shell {
	const char *command; /* argv[0], for complaints */
	struct ktr__sql *sql;
	enum sql_form form;
	FILE *to;
	int is_paged; /* to is a terminal: what is printed goes through a pager */
	int is_typed; /* queries come from a terminal; sql_shell_read() knows */
	int status;   /* of the statement */
	int interrupted; /* after sql_shell_end(): ^C has ended it */
};

/* Between the two ^C ends the statement that runs, not the command. */
void sql_shell_begin(struct sql_shell *shell);
void sql_shell_end(struct sql_shell *shell);

/* Runs the statements of a text. The exit status; complaints were made. */
int sql_shell_run(struct sql_shell *shell, const char *text);

/* Reads queries from the standard input until it ends; with a prompt, where it is a terminal. */
int sql_shell_read(struct sql_shell *shell);

#endif
