/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/answer_table.h"

#include "conf/kit/utf8.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_CELL_MAX	    KTR__LABEL_BYTES
#define ANSWER_CELL_COLUMNS 64 /* a longer text has its middle left out, and a mark there */

/* As TabSeparated has it written: \t, \n, \\ and so on. */
void answer_unescape(char *text)
{
	static const char from[] = "tnr0bf'\\", to[] = "\t\n\r\0\b\f'\\";
	char *put = text;

	for (; *text; text++) {
		const char *which = *text == '\\' && text[1] ? strchr(from, text[1]) : NULL;

		if (which) {
			text++;
			/* A NUL would end it. */
			*put++ = to[which - from] ? to[which - from] : '?';
		} else
			*put++ = *text;
	}
	*put = 0;
}

/* Cuts a line in place. How many cells, or -1: more than there is room for. */
static int answer_cells(char *line, char **cell, unsigned room)
{
	char *one;
	unsigned n = 0;

	while ((one = strsep(&line, "\t")) != NULL) {
		if (n == room)
			return -1;
		answer_unescape(one);
		cell[n++] = one;
	}
	return (int)n;
}

/* "UInt64", "LowCardinality(Nullable(Float64))": what of ClickHouse's types is a number. */
static int answer_is_number_type(const char *type)
{
	static const char *const around[] = { "LowCardinality(", "Nullable(" };

	for (unsigned i = 0; i < sizeof(around) / sizeof(*around); i++)
		if (strncmp(type, around[i], strlen(around[i])) == 0)
			type += strlen(around[i]);
	return strncmp(type, "UInt", 4) == 0 || strncmp(type, "Int", 3) == 0 || strncmp(type, "Float", 5) == 0 ||
	       strncmp(type, "Decimal", 7) == 0;
}

/* The second line: what the columns are. 0 or -EPROTO. */
static int answer_types(struct answer_table *table, char *line)
{
	char *type[ANSWER_COLUMNS_MAX];

	if (answer_cells(line, type, ANSWER_COLUMNS_MAX) != (int)table->n_columns)
		return -EPROTO;
	for (unsigned c = 0; c < table->n_columns; c++)
		table->is_number[c] = answer_is_number_type(type[c]);
	return 0;
}

int answer_table_take(struct answer_table *table, char *bytes)
{
	char *line = bytes, *end = strchr(bytes, '\n');
	size_t n = 0;
	int rc = 0;

	memset(table, 0, sizeof(*table));
	if (!end)
		return -EPROTO;
	table->n_columns = 1;
	for (char *c = bytes; c < end; c++)
		table->n_columns += *c == '\t';
	for (char *c = bytes; *c; c++)
		n += *c == '\n';
	if (n < 2 || table->n_columns > ANSWER_COLUMNS_MAX)
		return -EPROTO;
	table->cell = calloc(n * table->n_columns, sizeof(*table->cell));
	if (!table->cell)
		return -ENOMEM;
	for (size_t i = 0; !rc && (end = strchr(line, '\n')) != NULL; i++, line = end + 1) {
		*end = 0;
		if (i == 1)
			rc = answer_types(table, line);
		else if (answer_cells(line, table->cell + table->n_rows++ * table->n_columns, table->n_columns) !=
			 (int)table->n_columns)
			rc = -EPROTO;
	}
	if (rc)
		answer_table_free(table);
	return rc;
}

void answer_table_free(struct answer_table *table)
{
	free(table->cell);
	table->cell = NULL;
	table->n_rows = 0;
}

static int answer_is_duration(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && strcmp(name + n - 3, "_ns") == 0;
}

/* What is printed of a cell: "1.23 ms" of a duration. */
static void answer_shown(const struct answer_table *table, size_t row, unsigned column, int ascii, char *shown)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	const char *cell = table->cell[row * table->n_columns + column];
	char clean[4 * ANSWER_CELL_MAX];

	if (row && answer_is_duration(table->cell[column]) && table->is_number[column]) {
		double ns = strtod(cell, NULL);

		for (unsigned i = 0; i < 3; i++)
			if (ns >= units[i].ns) {
				snprintf(shown, ANSWER_CELL_MAX, "%.3g %s", ns / units[i].ns >= 999.5 ? 999 :
					ns / units[i].ns,
					 units[i].unit);
				if (ns / units[i].ns >= 999.5)
					snprintf(shown, ANSWER_CELL_MAX, "%.0f %s", ns / units[i].ns,
						 units[i].unit);
				return;
			}
		snprintf(shown, ANSWER_CELL_MAX, "%.0f ns", ns);
		return;
	}
	ktr__label_clean(clean, sizeof(clean), cell, strlen(cell));
	if (!row && answer_is_duration(clean))
		clean[strlen(clean) - 3] = 0;
	ktr__label_fit(shown, ANSWER_CELL_MAX, clean, ANSWER_CELL_COLUMNS, ascii);
}

static void answer_print_cell(const char *shown, unsigned width, int right, int last, FILE *to)
{
	unsigned columns = ktr__label_columns(shown), pad = width > columns ? width - columns : 0;

	fprintf(to, "%*s%s%*s%s", right ? (int)pad : 0, "", shown, right || last ? 0 : (int)pad, "",
		last ? "\n" : "  ");
}

void answer_table_print(const struct answer_table *table, FILE *to)
{
	int ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	unsigned width[ANSWER_COLUMNS_MAX] = { 0 };
	char shown[ANSWER_CELL_MAX];

	for (unsigned c = 0; c < table->n_columns; c++)
		for (size_t r = 0; r < table->n_rows; r++) {
			answer_shown(table, r, c, ascii, shown);
			if (ktr__label_columns(shown) > width[c])
				width[c] = ktr__label_columns(shown);
		}
	for (size_t r = 0; r < table->n_rows; r++)
		for (unsigned c = 0; c < table->n_columns; c++) {
			answer_shown(table, r, c, ascii, shown);
			answer_print_cell(shown, width[c], table->is_number[c] && table->n_rows > 1,
					  c + 1 == table->n_columns, to);
		}
}

/* A number as JSON has it: what it has no number for is null, and what is above its integers a text. */
static json_t *answer_number(const char *text)
{
	char *end;
	long long whole;
	double real;

	errno = 0;
	whole = strtoll(text, &end, 10);
	if (end != text && !*end)
		return errno ? json_string(text) : json_integer(whole);
	real = strtod(text, &end);
	return end == text || *end || !isfinite(real) ? json_null() : json_real(real);
}

static json_t *answer_text(const char *text)
{
	size_t n = strlen(text);
	char *clean = malloc(3 * n + 1);
	json_t *value;

	if (!clean)
		return NULL;
	value = json_stringn(clean, ktr__utf8_repair(clean, text, n));
	free(clean);
	return value;
}

json_t *answer_table_json(const struct answer_table *table)
{
	json_t *rows = json_array();

	for (size_t r = 1; r < table->n_rows && rows; r++) {
		json_t *row = json_object();

		for (unsigned c = 0; c < table->n_columns; c++) {
			const char *cell = table->cell[r * table->n_columns + c];

			json_object_set_new(row, table->cell[c],
					    table->is_number[c] ? answer_number(cell) : answer_text(cell));
		}
		json_array_append_new(rows, row);
	}
	return rows;
}
