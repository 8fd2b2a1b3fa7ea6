/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shell of ktr sql. A query ends with a semicolon; a line that begins with a dot is for the shell.
 * ^C clears what is typed, or ends a query; not the shell.
 */
#include "tools/options.h"

#if KTR_HAVE_SQLITE
#include "tools/sql/sql_shell.h"

#include "analyze/sql/sql.h"
#include "tools/interrupt.h"
#include "tools/pager.h"
#include "tools/progress.h"
#include "tools/sql/sql_edit.h"
#include "tools/sql/sql_names.h"

#include <ktr/conf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ktr__sql *sql_shell_sql; /* for the handler of ^C */

static void sql_shell_interrupt(void)
{
	if (sql_shell_sql)
		ktr__sql_stop(sql_shell_sql);
}

void sql_shell_begin(struct sql_shell *shell)
{
	sql_shell_sql = shell->sql;
	interrupt_call(sql_shell_interrupt);
}

void sql_shell_end(struct sql_shell *shell)
{
	sql_shell_sql = NULL;
	shell->interrupted |= !shell->is_typed && interrupt_came();
	interrupt_call(NULL);
}

static int sql_shell_failed(const struct sql_shell *shell, FILE *to, int rc)
{
	sqlite3 *db = ktr__sql_db(shell->sql);

	progress_wipe();
	if (rc == SQLITE_FULL && ferror(to))
		return errno == EPIPE
			       ? 0
			       : fail(shell->command, "standard output: %s", strerror(errno));
	if (rc == SQLITE_INTERRUPT || ktr__sql_is_stopped(shell->sql))
		return shell->is_typed ? fail(shell->command, "interrupted") : 1;
	return fail(shell->command, "%s", sqlite3_errmsg(db));
}

/* Prints what a statement gives, on a terminal through a pager. */
static int sql_shell_print(struct sql_shell *shell, sqlite3_stmt *statement)
{
	struct pager pager = { -1, -1 };
	FILE *to = shell->to;
	int rc = sqlite3_step(statement);

	/* A pager that waits for the first row would have nothing to show for who gives up. */
	if (shell->is_paged && rc == SQLITE_ROW) {
		fflush(to);
		pager_open(&pager, 1);
		to = pager.pid > 0 ? fdopen(dup(pager.fd), "w") : to;
	}
	if (!to)
		return SQLITE_NOMEM;
	rc = sql_print(statement, rc, shell->form, to);
	if (rc != SQLITE_DONE)
		shell->status = sql_shell_failed(shell, to, rc);
	if (to != shell->to)
		fclose(to);
	pager_close(&pager);
	return rc;
}

/* A query that cannot be understood is a usage error. */
static int sql_shell_one(struct sql_shell *shell, const char **text)
{
	sqlite3_stmt *statement;
	const char *begin = *text;

	if (sqlite3_prepare_v2(ktr__sql_db(shell->sql), *text, -1, &statement, text) != SQLITE_OK)
		return sql_names_complain(shell->command, shell->sql, begin);
	if (!statement)
		return 0;
	ktr__sql_refresh(shell->sql);
	shell->status = 0;
	progress_count(shell->command);
	sql_shell_print(shell, statement);
	progress_end();
	sqlite3_finalize(statement);
	return shell->status;
}

int sql_shell_run(struct sql_shell *shell, const char *text)
{
	int status = 0;

	ktr__sql_go(shell->sql);
	while (*text && !status)
		status = sql_shell_one(shell, &text);
	fflush(shell->to);
	return status;
}

/* ---- dots ---- */

static const char *const sql_shell_modes[] = { "text", "box", "csv", "json", NULL };

static int sql_shell_mode(struct sql_shell *shell, const char *mode)
{
	for (int i = 0; sql_shell_modes[i]; i++)
		if (strcmp(sql_shell_modes[i], mode) == 0) {
			shell->form = (enum sql_form)i;
			return 0;
		}
	return fail(shell->command, ".mode text, box, csv or json");
}

/* The columns of the tables and views whose name is given, or of all. */
static int sql_shell_schema(struct sql_shell *shell, const char *name)
{
	struct sql_names tables = { 0 };
	int n = 0;

	sql_names_get(&tables, shell->sql, SQL_NAMES_TABLES);
	for (unsigned i = 0; i < tables.n; i++) {
		struct sql_names columns = { 0 };

		if (*name && strcmp(name, tables.name[i]) != 0)
			continue;
		n++;
		fprintf(shell->to, "%s:", tables.name[i]);
		sql_names_columns(&columns, shell->sql, tables.name[i]);
		for (unsigned k = 0; k < columns.n; k++)
			fprintf(shell->to, "%s%s", k ? "," : " ", columns.name[k]);
		fputs("\n", shell->to);
		sql_names_free(&columns);
	}
	sql_names_free(&tables);
	return n ? 0 : fail(shell->command, "there is no table %s", name);
}

