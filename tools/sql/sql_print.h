/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a query: as a table for people, CSV (RFC 4180), or JSON, one object a line. */
#ifndef TOOLS_SQL_PRINT_H
#define TOOLS_SQL_PRINT_H

#include <stdio.h>

enum sql_form {
	SQL_FORM_TEXT,
	SQL_FORM_CSV,
	SQL_FORM_JSON
};

#if KTR_HAVE_SQLITE
#include <sqlite3.h>

/*
 * Steps through the statement and prints its rows. SQLITE_DONE, another code when the query failed
 * half-way, or SQLITE_FULL with errno when printing did.
 */
int sql_print(sqlite3_stmt *statement, enum sql_form form, FILE *to);
#endif

#endif
