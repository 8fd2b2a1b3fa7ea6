/* SPDX-License-Identifier: BSD-2-Clause */
/* See report_names.h. */
#include "tools/report/report_names.h"

#include "visualize/model/label.h"
#include "visualize/terminal/term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct names {
	struct ktr__label_name *name; /* owned; text points into the report, where its end is NUL now */
	unsigned n, room;
};

static int names_add(struct names *names, const char *text)
{
	if (names->n == names->room) {
		unsigned room = names->room ? 2 * names->room : 64;
		struct ktr__label_name *grown = realloc(names->name, room * sizeof(*grown));

		if (grown == NULL)
			return -ENOMEM;
		names->name = grown;
		names->room = room;
	}
	names->name[names->n++].text = text;
	return 0;
}

/* The columns of what is behind a name on its line. */
static unsigned names_rest(const char *behind)
{
	size_t n = strcspn(behind, "\n");
	char line[512];

	ktr__label_clean(line, sizeof(line), behind, n);
	return ktr__label_columns(line);
}

/* The names of the table that begins at text, up to the next one: their number, and how wide they are at most. */
static int names_take(struct names *names, char *text, unsigned width)
{
	unsigned widest = REPORT_NAMES_LEAST, rest = 0, columns;

	names->n = 0;
	for (char *at = text; (at = strpbrk(at, REPORT_NAMES_TABLE REPORT_NAMES_NAME)) != NULL;) {
		char *end = strchr(at, REPORT_NAMES_END[0]);

		if (*at == REPORT_NAMES_TABLE[0] || end == NULL)
			break;
		*end = '\0';
		columns = ktr__label_columns(at + 1);
		widest = columns > widest ? columns : widest;
		columns = names_rest(end + 1);
		rest = columns > rest ? columns : rest;
		if (names_add(names, at + 1) != 0)
			return -ENOMEM;
		at = end + 1;
	}
	if (width > 0 && widest + rest + 2 > width)
		widest = width > rest + 2 + REPORT_NAMES_LEAST ? width - rest - 2 : REPORT_NAMES_LEAST;
	for (unsigned i = 0; i < names->n; i++)
		names->name[i].columns = widest;
	ktr__label_fit_names(names->name, names->n, 0);
	return (int)widest;
}

/* Without a width names have no limit, not even that of what is fitted. */
static void names_put(FILE *to, const struct ktr__label_name *name, int widest, unsigned width)
{
	if (width == 0)
		fprintf(to, "  %s%*s", name->text, widest - (int)ktr__label_columns(name->text), "");
	else
		fprintf(to, "  %s%*s", name->fit, widest - (int)name->used, "");
}

int report_names_write(FILE *to, const char *text, unsigned width)
{
	char *copy = strdup(text), *at = copy, *mark;
	struct names names = { NULL, 0, 0 };
	int widest = (int)REPORT_NAMES_LEAST, rc = copy != NULL ? 0 : -ENOMEM;
	unsigned i = 0;

	while (rc == 0 && (mark = strpbrk(at, REPORT_NAMES_TABLE REPORT_NAMES_NAME)) != NULL) {
		int is_table = *mark == REPORT_NAMES_TABLE[0];
		char *end;

		*mark = '\0';
		fputs(at, to);
		if (is_table) {
			end = strchr(mark + 1, REPORT_NAMES_END[0]);
			if (end == NULL)
				break;
			*end = '\0';
			widest = names_take(&names, end + 1, width);
			rc = widest < 0 ? widest : 0;
			i = 0;
			fprintf(to, "%-*s", widest + 2, mark + 1);
		} else {
			end = mark + strlen(mark + 1) + 1;
			if (i < names.n)
				names_put(to, &names.name[i++], widest, width);
		}
		at = end + 1;
	}
	if (rc == 0)
		fputs(at, to);
	free(names.name);
	free(copy);
	return rc;
}

unsigned report_names_width(void)
{
	struct ktr__term_options term;

	if (!isatty(STDOUT_FILENO))
		return 0;
	ktr__term_detect(&term, STDOUT_FILENO, "never");
	return term.width;
}
