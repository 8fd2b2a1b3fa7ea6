/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/answer_table.h"

#include "conf/kit/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_CELL_MAX 200 /* [bytes] of a cell are shown */

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

int answer_table_take(struct answer_table *table, char *bytes)
{
	size_t n = 0, at = 0;
	char *line = bytes, *end;

	memset(table, 0, sizeof(*table));
	end = strchr(bytes, '\n');
	if (!end)
		return -EPROTO;
	table->n_columns = 1;
	for (char *c = bytes; c < end; c++)
		table->n_columns += *c == '\t';
	for (char *c = bytes; *c; c++)
		n += *c == '\n';
	if (table->n_columns > ANSWER_COLUMNS_MAX)
		return -EPROTO;
	table->cell = calloc(n * table->n_columns, sizeof(*table->cell));
	if (!table->cell)
		return -ENOMEM;
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		char *rest = line, *cell;
		unsigned i = 0;

		*end = 0;
		while ((cell = strsep(&rest, "\t")) != NULL && i < table->n_columns) {
			answer_unescape(cell);
			table->cell[at + i++] = cell;
		}
		if (cell || i != table->n_columns) {
			answer_table_free(table);
			return -EPROTO;
		}
		at += i;
		table->n_rows++;
	}
	return 0;
}

void answer_table_free(struct answer_table *table)
{
	free(table->cell);
	table->cell = NULL;
	table->n_rows = 0;
}

static int answer_is_number(const char *text)
{
	size_t n = strspn(text, "-0123456789.");

	return *text && !text[n] && strspn(text, "0123456789") != 0 && strspn(text, "0123456789.") == n;
}

static int answer_is_duration(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && strcmp(name + n - 3, "_ns") == 0;
}

/* What is printed of a cell: "1.23 ms" of a duration. */
static void answer_shown(const struct answer_table *table, size_t row, unsigned column, char *shown)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	const char *cell = table->cell[row * table->n_columns + column];
	size_t n = strlen(cell);

	if (row && answer_is_duration(table->cell[column]) && answer_is_number(cell)) {
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
	n = ktr__utf8_visible(shown, cell, n < ANSWER_CELL_MAX / 4 - 1 ? n : ANSWER_CELL_MAX / 4 - 1);
	shown[n] = 0;
	if (!row && answer_is_duration(shown))
		shown[n - 3] = 0;
}

void answer_table_print(const struct answer_table *table, FILE *to)
{
	int width[ANSWER_COLUMNS_MAX] = { 0 }, right[ANSWER_COLUMNS_MAX];
	char shown[ANSWER_CELL_MAX];

	for (unsigned c = 0; c < table->n_columns; c++) {
		right[c] = table->n_rows > 1;
		for (size_t r = 0; r < table->n_rows; r++) {
			answer_shown(table, r, c, shown);
			width[c] = (int)strlen(shown) > width[c] ? (int)strlen(shown) : width[c];
			if (r)
				right[c] &= answer_is_number(table->cell[r * table->n_columns + c]);
		}
	}
	for (size_t r = 0; r < table->n_rows; r++) {
		for (unsigned c = 0; c < table->n_columns; c++) {
			int last = c + 1 == table->n_columns;

			answer_shown(table, r, c, shown);
			fprintf(to, "%*s%s", right[c] ? width[c] : last ? 0 : -width[c], shown, last ? "\n" : "  ");
		}
	}
}

static json_t *answer_value(const char *text)
{
	size_t n = strlen(text);
	char *clean, *end;
	json_t *value;

	if (answer_is_number(text) && n < 19 && !strchr(text, '.'))
		return json_integer(strtoll(text, NULL, 10));
	if (answer_is_number(text)) {
		double real = strtod(text, &end);

		return strchr(text, '.') ? json_real(real) : json_string(text);
	}
	clean = malloc(3 * n + 1);
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

		for (unsigned c = 0; c < table->n_columns; c++)
			json_object_set_new(row, table->cell[c],
					    answer_value(table->cell[r * table->n_columns + c]));
		json_array_append_new(rows, row);
	}
	return rows;
}
