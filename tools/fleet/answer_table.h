/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of an answer, TabSeparatedWithNamesAndTypes: for people, or as JSON. */
#ifndef FLEET_ANSWER_TABLE_H
#define FLEET_ANSWER_TABLE_H

#include <jansson.h>
#include <stdio.h>

#define ANSWER_COLUMNS_MAX 32

struct answer_table {
	char **cell; /* owned; rows one after the other, the first one the names; texts lie in the answer */
	unsigned n_columns;
	size_t n_rows; /* with the names */
	unsigned char is_number[ANSWER_COLUMNS_MAX]; /* by the column's type, whatever its cells look like */
};

/* A text of TabSeparated as it was, in place; a NUL becomes a question mark. */
void answer_unescape(char *text);

/* Takes an answer apart, whose bytes are changed and borrowed. 0, -ENOMEM, or -EPROTO: it is none. */
int answer_table_take(struct answer_table *table, char *bytes);
void answer_table_free(struct answer_table *table);

/* Prints it: durations, whose names end in _ns, with a unit, and numbers to the right. */
void answer_table_print(const struct answer_table *table, FILE *to);

/* An array of objects, owned; NULL without memory. */
json_t *answer_table_json(const struct answer_table *table);

#endif
