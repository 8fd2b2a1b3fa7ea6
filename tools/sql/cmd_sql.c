/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr sql: questions to a trace in SQL.
 */
#include "analyze/print/crew.h"
#include "tools/command.h"
#include "tools/find.h"
#include "tools/options.h"
#include "tools/sql/sql_print.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct sql_command {
	struct find find;
	int csv, json, alone;
	uint64_t n_threads;
};

static const struct option_row sql_rows[] = {
	OPTIONS_SOURCE(struct sql_command, find),
	OPTION_FLAG(0, "csv", struct sql_command, csv, "print CSV"),
	OPTION_FLAG(0, "json", struct sql_command, json, "print JSON, one object a line"),
	OPTION_NUMBER('j', "threads", "N", struct sql_command, n_threads, 1, KTR__CREW_MOST,
		      "group with N threads; the answer is the same (the CPUs there are, up to 4)"),
	OPTION_FLAG(0, "no-join", struct sql_command, alone,
		    "this directory alone: no rotated ones, nothing from its session"),
};

static const struct options sql_options = {
	.operands = "[TRACE] [QUERY]",
	.about =
		"Answers questions in SQL. The trace is read where it lies, as the tables events, spans,\n"
		"counters, losses, sites, threads and trace; there are views for what is asked often:\n"
		"slowest_spans, span_times, state_times, busiest_sites, lock_waits, who_ran; ktr-sql(1)\n"
		"describes them. Without QUERY, queries are read from the standard input. Without TRACE, ./ktr.out is read.",
	.examples =
		"ktr sql ktr.out 'SELECT class, count(*) FROM events GROUP BY class'\n"
		"ktr sql \"SELECT * FROM events WHERE time BETWEEN 1e9 AND 2e9 AND class = 'net'\"\n"
		"ktr sql --csv 'SELECT id, quantile(dur, 0.99) FROM spans GROUP BY id'\n"
		"ktr sql --json \"SELECT * FROM events('n > 9 and msg ~ \\\"*lost*\\\"') LIMIT 5\"\n"
		"ktr sql -p 4711                 a shell on what the rings of a program hold\n",
	OPTIONS_ROWS(sql_rows),
};

#if KTR_HAVE_SQLITE
#include "analyze/sql/sql.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/sql/sql_shell.h"

#include <stdlib.h>

/* Prints what readers had to say; a note that parts are missing makes the answer partial. */
static int sql_notes(const char *command, const struct ktr__sql *sql, int status)
{
	const char *note;

	for (unsigned i = 0; (note = ktr__sql_note(sql, i)) != NULL; i++)
		fprintf(stderr, "%s: %s\n", command, note);
	return status ? status : ktr__sql_is_partial(sql);
}

static int sql_start(const struct sql_command *c, const char *path, enum sql_form form, const char *query)
{
	struct ktr_error err = KTR_ERROR_NONE;
	const char *command = c->find.command;
	struct sql_shell shell = { .command = command, .form = form, .to = stdout };
	int status;

	if (ktr__sql_open(&shell.sql, path, c->alone, &err))
		return fail_with(command, &err);
	ktr__sql_watch(shell.sql, progress_step);
	ktr__sql_share(shell.sql, c->n_threads);
	shell.is_paged = isatty(STDOUT_FILENO) && form == SQL_FORM_BOX;
	if (shell.is_paged)
		setenv("LESS", "FRSX", 0); /* rows are not folded */
	if (query) {
		sql_shell_begin(&shell);
		status = sql_shell_run(&shell, query);
		sql_shell_end(&shell);
	} else {
		status = sql_shell_read(&shell);
	}
	if (fflush(stdout) && errno != EPIPE && !status)
		status = fail(command, "standard output: %s", strerror(errno));
	status = sql_notes(command, shell.sql, status);
	ktr__sql_close(shell.sql);
	if (shell.interrupted)
		interrupt_end();
	return status;
}
#else
static int sql_start(const struct sql_command *c, const char *path, enum sql_form form, const char *query)
{
	(void)path;
	(void)form;
	(void)query;
	return fail(c->find.command,
		    "ktr was built without SQLite: install libsqlite3-dev and build it again");
}
#endif

/* A single operand that is no file, but has a blank in it, is a query. */
static int sql_is_query(const char *operand)
{
	return strpbrk(operand, " \t\n(") != NULL && access(operand, F_OK) != 0;
}

/* Takes the query off the operands, if there is one. */
static const char *sql_query(const struct find *find, int *argc, char **argv)
{
	int n = *argc - optind;

	if (n == 2 || (n == 1 && (find->pid || find->session || sql_is_query(argv[optind]))))
		return argv[--*argc];
	return NULL;
}

/* What is no file, but looks like a query, in front of something that is one. */
static int sql_is_turned(int argc, char **argv)
{
	return argc - optind == 2 && sql_is_query(argv[optind]) && access(argv[optind + 1], F_OK) == 0;
}

static int cmd_sql(int argc, char **argv)
{
	struct sql_command c = { .find.command = argv[0] };
	enum sql_form form;
	const char *query;
	char path[PATH_MAX];
	int rc;

	if (!options_parse(&sql_options, argc, argv, &c, &rc))
		return rc;
	if (c.csv && c.json)
		return usage_error(argv[0], "--csv and --json exclude each other");
	form = c.csv ? SQL_FORM_CSV : c.json ? SQL_FORM_JSON : isatty(STDOUT_FILENO) ? SQL_FORM_BOX : SQL_FORM_TEXT;
	rc = operands_at_most(argv[0], argc, argv, 2);
	if (rc)
		return rc;
	if (sql_is_turned(argc, argv))
		return usage_error(argv[0], "the trace comes first: ktr sql %s '%s'", argv[optind + 1],
				   argv[optind]);
	setlocale(LC_CTYPE, "");
	query = sql_query(&c.find, &argc, argv);
	rc = find_source(&c.find, argc, argv, 0, path, sizeof(path));
	return rc ? rc : sql_start(&c, path, form, query);
}

COMMAND(sql, "ask a trace questions in SQL", cmd_sql);
