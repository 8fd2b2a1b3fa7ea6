/* SPDX-License-Identifier: BSD-2-Clause */
/* When spans are kept (sql_kept.h), and what of them a query looks for. */
#ifndef ANALYZE_SQL_LOOK_H
#define ANALYZE_SQL_LOOK_H

#include "analyze/sql/sql_kept.h"
#include "analyze/sql/sql_table.h"

/*
 * Is this a search for each row of another table? Then it is planned, with KTR__SQL_KEPT in idxNum, and 1 is
 * returned; 0: it is not; else an SQLite code, negated.
 */
int ktr__sql_look_best(sqlite3_index_info *info, const struct ktr__sql_column *column);

/* What the values of such a plan's text look for. 0: nothing can be equal to them. */
int ktr__sql_look_make(const struct ktr__sql_cursor *cursor, const char *text, sqlite3_value **argv,
		       struct ktr__sql_look *look);

/* A row's value in a column, for ktr__sql_kept_look(). */
ktr__sql_hash_fn ktr__sql_look_hash;

#endif
