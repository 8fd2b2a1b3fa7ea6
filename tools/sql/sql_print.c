/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints rows while they come. A table needs the widths of its columns: those of the first rows, which
 * are kept; a cell of a later row that is wider moves what is right of it.
 */
#include "tools/sql/sql_print.h"

#if KTR_HAVE_SQLITE
#include "analyze/print/json_print.h"
#include "analyze/print/sink_json.h"
#include "conf/kit/utf8.h"
#include "tools/progress.h"
#include "visualize/model/label.h"

#include <jansson.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SQL_PRINT_ROWS  256u  /* whose widths are looked at */
#define SQL_PRINT_WIDTH 100u  /* [columns] A cell that is wider does not widen its column. */
#define SQL_PRINT_CELL  2048u /* [bytes] of a cell, beyond which a table cuts it */

/* ---- a cell as text ---- */

/* "x'00ff'", for what is no text. Owned. */
static char *sql_print_blob(const unsigned char *bytes, size_t n)
{
	char *text = malloc(2 * n + 4), *at = text;

	if (!text)
		return NULL;
	at += sprintf(at, "x'");
	for (size_t i = 0; i < n; i++)
		at += sprintf(at, "%02x", bytes[i]);
	strcpy(at, "'");
	return text;
}

/* The cell's text; *owned is to be freed. NULL bytes where it is NULL, or without memory. */
static const char *sql_print_text(sqlite3_stmt *s, int i, size_t *n, char **owned)
{
	const char *text;

	*owned = NULL;
	if (sqlite3_column_type(s, i) == SQLITE_BLOB) {
		*owned = sql_print_blob(sqlite3_column_blob(s, i),
					(size_t)sqlite3_column_bytes(s, i));
		*n = *owned ? strlen(*owned) : 0;
		return *owned;
	}
	text = (const char *)sqlite3_column_text(s, i);
	*n = (size_t)sqlite3_column_bytes(s, i);
	return text;
}

static int sql_print_is_number(sqlite3_stmt *s, int i)
{
	int type = sqlite3_column_type(s, i);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* ---- CSV ---- */

/* What is harmless, with its lines. */
static size_t sql_print_visible(char *to, const char *text, size_t n)
{
	size_t used = 0;

	for (const char *end = text + n; text < end;) {
		const char *line = memchr(text, '\n', (size_t)(end - text));
		size_t n_line = line ? (size_t)(line - text) : (size_t)(end - text);

		used += ktr__utf8_visible(to + used, text, n_line);
		text += n_line;
		if (line)
			to[used++] = *text++;
	}
	return used;
}

/* Text is fit for a terminal and no spreadsheet's formula; memory that is lacking leaves the cell empty. */
static void sql_print_csv_cell(FILE *to, const char *text, size_t n)
{
	int formula = ktr__utf8_is_formula(text, n);
	char *clean;

	if (!formula && ktr__utf8_plain(text, n) == n) {
		ktr__label_csv(to, text, n);
		return;
	}
	clean = malloc(4 * n + 1);
	if (!clean)
		return;
	clean[0] = '\'';
	n = sql_print_visible(clean + formula, text, n);
	ktr__label_csv(to, clean, n + (size_t)formula);
	free(clean);
}

static void sql_print_csv(sqlite3_stmt *s, FILE *to)
{
	for (int i = 0; i < sqlite3_column_count(s); i++) {
		char *owned;
		size_t n;
		const char *text = sql_print_text(s, i, &n, &owned);

		if (i)
			fputc(',', to);
		if (text)
			sql_print_csv_cell(to, text, n);
		free(owned);
	}
	fputs("\r\n", to);
}

static void sql_print_csv_head(sqlite3_stmt *s, FILE *to)
{
	for (int i = 0; i < sqlite3_column_count(s); i++) {
		if (i)
			fputc(',', to);
		sql_print_csv_cell(to, sqlite3_column_name(s, i),
				   strlen(sqlite3_column_name(s, i)));
	}
	fputs("\r\n", to);
}

/* ---- JSON ---- */

static json_t *sql_print_value(sqlite3_stmt *s, int i)
{
	char *owned;
	size_t n;
	const char *text;
	json_t *value;

	switch (sqlite3_column_type(s, i)) {
	case SQLITE_NULL:
		return json_null();
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(s, i));
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(s, i)))
			return json_real(sqlite3_column_double(s, i));
		return json_string(sqlite3_column_double(s, i) > 0 ? "Infinity" : "-Infinity");
	default:
		text = sql_print_text(s, i, &n, &owned);
		value = text ? ktr__jansson_text(text, n) : NULL;
		free(owned);
		return value;
	}
}

