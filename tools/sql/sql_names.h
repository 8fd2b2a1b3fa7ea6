/* SPDX-License-Identifier: BSD-2-Clause */
/* What there is to name in a query: for completion, and for who has written one wrong. */
#ifndef TOOLS_SQL_NAMES_H
#define TOOLS_SQL_NAMES_H

#if KTR_HAVE_SQLITE
#include "analyze/sql/sql.h"

struct sql_names {
	char **name; /* owned, and each of them */
	unsigned n, room;
};

enum {
	SQL_NAMES_TABLES = 1, /* and views */
	SQL_NAMES_COLUMNS = 2,
	SQL_NAMES_FUNCTIONS = 4,
	SQL_NAMES_KEYWORDS = 8
};

/* Gathers what is asked for; without memory fewer. Each name is there once. */
void sql_names_get(struct sql_names *names, struct ktr__sql *sql, unsigned which);
void sql_names_columns(struct sql_names *names, struct ktr__sql *sql, const char *table);
void sql_names_take(struct sql_names *names, const char *name); /* copies it */
void sql_names_free(struct sql_names *names);

/* Prints what SQLite has to complain of, the place in the text, and what may have been meant. Returns 2. */
int sql_names_complain(const char *command, struct ktr__sql *sql, const char *text);
#endif

#endif
