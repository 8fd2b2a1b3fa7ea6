/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shell of ktr sql. A query ends with a semicolon; a line that begins with a dot is for the shell.
 * ^C ends a query, not the shell.
 */
#include "tools/options.h"

#if KTR_HAVE_SQLITE
#include "tools/sql/sql_shell.h"

#include "analyze/sql/sql.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if KTR_HAVE_EDIT
#include <editline/readline.h>
#endif

static sqlite3 *sql_shell_db; /* for the handler of ^C */

static void sql_shell_interrupt(int signal)
{
	(void)signal;
	if (sql_shell_db)
		sqlite3_interrupt(sql_shell_db);
}

static int sql_shell_failed(const struct sql_shell *shell, int rc)
{
	sqlite3 *db = ktr__sql_db(shell->sql);

	fflush(shell->to);
	if (rc == SQLITE_FULL && ferror(shell->to))
		return errno == EPIPE
			       ? 0
			       : fail(shell->command, "standard output: %s", strerror(errno));
	if (rc == SQLITE_INTERRUPT)
		return fail(shell->command, "interrupted");
	return fail(shell->command, "%s", sqlite3_errmsg(db));
}

/* A query that cannot be understood is a usage error. */
static int sql_shell_one(struct sql_shell *shell, const char **text)
{
	sqlite3_stmt *statement;
	int rc = sqlite3_prepare_v2(ktr__sql_db(shell->sql), *text, -1, &statement, text),
	    status = 0;

	if (rc != SQLITE_OK) {
		fail(shell->command, "%s", sqlite3_errmsg(ktr__sql_db(shell->sql)));
		return 2;
	}
	if (!statement)
		return 0;
	ktr__sql_refresh(shell->sql);
	rc = sql_print(statement, shell->form, shell->to);
	if (rc != SQLITE_DONE)
		status = sql_shell_failed(shell, rc);
	sqlite3_finalize(statement);
	return status;
}

int sql_shell_run(struct sql_shell *shell, const char *text)
{
	int status = 0;

	while (*text && !status)
		status = sql_shell_one(shell, &text);
	fflush(shell->to);
	return status;
}

/* ---- dots ---- */

static const char sql_shell_help[] =
	".tables          the tables\n"
	".schema [TABLE]  their columns\n"
	".mode MODE       print text, csv or json\n"
	".help            this list\n"
	".quit            end, as does ^D\n"
	"Anything else is SQL, and ends with a semicolon: SELECT class, count(*) FROM events GROUP BY class;\n";

static int sql_shell_mode(struct sql_shell *shell, const char *mode)
{
	static const char *const modes[] = { "text", "csv", "json" };

	for (int i = 0; i < 3; i++)
		if (strcmp(modes[i], mode) == 0) {
			shell->form = (enum sql_form)i;
			return 0;
		}
	return fail(shell->command, ".mode text, csv or json");
}

/* The columns of the tables whose name is given, or of all. */
static int sql_shell_schema(struct sql_shell *shell, const char *name, int columns)
{
	static const char *const tables[] = { "events", "spans",   "counters", "losses",
					      "sites",  "threads", "trace" };
	enum sql_form form = shell->form;
	int n = 0, status = 0;

	shell->form = SQL_FORM_CSV;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !status; i++) {
		char query[128];

		if (*name && strcmp(name, tables[i]) != 0)
			continue;
		n++;
		fprintf(shell->to, "%s%s", tables[i], columns ? ": " : "\n");
		snprintf(query, sizeof(query), "SELECT * FROM %s LIMIT 0", tables[i]);
		if (columns)
			status = sql_shell_run(shell, query);
	}
	shell->form = form;
	return n ? status : fail(shell->command, "there is no table %s", name);
}

/* A line with a dot. -1: the end. */
static int sql_shell_dot(struct sql_shell *shell, char *line)
{
	char *save, *word = strtok_r(line, " \t\n", &save), *more = strtok_r(NULL, " \t\n", &save);

	if (strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0)
		return -1;
	if (strcmp(word, ".tables") == 0)
		return sql_shell_schema(shell, "", 0);
	if (strcmp(word, ".schema") == 0)
		return sql_shell_schema(shell, more ? more : "", 1);
	if (strcmp(word, ".mode") == 0)
		return sql_shell_mode(shell, more ? more : "");
	if (strcmp(word, ".help") != 0)
		return fail(shell->command, "there is no %s; .help lists what there is", word);
	fputs(sql_shell_help, shell->to);
	return 0;
}

/* ---- lines ---- */

/* A line without its end, owned; NULL at the end. */
static char *sql_shell_line(int is_terminal, const char *prompt)
{
	char *line = NULL;
	size_t size = 0;

#if KTR_HAVE_EDIT
	if (is_terminal) {
		line = readline(prompt);
		if (line && *line)
			add_history(line);
		return line;
	}
#else
	if (is_terminal) {
		fputs(prompt, stdout);
		fflush(stdout);
	}
#endif
	if (getline(&line, &size, stdin) < 0) {
		free(line);
		return NULL;
	}
	return line;
}

/* Adds a line to a query. 0 or -1. */
static int sql_shell_add(char **query, const char *line)
{
	size_t n = *query ? strlen(*query) : 0;
	char *grown = realloc(*query, n + strlen(line) + 2);

	if (!grown)
		return -1;
	sprintf(grown + n, "%s\n", line);
	*query = grown;
	return 0;
}

int sql_shell_read(struct sql_shell *shell)
{
	int is_terminal = isatty(STDIN_FILENO), status = 0, rc = 0;
	char *query = NULL, *line;

	sql_shell_db = ktr__sql_db(shell->sql);
	if (is_terminal) {
		signal(SIGINT, sql_shell_interrupt);
		fputs("Tables: events, spans, counters, losses, sites, threads, trace; .help tells more.\n",
		      shell->to);
	}
	while (rc >= 0 && (line = sql_shell_line(is_terminal, query ? "...> " : "ktr> ")) != NULL) {
		fflush(shell->to);
		if (!query && line[0] == '.') {
			rc = sql_shell_dot(shell, line);
		} else if (sql_shell_add(&query, line)) {
			rc = fail(shell->command, "no memory");
		} else if (sqlite3_complete(query)) {
			rc = sql_shell_run(shell, query);
			free(query);
			query = NULL;
		}
		status |= rc > 0 ? rc : 0;
		free(line);
		fflush(shell->to);
	}
	if (query && rc >= 0 && query[strspn(query, " \t\n")])
		status |= sql_shell_run(shell, query);
	free(query);
	sql_shell_db = NULL;
	return is_terminal ? 0 : status & 2 ? 2 : status;
}
#endif