static int sql_print_json(sqlite3_stmt *s, FILE *to)
{
	json_t *object = json_object();
	int bad = !object;

	for (int i = 0; i < sqlite3_column_count(s) && !bad; i++) {
		json_t *name = ktr__jansson_text(sqlite3_column_name(s, i),
						 strlen(sqlite3_column_name(s, i)));

		bad = !name ||
		      json_object_set_new(object, json_string_value(name), sql_print_value(s, i));
		json_decref(name);
	}
	bad = bad || ktr__json_print(object, to, JSON_COMPACT);
	json_decref(object);
	fputc('\n', to);
	return bad;
}

/* ---- a table ---- */

struct sql_print_table {
	FILE *to;
	int n_columns;
	unsigned *width;
	char **cell; /* of the rows that are kept */
	unsigned char *is_number;
	unsigned n_rows;
	int is_open; /* the widths are settled */
	int boxed, ascii;
	unsigned char *is_duration; /* of the columns; boxed */
};

/* ---- boxes ---- */

/* A line of the box: 0 above the head, 1 below it, 2 at the end. */
static void sql_print_rule(const struct sql_print_table *t, int which)
{
	static const char *const left[] = { "┌", "├", "└" }, *const middle[] = { "┬", "┼", "┴" },
				 *const right[] = { "┐", "┤", "┘" };

	if (!t->boxed)
		return;
	for (int i = 0; i < t->n_columns; i++) {
		fputs(t->ascii ? "+" : i ? middle[which] : left[which], t->to);
		for (unsigned n = 0; n < t->width[i] + 2; n++)
			fputs(t->ascii ? "-" : "─", t->to);
	}
	fputs(t->ascii ? "+\n" : right[which], t->to);
	if (!t->ascii)
		fputc('\n', t->to);
}

/* A column of durations by its name, as ktr's own have it. */
static int sql_print_is_duration(const char *name)
{
	size_t n = strlen(name);

	return strcmp(name, "dur") == 0 || (n > 4 && strcmp(name + n - 4, "_dur") == 0);
}

static void sql_print_cell(struct sql_print_table *t, const char *clean, int column, int is_number)
{
	unsigned columns = ktr__label_columns(clean);
	unsigned pad = columns < t->width[column] ? t->width[column] - columns : 0;

	int is_last = column + 1 == t->n_columns;
	const char *bar = t->ascii ? "|" : "│";

	if (t->boxed)
		fprintf(t->to, "%s%s ", column ? " " : "", bar);
	else if (column)
		fputs("  ", t->to);
	if (is_number)
		fprintf(t->to, "%*s%s", (int)pad, "", clean);
	else
		fprintf(t->to, "%s%*s", clean, t->boxed || !is_last ? (int)pad : 0, "");
	if (is_last && t->boxed)
		fprintf(t->to, " %s", bar);
	if (is_last)
		fputc('\n', t->to);
}

/* Prints what was kept; the widths stay. */
static void sql_print_open(struct sql_print_table *t, sqlite3_stmt *s)
{
	char clean[256];

	progress_quiet();
	t->is_open = 1;
	sql_print_rule(t, 0);
	for (int i = 0; i < t->n_columns; i++) {
		const char *name = sqlite3_column_name(s, i);

		ktr__label_clean(clean, sizeof(clean), name, strlen(name));
		sql_print_cell(t, clean, i, t->n_rows && t->is_number[i]);
	}
	sql_print_rule(t, 1);
	for (unsigned row = 0; row < t->n_rows; row++)
		for (int i = 0; i < t->n_columns; i++) {
			size_t at = (size_t)row * (unsigned)t->n_columns + (unsigned)i;

			sql_print_cell(t, t->cell[at] ? t->cell[at] : "", i, t->is_number[at]);
			free(t->cell[at]);
			t->cell[at] = NULL;
		}
}

