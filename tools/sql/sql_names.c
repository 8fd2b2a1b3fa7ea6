/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names come from the database itself: its tables and views, what columns these have, its functions, its keywords.
 */
#include "tools/sql/sql_names.h"

#if KTR_HAVE_SQLITE
#include "conf/kit/array.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "visualize/model/label.h"

#include <ktr/conf.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAMES_BEFORE 60 /* [bytes] of a line that are shown in front of what is wrong, at most */
#define NAMES_LINE   100

static void names_add(struct sql_names *names, const char *name, size_t n)
{
	for (unsigned i = 0; i < names->n; i++)
		if (strlen(names->name[i]) == n && strncasecmp(names->name[i], name, n) == 0)
			return;
	if (ktr__array_grow(&names->name, &names->room, names->n, sizeof(*names->name)))
		return;
	names->name[names->n] = strndup(name, n);
	names->n += names->name[names->n] != NULL;
}

/* Column i of each row of a query. */
static void names_select(struct sql_names *names, sqlite3 *db, const char *query, int i)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(db, query, -1, &s, NULL) == SQLITE_OK)
		while (sqlite3_step(s) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(s, i);

			if (name)
				names_add(names, name, strlen(name));
		}
	sqlite3_finalize(s);
}

static void names_tables(struct sql_names *names, struct ktr__sql *sql)
{
	for (unsigned i = 0; ktr__sql_table(i); i++)
		names_add(names, ktr__sql_table(i), strlen(ktr__sql_table(i)));
	names_select(names, ktr__sql_db(sql), "SELECT name FROM sqlite_schema WHERE type IN ('view', 'table') ORDER BY name", 0);
}

void sql_names_columns(struct sql_names *names, struct ktr__sql *sql, const char *table)
{
	char *query = sqlite3_mprintf("PRAGMA table_info(\"%w\")", table);

	if (query)
		names_select(names, ktr__sql_db(sql), query, 1);
	sqlite3_free(query);
}

static void names_columns(struct sql_names *names, struct ktr__sql *sql)
{
	struct sql_names tables = { 0 };

	names_tables(&tables, sql);
	for (unsigned i = 0; i < tables.n; i++)
		sql_names_columns(names, sql, tables.name[i]);
	sql_names_free(&tables);
}

void sql_names_get(struct sql_names *names, struct ktr__sql *sql, unsigned which)
{
	const char *word;
	int n;

	if (which & SQL_NAMES_TABLES)
		names_tables(names, sql);
	if (which & SQL_NAMES_COLUMNS)
		names_columns(names, sql);
	if (which & SQL_NAMES_FUNCTIONS)
		names_select(names, ktr__sql_db(sql), "SELECT DISTINCT name FROM pragma_function_list", 0);
	for (int i = 0; which & SQL_NAMES_KEYWORDS && i < sqlite3_keyword_count(); i++)
		if (sqlite3_keyword_name(i, &word, &n) == SQLITE_OK)
			names_add(names, word, (size_t)n);
}

void sql_names_take(struct sql_names *names, const char *name)
{
	names_add(names, name, strlen(name));
}

void sql_names_free(struct sql_names *names)
{
	for (unsigned i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct sql_names){ 0 };
}

/* ---- complaints ---- */

/* What of a message of SQLite is a name, and what kind of names to look among. */
static const struct {
	const char *begins;
	unsigned which;
} names_messages[] = {
	{ "no such column: ", SQL_NAMES_COLUMNS },	       { "no such table: ", SQL_NAMES_TABLES },
	{ "no such function: ", SQL_NAMES_FUNCTIONS },	       { "near \"", SQL_NAMES_KEYWORDS },
};

/* The name that may have been meant, owned, or NULL. */
static char *names_nearest(struct ktr__sql *sql, const char *message)
{
	struct sql_names names = { 0 };
	const char *nearest, *dot;
	char word[128], *found = NULL;
	size_t n, i = 0;

	while (i < 4 && strncmp(message, names_messages[i].begins, strlen(names_messages[i].begins)) != 0)
		i++;
	if (i == 4)
		return NULL;
	message += strlen(names_messages[i].begins);
	n = strcspn(message, "\"");
	snprintf(word, sizeof(word), "%.*s", (int)n, message);
	dot = strrchr(word, '.');
	sql_names_get(&names, sql, names_messages[i].which);
	nearest = ktr_nearest_of(dot ? dot + 1 : word, (const char *const *)names.name, names.n);
	if (nearest && strcasecmp(nearest, dot ? dot + 1 : word) != 0)
		found = strdup(nearest);
	sql_names_free(&names);
	return found;
}

/* Where a name that SQLite has not told the place of stands; -1: nowhere. */
static int names_place(const char *text, const char *name)
{
	const char *at = strcasestr(text, name);

	return at ? (int)(at - text) : -1;
}

/* The line of the text that the byte is in, as much as is worth it, and a caret below. */
static void names_caret(const char *text, int offset)
{
	const char *at = text + offset, *line = at, *end = at + strcspn(at, "\n");
	char before[4 * NAMES_BEFORE + 8], after[4 * NAMES_LINE + 8];
	char plain[2 * (NAMES_BEFORE + NAMES_LINE) + 8];
	size_t n;

	while (line > text && line[-1] != '\n' && (at - line < NAMES_BEFORE || (*line & 0xc0) == 0x80))
		line--;
	/* A tab is no control character that has to be told, and how wide it is only the terminal knows. */
	n = (size_t)(end - line) < sizeof(plain) ? (size_t)(end - line) : sizeof(plain);
	for (size_t i = 0; i < n; i++)
		plain[i] = line[i] == '\t' ? ' ' : line[i];
	n -= (size_t)(at - line);
	ktr__label_clean(before, sizeof(before), plain, (size_t)(at - line));
	ktr__label_clean(after, sizeof(after), plain + (at - line), n < NAMES_LINE ? n : NAMES_LINE);
	fprintf(stderr, "  %s%s\n  %*s^\n", before, after, (int)ktr__label_columns(before), "");
}

int sql_names_complain(const char *command, struct ktr__sql *sql, const char *text)
{
	sqlite3 *db = ktr__sql_db(sql);
	char *message = strdup(sqlite3_errmsg(db)), *nearest;
	int offset = -1;

#if SQLITE_VERSION_NUMBER >= 3038000
	offset = sqlite3_error_offset(db);
#endif
	nearest = message ? names_nearest(sql, message) : NULL;
	if (offset < 0 && nearest)
		offset = names_place(text, strrchr(message, ' ') + 1);
	if (nearest)
		fail(command, "%s; did you mean %s?", message, nearest);
	else
		fail(command, "%s", message ? message : "no memory");
	if (offset >= 0 && (size_t)offset <= strlen(text))
		names_caret(text, offset);
	free(nearest);
	free(message);
	return 2;
}
#endif
