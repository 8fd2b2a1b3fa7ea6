/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a query: as a table for people, CSV (RFC 4180), or JSON, one object a line. */
#ifndef TOOLS_SQL_PRINT_H
#define TOOLS_SQL_PRINT_H

#include <stdio.h>

enum sql_form {
	SQL_FORM_TEXT,
	SQL_FORM_BOX, /* text between lines, durations with a unit */
	SQL_FORM_CSV,
	SQL_FORM_JSON
};

#if KTR_HAVE_SQLITE
#include <sqlite3.h>

/*
 * Prints the rows of a statement, whose first step has given rc, and steps on. SQLITE_DONE, another code when the
 * query failed half-way, or SQLITE_FULL with errno when printing did.
 */
int sql_print(sqlite3_stmt *statement, int rc, enum sql_form form, FILE *to);
#endif

#endif