static void sql_print_widen(struct sql_print_table *t, int column, const char *clean)
{
	unsigned columns = ktr__label_columns(clean);

	columns = columns < SQL_PRINT_WIDTH ? columns : SQL_PRINT_WIDTH;
	t->width[column] = columns > t->width[column] ? columns : t->width[column];
}

static void sql_print_row(struct sql_print_table *t, sqlite3_stmt *s)
{
	char clean[SQL_PRINT_CELL];

	if (!t->is_open && t->n_rows == SQL_PRINT_ROWS)
		sql_print_open(t, s);
	for (int i = 0; i < t->n_columns; i++) {
		size_t n, at = (size_t)t->n_rows * (unsigned)t->n_columns + (unsigned)i;
		char *owned;
		const char *text = sql_print_text(s, i, &n, &owned);

		clean[0] = 0;
		if (t->boxed && t->is_duration[i] && sql_print_is_number(s, i) && sqlite3_column_double(s, i) >= 0)
			snprintf(clean, sizeof(clean), "%s",
				 ktr__label_duration((uint64_t)sqlite3_column_double(s, i)).text);
		else if (text)
			ktr__label_clean(clean, sizeof(clean), text, n);
		free(owned);
		if (t->is_open) {
			sql_print_cell(t, clean, i, sql_print_is_number(s, i));
			continue;
		}
		sql_print_widen(t, i, clean);
		t->cell[at] = strdup(clean);
		t->is_number[at] = (unsigned char)sql_print_is_number(s, i);
	}
	t->n_rows += !t->is_open;
}

static int sql_print_table(struct sql_print_table *t, sqlite3_stmt *s, int rc)
{
	size_t n = (size_t)t->n_columns * SQL_PRINT_ROWS;

	t->width = calloc((size_t)t->n_columns + 1, sizeof(*t->width));
	t->cell = calloc(n + 1, sizeof(*t->cell));
	t->is_number = calloc(n + 1, 1);
	t->is_duration = calloc((size_t)t->n_columns + 1, 1);
	if (!t->width || !t->cell || !t->is_number || !t->is_duration)
		return SQLITE_NOMEM;
	for (int i = 0; i < t->n_columns; i++) {
		sql_print_widen(t, i, sqlite3_column_name(s, i));
		t->is_duration[i] = (unsigned char)sql_print_is_duration(sqlite3_column_name(s, i));
	}
	for (; rc == SQLITE_ROW && !ferror(t->to); rc = sqlite3_step(s))
		sql_print_row(t, s);
	if (!t->is_open && t->n_columns && (t->n_rows || rc == SQLITE_DONE))
		sql_print_open(t, s);
	if (t->is_open)
		sql_print_rule(t, 2);
	return rc;
}

int sql_print(sqlite3_stmt *statement, int rc, enum sql_form form, FILE *to)
{
	struct sql_print_table table = { .to = to, .n_columns = sqlite3_column_count(statement) };
	int bad = 0;

	if (form == SQL_FORM_TEXT || form == SQL_FORM_BOX) {
		table.boxed = form == SQL_FORM_BOX;
		table.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
		rc = sql_print_table(&table, statement, rc);
		free(table.width);
		free(table.cell);
		free(table.is_number);
		free(table.is_duration);
	} else {
		if (form == SQL_FORM_CSV && table.n_columns)
			sql_print_csv_head(statement, to);
		for (; rc == SQLITE_ROW && !bad && !ferror(to); rc = sqlite3_step(statement)) {
			progress_quiet();
			if (form == SQL_FORM_CSV)
				sql_print_csv(statement, to);
			else
				bad = sql_print_json(statement, to);
		}
	}
	if (bad && !ferror(to))
		return SQLITE_NOMEM;
	return ferror(to) ? SQLITE_FULL : rc;
}
#endif
