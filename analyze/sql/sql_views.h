/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions that are asked often, as views; ktr-sql(1) describes them. */
#ifndef ANALYZE_SQL_VIEWS_H
#define ANALYZE_SQL_VIEWS_H

#include <sqlite3.h>

/* Makes them. Returns an SQLite code. */
int ktr__sql_views(sqlite3 *db);

#endif
