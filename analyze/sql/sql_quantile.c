/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quantile(x, share): the number that so great a share of all does not exceed, of whole numbers from 0
 * on, as ktr report answers it: within 0.4 %, in memory that does not grow.
 */
#include "analyze/sql/sql_quantile.h"

#include "analyze/stats/histogram.h"

#include <string.h>

struct sql_quantile {
	struct ktr__histogram histogram;
	double share;
};

static void sql_quantile_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sql_quantile *q;
	sqlite3_int64 number;

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	q = sqlite3_aggregate_context(context, sizeof(*q));
	number = sqlite3_value_int64(argv[0]);
	if (!q) {
		sqlite3_result_error_nomem(context);
	} else if (number < 0) {
		sqlite3_result_error(context, "quantile(): numbers from 0 on", -1);
	} else {
		q->share = sqlite3_value_double(argv[1]);
		if (!(q->share >= 0 && q->share <= 1))
			sqlite3_result_error(context,
					     "quantile(x, share): the share is from 0 to 1", -1);
		else if (ktr__histogram_add(&q->histogram, (uint64_t)number))
			sqlite3_result_error_nomem(context);
	}
}

static void sql_quantile_final(sqlite3_context *context)
{
	struct sql_quantile *q = sqlite3_aggregate_context(context, 0);

	if (!q || !q->histogram.n)
		return;
	sqlite3_result_int64(context,
			     (sqlite3_int64)ktr__histogram_quantile(&q->histogram, q->share));
	ktr__histogram_free(&q->histogram);
}

int ktr__sql_quantile(sqlite3 *db)
{
	return sqlite3_create_function_v2(db, "quantile", 2,
					  SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
					  NULL, NULL, sql_quantile_step, sql_quantile_final, NULL);
}
