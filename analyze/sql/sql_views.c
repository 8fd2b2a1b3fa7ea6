/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns that are durations are called dur, or end in _dur: that is how ktr sql knows them, too. With a single
 * max() the columns that are no aggregates are of the row that has it
 * (https://www.sqlite.org/lang_select.html#bareagg).
 */
#include "analyze/sql/sql_views.h"

#include <stddef.h>

#define VIEWS_TIMES \
	"count(*) AS n, sum(dur) AS total_dur, quantile(dur, 0.5) AS p50_dur, quantile(dur, 0.99) AS p99_dur," \
	" max(dur) AS max_dur"

static const char *const views[] = {
	"CREATE VIEW slowest_spans AS SELECT dur, grp, id, key, thread, tid, time, until, site FROM spans"
	" WHERE kind = 'span' AND dur IS NOT NULL ORDER BY dur DESC LIMIT 20",

	"CREATE VIEW span_times AS SELECT grp, " VIEWS_TIMES " FROM spans"
	" WHERE kind = 'span' AND dur IS NOT NULL GROUP BY grp ORDER BY total_dur DESC",

	"CREATE VIEW state_times AS SELECT grp, id, state, " VIEWS_TIMES ","
	" round(100.0 * sum(dur) / sum(sum(dur)) OVER (PARTITION BY grp, id), 1) AS percent FROM spans"
	" WHERE kind = 'state' AND dur IS NOT NULL GROUP BY grp, id, state ORDER BY grp, id, total_dur DESC",

	"CREATE VIEW busiest_sites AS SELECT n AS events, name AS site, class, format FROM"
	" (SELECT site_id, count(*) AS n FROM events GROUP BY site_id) JOIN sites ON sites.id = site_id"
	" ORDER BY events DESC",

	"CREATE VIEW lock_waits AS SELECT grp, key, " VIEWS_TIMES ", id, thread, time FROM spans"
	" WHERE kind = 'span' AND dur IS NOT NULL"
	" AND (grp LIKE '%lock%' OR site IN (SELECT name FROM sites WHERE class = 'lock'))"
	" GROUP BY grp, key ORDER BY total_dur DESC",

	/*
	 * Of each of the slowest spans: how long its thread ran itself, waited, and was ready while somebody else
	 * ran on the CPU that it had been taken from; whoever is not traced is what remains of that.
	 */
	"CREATE VIEW who_ran AS WITH"
	" cpu AS MATERIALIZED (SELECT pid, tid, thread, cpu, state, time,"
	"  coalesce(until, (SELECT last_ns - first_ns FROM trace)) AS until FROM spans"
	"  WHERE kind = 'state' AND site IN (SELECT name FROM sites WHERE class = 'kswitch')),"
	" slow AS MATERIALIZED (SELECT dur, grp, id, key, thread, pid, tid, time, until FROM spans"
	"  WHERE kind = 'span' AND dur IS NOT NULL AND (SELECT count(*) FROM cpu) > 0 ORDER BY dur DESC LIMIT 20),"
	" part AS MATERIALIZED (SELECT slow.*, cpu.state, cpu.cpu, max(slow.time, cpu.time) AS from_ns,"
	"  min(slow.until, cpu.until) AS to_ns FROM slow JOIN cpu ON cpu.tid = slow.tid AND cpu.pid = slow.pid"
	"  AND cpu.time < slow.until AND cpu.until > slow.time),"
	" other AS MATERIALIZED (SELECT part.*, cpu.thread || '/' || cpu.tid AS who,"
	"  min(part.to_ns, cpu.until) - max(part.from_ns, cpu.time) AS ns FROM part JOIN cpu ON part.state = 'ready'"
	"  AND cpu.state = 'running' AND cpu.cpu = part.cpu AND cpu.time < part.to_ns AND cpu.until > part.from_ns),"
	" piece AS (SELECT dur, grp, id, key, thread, tid, time, CASE state WHEN 'running' THEN '(itself)'"
	"  WHEN 'off' THEN '(waits)' WHEN 'ready' THEN '(not traced)' END AS who, to_ns - from_ns AS ns FROM part"
	"  UNION ALL SELECT dur, grp, id, key, thread, tid, time, who, ns FROM other"
	"  UNION ALL SELECT dur, grp, id, key, thread, tid, time, '(not traced)', -ns FROM other)"
	" SELECT dur, grp, id, key, thread, tid, time, who, sum(ns) AS who_dur,"
	" round(100.0 * sum(ns) / dur, 1) AS percent FROM piece WHERE who IS NOT NULL"
	" GROUP BY dur, grp, id, key, thread, tid, time, who HAVING sum(ns) > 0 ORDER BY dur DESC, time, who_dur DESC",
};

int ktr__sql_views(sqlite3 *db)
{
	int rc = SQLITE_OK;

	for (unsigned i = 0; i < sizeof(views) / sizeof(views[0]) && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(db, views[i], NULL, NULL, NULL);
	return rc;
}
