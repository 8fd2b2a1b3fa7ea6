/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that are typed: with libedit they can be edited, completed with tab, and called back, also in the next
 * shell (~/.ktr_sql_history); without it they are read as they come.
 */
#ifndef TOOLS_SQL_EDIT_H
#define TOOLS_SQL_EDIT_H

#if KTR_HAVE_SQLITE
#include "analyze/sql/sql.h"

struct sql_edit;

/* words: of the shell's own, that begin with a dot; ends with NULL. NULL without memory. */
struct sql_edit *sql_edit_open(struct ktr__sql *sql, const char *const *words);
void sql_edit_close(struct sql_edit *edit);

/*
 * The next line, borrowed until the next call, or NULL at the end; *dropped: ^C came instead of one. prompt is
 * borrowed likewise.
 */
const char *sql_edit_line(struct sql_edit *edit, const char *prompt, int *dropped);

/* Puts a query into the history. */
void sql_edit_remember(struct sql_edit *edit, const char *query);
#endif

#endif