static int sql_shell_tables(struct sql_shell *shell, const char *none)
{
	struct sql_names tables = { 0 };

	(void)none;
	sql_names_get(&tables, shell->sql, SQL_NAMES_TABLES);
	for (unsigned i = 0; i < tables.n; i++)
		fprintf(shell->to, "%s\n", tables.name[i]);
	sql_names_free(&tables);
	return 0;
}

static int sql_shell_quit(struct sql_shell *shell, const char *none)
{
	(void)shell;
	(void)none;
	return -1;
}

static int sql_shell_help(struct sql_shell *shell, const char *none);

/* What completion offers is in this order. */
static const char *const sql_shell_words[] = { ".tables", ".schema", ".mode", ".help", ".quit", ".exit", NULL };

static const struct {
	int (*run)(struct sql_shell *shell, const char *more);
	const char *takes, *help;
} sql_shell_dots[] = {
	{ sql_shell_tables, "", "the tables and views" },
	{ sql_shell_schema, " [TABLE]", "their columns" },
	{ sql_shell_mode, " MODE", "print text, box, csv or json" },
	{ sql_shell_help, "", "this list" },
	{ sql_shell_quit, "", "end, as does ^D" },
	{ sql_shell_quit, "", "the same" },
};

static int sql_shell_help(struct sql_shell *shell, const char *none)
{
	char left[64];

	(void)none;
	for (unsigned i = 0; sql_shell_words[i]; i++) {
		snprintf(left, sizeof(left), "%s%s", sql_shell_words[i], sql_shell_dots[i].takes);
		fprintf(shell->to, "%-16s %s\n", left, sql_shell_dots[i].help);
	}
	fputs("Anything else is SQL, and ends with a semicolon: SELECT class, count(*) FROM events GROUP BY class;\n",
	      shell->to);
	return 0;
}

/* A line with a dot. -1: the end. */
static int sql_shell_dot(struct sql_shell *shell, const char *line)
{
	char copy[256], *save, *word, *more;
	const char *nearest;

	snprintf(copy, sizeof(copy), "%s", line);
	word = strtok_r(copy, " \t\n", &save);
	more = strtok_r(NULL, " \t\n", &save);
	for (unsigned i = 0; word && sql_shell_words[i]; i++)
		if (strcmp(word, sql_shell_words[i]) == 0)
			return sql_shell_dots[i].run(shell, more ? more : "");
	nearest = ktr_nearest_of(word, sql_shell_words, sizeof(sql_shell_words) / sizeof(sql_shell_words[0]) - 1);
	if (nearest)
		return fail(shell->command, "there is no %s; did you mean %s?", word, nearest);
	return fail(shell->command, "there is no %s; .help lists what there is", word);
}

/* ---- lines ---- */

/* Adds a line to a query. 0 or -1. */
static int sql_shell_add(char **query, const char *line)
{
	size_t n = *query ? strlen(*query) : 0, n_line = strlen(line);
	char *grown = realloc(*query, n + n_line + 2);

	if (!grown)
		return -1;
	memcpy(grown + n, line, n_line + 1);
	if (!n_line || line[n_line - 1] != '\n')
		strcpy(grown + n + n_line, "\n");
	*query = grown;
	return 0;
}

/* One line more. -1: the end. */
static int sql_shell_take(struct sql_shell *shell, struct sql_edit *edit, char **query, const char *line)
{
	int rc = 0;

	fflush(shell->to);
	if (!*query && !line[strspn(line, " \t\n")])
		return 0;
	if (!*query && line[0] == '.') {
		sql_edit_remember(edit, line);
		return sql_shell_dot(shell, line);
	}
	if (sql_shell_add(query, line))
		return fail(shell->command, "no memory");
	if (sqlite3_complete(*query)) {
		sql_edit_remember(edit, *query);
		rc = sql_shell_run(shell, *query);
		free(*query);
		*query = NULL;
	}
	return rc;
}

int sql_shell_read(struct sql_shell *shell)
{
	struct sql_edit *edit = sql_edit_open(shell->sql, sql_shell_words);
	int status = 0, rc = 0, dropped;
	char *query = NULL;
	const char *line;

	if (!edit)
		return fail(shell->command, "no memory");
	shell->is_typed = isatty(STDIN_FILENO);
	if (shell->is_typed)
		fputs("Tables and views: .tables; .help tells more.\n", shell->to);
	sql_shell_begin(shell);
	while (rc >= 0 && (line = sql_edit_line(edit, query ? "...> " : "ktr> ", &dropped)) != NULL) {
		if (dropped) {
			free(query);
			query = NULL;
		}
		rc = dropped ? 0 : sql_shell_take(shell, edit, &query, line);
		status |= rc > 0 ? rc : 0;
		fflush(shell->to);
		if (!shell->is_typed && interrupt_came())
			break;
		/* Whoever has ended a query ends the next line by ^D all the same. */
		interrupt_call(sql_shell_interrupt);
	}
	if (query && rc >= 0 && query[strspn(query, " \t\n")])
		status |= sql_shell_run(shell, query);
	sql_shell_end(shell);
	free(query);
	sql_edit_close(edit);
	return shell->is_typed ? 0 : status & 2 ? 2 : status;
}
#endif
