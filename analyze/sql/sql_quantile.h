/* SPDX-License-Identifier: BSD-2-Clause */
/* quantile(x, share): an aggregate function. */
#ifndef ANALYZE_SQL_QUANTILE_H
#define ANALYZE_SQL_QUANTILE_H

#include <sqlite3.h>

/* Makes it known to a database. Returns an SQLite code. */
int ktr__sql_quantile(sqlite3 *db);

#endif
