/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/questions.h"

#include "tools/fleet/store.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define QUESTION_DATABASE STORE_DATABASE "."

const struct question questions[] = {
#define QUESTION_ROW(name, n, help) { #name, question_##name, help, n },
	QUESTIONS_LIST(QUESTION_ROW)
	{ NULL, NULL, NULL, 0 },
};

const struct question *question_find(const char *name)
{
	for (const struct question *q = questions; q->name; q++)
		if (strcmp(q->name, name) == 0)
			return q;
	return NULL;
}

/* Is the line "VALUE AS name," or without the comma? */
static int question_is_of(const char *line, size_t n, const char *name)
{
	size_t n_name = strlen(name);

	if (n && line[n - 1] == ',')
		n--;
	return n > n_name + 4 && memcmp(line + n - n_name, name, n_name) == 0 && memcmp(line + n - n_name - 4,
		" AS ", 4) == 0 &&
	       *line == '\t';
}

static void question_set(struct native_buffer *out, const struct question_value *value)
{
	char number[32];

	native_buffer_text(out, "\t");
	if (value->text)
		store_quote(out, value->text, strlen(value->text));
	else {
		snprintf(number, sizeof(number), "%" PRId64, value->number);
		native_buffer_text(out, number);
	}
	native_buffer_text(out, " AS ");
	native_buffer_text(out, value->name);
}

/* A line, with the database that is meant. */
static void question_line(struct native_buffer *out, const char *line, size_t n, const char *database)
{
	const size_t n_was = sizeof(QUESTION_DATABASE) - 1;

	for (size_t i = 0; i < n; i++) {
		if (n - i > n_was && memcmp(line + i, QUESTION_DATABASE, n_was) == 0 && (!i ||
			!isalnum((unsigned char)line[i - 1]))) {
			native_buffer_text(out, database);
			i += n_was - 2;
			continue;
		}
		native_buffer_add(out, line + i, 1);
	}
}

int question_query(const struct question *question, const char *database, const struct question_value *value,
		   unsigned n_values, struct native_buffer *out)
{
	for (const char *line = question->sql, *end; *line; line = *end ? end + 1 : end) {
		const struct question_value *set = NULL;

		end = strchrnul(line, '\n');
		if (line[0] == '-' && line[1] == '-')
			continue;
		for (unsigned i = 0; i < n_values; i++)
			if (question_is_of(line, (size_t)(end - line), value[i].name))
				set = &value[i];
		if (set) {
			question_set(out, set);
			native_buffer_text(out, end[-1] == ',' ? "," : "");
		} else
			question_line(out, line, (size_t)(end - line), database);
		native_buffer_text(out, "\n");
	}
	native_buffer_add(out, "", 1);
	return out->failed ? -ENOMEM : 0;
}
