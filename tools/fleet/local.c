/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/local.h"

#if KTR_HAVE_SQLITE
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_quantile.h"
#include "conf/kit/utf8.h"
#include "ktr/session/drop.h"
#include "tools/fleet/folder.h"
#include "tools/fleet/native.h"
#include "tools/options.h"
#include "tools/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct local {
	const char *command, *folder;
	const struct local_ask *ask;
	sqlite3 *db; /* of all traces: in memory, and in a temporary file where that is little */
	unsigned n_missing, n_partial;
};

static const char local_tables[] =
	"CREATE TABLE traces (host, build, trace, uuid, first_ts, last_ts, lost, UNIQUE (host, uuid));"
	"CREATE TABLE losses (host, build, trace, why, events, from_ts, to_ts);"
	"CREATE TABLE doubts (host, build, trace, unsure, open);"
	"CREATE TABLE sites (host, build, trace, class, site, pid, tid, events);"
	"CREATE TABLE spans (host, build, trace, grp, id, dur, ts, process, thread, tid);";

#define LOCAL_UTC  "(SELECT first_ns + utc_offset_ns FROM trace)"
/* With + it is no question for the index of all spans, which takes memory for each. */
#define LOCAL_WINDOW "+time >= :from - " LOCAL_UTC " AND +time < :to - " LOCAL_UTC
#define LOCAL_SURE "NOT unsure AND dur NOT NULL"

/* What a question needs of each trace, and how that is asked. */
static const struct local_question {
	const char *name;
	const char *table; /* NULL: what the basis needs is enough */
	const char *feed;  /* of a trace: the columns after the first three */
	const char *ask;
} local_questions[] = {
	{ "top", "sites",
	  "SELECT class, site, pid, tid, count(*) FROM events WHERE utc_ns >= :from AND utc_ns < :to GROUP BY 1, 2, 3, 4",
	  "SELECT class, site, sum(events) AS events, count(DISTINCT host) AS hosts,"
	  " count(DISTINCT host || ' ' || pid || ' ' || tid) AS threads"
	  " FROM sites GROUP BY class, site ORDER BY 3 DESC, class, site LIMIT 20" },
	{ "slow", "spans",
	  "SELECT grp, id, dur, time + " LOCAL_UTC ", coalesce((SELECT process FROM threads AS t WHERE t.tid = s.tid AND"
	  " t.pid = s.pid AND started <= s.time ORDER BY started DESC LIMIT 1), (SELECT process FROM threads AS t WHERE"
	  " t.tid = s.tid AND t.pid = s.pid LIMIT 1)), thread, tid FROM spans AS s WHERE kind = 'span' AND " LOCAL_SURE " AND " LOCAL_WINDOW
	  " ORDER BY dur DESC, time LIMIT 20",
	  "SELECT host, grp, id, dur AS dur_ns, datetime(ts / 1000000000, 'unixepoch') AS at, ts, process, thread, tid,"
	  " trace FROM spans ORDER BY dur DESC, ts LIMIT 20" },
	{ "losses", NULL, NULL,
	  "SELECT host, why, sum(events) AS lost, count(*) AS gaps, max(events) AS worst,"
	  " max(CASE WHEN from_ts > 0 AND to_ts > 0 THEN to_ts - from_ts ELSE 0 END) AS longest_ns"
	  " FROM losses GROUP BY host, why ORDER BY lost DESC, host, why" },
	{ "hosts", NULL, NULL,
	  "SELECT host, count(*) AS traces, count(DISTINCT build) AS builds,"
	  " datetime(min(first_ts) / 1000000000, 'unixepoch') AS since,"
	  " datetime(max(last_ts) / 1000000000, 'unixepoch') AS until, sum(lost) AS events_lost"
	  " FROM traces GROUP BY host ORDER BY host" },
	{ "span", "spans",
	  "SELECT grp, id, dur, time + " LOCAL_UTC ", NULL, thread, tid FROM spans"
	  " WHERE :name IN (grp, id) AND " LOCAL_SURE " AND " LOCAL_WINDOW,
	  "SELECT datetime(ts / 60000000000 * 60, 'unixepoch') AS minute, host, build, grp, id, count(*) AS spans,"
	  " sum(dur) / count(*) AS mean_ns, quantile(dur, 0.5) AS p50_ns, quantile(dur, 0.9) AS p90_ns,"
	  " quantile(dur, 0.99) AS p99_ns, quantile(dur, 0.999) AS p999_ns, max(dur) AS worst_ns"
	  " FROM spans GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5" },
	{ "diff", "spans",
	  "SELECT grp, id, dur, time + " LOCAL_UTC ", NULL, thread, tid FROM spans"
	  " WHERE (:host IN (:a, :b) OR :build IN (:a, :b)) AND kind = 'span' AND " LOCAL_SURE " AND " LOCAL_WINDOW,
	  "SELECT *, CASE WHEN p50_a_ns > 0 THEN round(1.0 * p50_b_ns / p50_a_ns, 2) ELSE 0 END AS ratio FROM"
	  " (SELECT grp, id, count(*) FILTER (WHERE :a IN (host, build)) AS spans_a,"
	  " count(*) FILTER (WHERE :b IN (host, build)) AS spans_b,"
	  " coalesce(quantile(dur, 0.5) FILTER (WHERE :a IN (host, build)), 0) AS p50_a_ns,"
	  " coalesce(quantile(dur, 0.5) FILTER (WHERE :b IN (host, build)), 0) AS p50_b_ns,"
	  " coalesce(quantile(dur, 0.99) FILTER (WHERE :a IN (host, build)), 0) AS p99_a_ns,"
	  " coalesce(quantile(dur, 0.99) FILTER (WHERE :b IN (host, build)), 0) AS p99_b_ns"
	  " FROM spans GROUP BY grp, id) ORDER BY spans_a + spans_b DESC, grp, id LIMIT 50" },
	{ "basis", NULL, NULL,
	  "SELECT (SELECT count(DISTINCT host) FROM traces) AS hosts, (SELECT count(*) FROM traces) AS traces,"
	  " (SELECT coalesce(sum(events), 0) FROM losses) AS events_lost,"
	  " (SELECT coalesce(sum(unsure), 0) FROM doubts) AS spans_unsure,"
	  " (SELECT coalesce(sum(open), 0) FROM doubts) AS spans_open" },
};

static const struct local_question *local_question(const char *name)
{
	unsigned i = 0;

	while (strcmp(local_questions[i].name, name) != 0)
		i++;
	return &local_questions[i];
}

/* ---- from one trace ---- */

/* One of the traces, open. */
struct local_trace {
	struct local *local;
	struct ktr__sql *sql;
	const char *host, *name;
	char build[FOLDER_BUILD_BYTES];
};

/* As texts of traces are in SQL: well-formed. */
static void local_bind_text(sqlite3_stmt *to, const char *name, const char *text)
{
	int i = sqlite3_bind_parameter_index(to, name);
	size_t n = text ? strlen(text) : 0;
	char *repaired = i && text ? sqlite3_malloc64(3 * (sqlite3_uint64)n + 1) : NULL;

	if (repaired)
		sqlite3_bind_text64(to, i, repaired, ktr__utf8_repair(repaired, text, n), sqlite3_free,
				    SQLITE_UTF8);
}

static void local_bind(const struct local_ask *ask, sqlite3_stmt *to)
{
	int from = sqlite3_bind_parameter_index(to, ":from"), until = sqlite3_bind_parameter_index(to, ":to");

	local_bind_text(to, ":name", ask->name);
	local_bind_text(to, ":a", ask->a);
	local_bind_text(to, ":b", ask->b);
	if (from)
		sqlite3_bind_int64(to, from, ask->from_ts);
	if (until)
		sqlite3_bind_int64(to, until, ask->to_ts);
}

static sqlite3_stmt *local_insert(const struct local_trace *t, const char *table, int n_columns)
{
	sqlite3_stmt *insert = NULL;
	char text[160];
	int n = snprintf(text, sizeof(text), "INSERT INTO %s VALUES (?, ?, ?", table);

	for (int i = 0; i < n_columns; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", ?");
	snprintf(text + n, sizeof(text) - (size_t)n, ")");
	if (sqlite3_prepare_v2(t->local->db, text, -1, &insert, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_text(insert, 1, t->host, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 2, t->build, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 3, t->name, -1, SQLITE_STATIC);
	return insert;
}

/* Puts the rows that a query of the trace has into a table of all. 0, or -1: either database has an error. */
static int local_feed(const struct local_trace *t, const char *table, const char *query)
{
	sqlite3_stmt *select = NULL, *insert = NULL;
	int rc = sqlite3_prepare_v2(ktr__sql_db(t->sql), query, -1, &select, NULL);

	if (rc == SQLITE_OK) {
		local_bind(t->local->ask, select);
		local_bind_text(select, ":host", t->host);
		local_bind_text(select, ":build", t->build);
		insert = local_insert(t, table, sqlite3_column_count(select));
	}
	while (insert && (rc = sqlite3_step(select)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(select); i++)
			sqlite3_bind_value(insert, 4 + i, sqlite3_column_value(select, i));
		if (sqlite3_step(insert) != SQLITE_DONE) {
			rc = SQLITE_FULL;
			break;
		}
		sqlite3_reset(insert);
	}
	sqlite3_finalize(select);
	sqlite3_finalize(insert);
	return rc == SQLITE_DONE ? 0 : -1;
}

/* What went into no ring. */
static int local_feed_dropped(const struct local_trace *t)
{
	const uint64_t *n_dropped = ktr_reader_info(ktr__sql_reader(t->sql))->n_dropped;
	int rc = 0;

	for (unsigned i = 0; i < KTR_DROPS && !rc; i++) {
		char *query;

		if (!n_dropped[i])
			continue;
		query = sqlite3_mprintf("SELECT %Q, %llu, 0, 0", ktr__drop_name(i), (unsigned long long)n_dropped[i]);
		rc = query ? local_feed(t, "losses", query) : -1;
		sqlite3_free(query);
	}
	return rc;
}

static int local_feed_all(const struct local_trace *t)
{
	const struct local_question *question = local_question(t->local->ask->question->name);

	if (local_feed(t, "losses",
		       "SELECT 'overwritten', events, coalesce(time + " LOCAL_UTC ", 0), coalesce(until + " LOCAL_UTC ", 0)"
		       " FROM losses WHERE (until IS NULL OR until >= :from - " LOCAL_UTC ")"
		       " AND (time IS NULL OR time < :to - " LOCAL_UTC ")") ||
	    local_feed_dropped(t) ||
	    local_feed(t, "doubts",
		       "SELECT coalesce(sum(unsure), 0), coalesce(sum(dur IS NULL), 0) FROM spans"
		       " WHERE (time IS NULL OR " LOCAL_WINDOW ")"))
		return -1;
	return question->table ? local_feed(t, question->table, question->feed) : 0;
}

/* The trace itself. 1: it is there already, by another name; 0; or -1. */
static int local_feed_trace(const struct local_trace *t)
{
	const struct ktr_reader_info *info = ktr_reader_info(ktr__sql_reader(t->sql));
	char uuid[33], query[512];

	for (unsigned i = 0; i < 16; i++)
		snprintf(uuid + 2 * i, 3, "%02x", info->uuid[i]);
	/* One without events was at no time. */
	snprintf(query, sizeof(query),
		 "SELECT '%s', nullif(first_ns, 0) + utc_offset_ns, nullif(last_ns, 0) + utc_offset_ns, lost FROM trace", uuid);
	if (local_feed(t, "traces", query) == 0)
		return 0;
	return sqlite3_errcode(t->local->db) == SQLITE_CONSTRAINT ? 1 : -1;
}

static void local_miss(const struct local_trace *t, const char *path)
{
	sqlite3 *db = t->local->db;

	t->local->n_missing++;
	if (sqlite3_errcode(db) != SQLITE_OK && sqlite3_errcode(db) != SQLITE_DONE)
		fail(t->local->command, "a temporary file: %s: %s is left out", sqlite3_errmsg(db), path);
	else
		fail(t->local->command, "%s: %s: left out", path, sqlite3_errmsg(ktr__sql_db(t->sql)));
}

/* What readers had to say of it. */
static void local_notes(struct local *local, const struct ktr__sql *sql)
{
	const char *note;

	for (unsigned i = 0; (note = ktr__sql_note(sql, i)) != NULL; i++)
		fail(local->command, "%s", note);
	local->n_partial += ktr__sql_is_partial(sql) != 0;
}

static void local_take(const struct local_trace *t, const char *path)
{
	sqlite3 *db = t->local->db;
	int rc = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ? local_feed_trace(t) : -1;

	if (!rc)
		rc = local_feed_all(t) || sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK ? -1 : 0;
	if (rc < 0)
		local_miss(t, path);
	else
		local_notes(t->local, t->sql);
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

/* Is some of it within what is asked for? */
static int local_is_meant(const struct local_trace *t)
{
	const struct ktr_reader_info *info = ktr_reader_info(ktr__sql_reader(t->sql));
	const struct local_ask *ask = t->local->ask;

	if (ask->host && strcmp(ask->host, t->host) != 0)
		return 0;
	if (!info->first_ns)
		return ask->from_ts == 0;
	return (int64_t)info->last_ns + info->utc_offset_ns >= ask->from_ts &&
	       (int64_t)info->first_ns + info->utc_offset_ns < ask->to_ts;
}

/* One trace: all of it, or nothing. */
static void local_trace(void *context, const char *path, const char *host)
{
	struct local *local = context;
	struct local_trace t = { .local = local };
	struct ktr_error err = KTR_ERROR_NONE;
	char line[KTR_ERROR_LINE_BYTES];
	size_t n = strlen(local->folder);

	if (ktr__sql_open(&t.sql, path, 0, &err)) {
		local->n_missing++;
		fail(local->command, "%s: left out", ktr_error_print(&err, line, sizeof(line)));
		return;
	}
	ktr__sql_watch(t.sql, progress_step);
	t.host = host ? host : ktr_reader_info(ktr__sql_reader(t.sql))->host;
	t.name = strncmp(path, local->folder, n) == 0 && path[n] == '/' ? path + n + 1 : path;
	folder_build(ktr__sql_reader(t.sql), t.build);
	if (local_is_meant(&t))
		local_take(&t, path);
	ktr__sql_close(t.sql);
}

/* ---- of all ---- */

int local_open(struct local **out, const char *command, const char *folder, const struct local_ask *ask,
	       struct ktr_error *err)
{
	struct local *local = calloc(1, sizeof(*local));
	int n;

	*out = NULL;
	if (!local)
		return ktr_error_set(err, ENOMEM, "no memory"), -ENOMEM;
	*local = (struct local){ .command = command, .folder = folder, .ask = ask };
	if (sqlite3_open("", &local->db) != SQLITE_OK || ktr__sql_quantile(local->db) != SQLITE_OK ||
	    sqlite3_exec(local->db, local_tables, NULL, NULL, NULL) != SQLITE_OK) {
		ktr_error_set(err, EIO, "a temporary file: %s", sqlite3_errmsg(local->db));
		local_close(local);
		return -EIO;
	}
	progress_count(command);
	if (folder_is_trace(folder)) {
		local_trace(local, folder, NULL);
		n = 1;
	} else {
		n = folder_traces(folder, 1, local_trace, local);
	}
	progress_end();
	if (n > 0) {
		*out = local;
		return 0;
	}
	local_close(local);
	if (n < 0)
		ktr_error_set(err, -n, "%s: %s", folder, strerror(-n));
	else
		ktr_error_set(err, ENOENT, "%s: neither a trace nor a folder with traces in it", folder);
	return n < 0 ? n : -ENOENT;
}

void local_close(struct local *local)
{
	if (local)
		sqlite3_close(local->db);
	free(local);
}

unsigned local_n_missing(const struct local *local)
{
	return local->n_missing;
}

unsigned local_n_partial(const struct local *local)
{
	return local->n_partial;
}

/* A cell, as TabSeparated has it. */
static void local_cell(struct native_buffer *out, const char *text)
{
	static const char from[] = "\t\n\r\\", to[] = "tnr\\";

	for (; text && *text; text++) {
		const char *odd = strchr(from, *text);

		if (odd)
			native_buffer_add(out, "\\", 1);
		native_buffer_add(out, odd ? to + (odd - from) : text, 1);
	}
}

/* Names and types. SQLite has a type for each value: those of the first row, are the column's. */
static void local_head(struct native_buffer *out, sqlite3_stmt *ask)
{
	int n = sqlite3_column_count(ask);

	for (int i = 0; i < n; i++) {
		native_buffer_text(out, i ? "\t" : "");
		local_cell(out, sqlite3_column_name(ask, i));
	}
	native_buffer_text(out, "\n");
	for (int i = 0; i < n; i++) {
		int type = sqlite3_column_type(ask, i);

		native_buffer_text(out, i ? "\t" : "");
		native_buffer_text(out, type == SQLITE_INTEGER || type == SQLITE_FLOAT ? "Float64" : "String");
	}
	native_buffer_text(out, "\n");
}

int local_answer(struct local *local, const struct question *question, char **bytes, struct ktr_error *err)
{
	struct native_buffer out = { 0 };
	sqlite3_stmt *ask = NULL;
	int rc = sqlite3_prepare_v2(local->db, local_question(question->name)->ask, -1, &ask, NULL), n;

	local_bind(local->ask, ask);
	n = sqlite3_column_count(ask);
	rc = rc == SQLITE_OK ? sqlite3_step(ask) : rc;
	local_head(&out, ask);
	for (; rc == SQLITE_ROW; rc = sqlite3_step(ask)) {
		for (int i = 0; i < n; i++) {
			native_buffer_text(&out, i ? "\t" : "");
			local_cell(&out, (const char *)sqlite3_column_text(ask, i));
		}
		native_buffer_text(&out, "\n");
	}
	native_buffer_add(&out, "", 1);
	sqlite3_finalize(ask);
	if (rc == SQLITE_DONE && !out.failed) {
		*bytes = (char *)out.at;
		return 0;
	}
	ktr_error_set(err, out.failed ? ENOMEM : EIO, "a temporary file: %s",
		      out.failed ? "no memory" : sqlite3_errmsg(local->db));
	native_buffer_free(&out);
	return out.failed ? -ENOMEM : -EIO;
}
#else

#include <errno.h>

int local_open(struct local **out, const char *command, const char *folder, const struct local_ask *ask,
	       struct ktr_error *err)
{
	(void)command;
	(void)ask;
	*out = NULL;
	ktr_error_set(err, ENOTSUP, "%s: traces are asked by SQLite, which this ktr is built without", folder);
	return -ENOTSUP;
}

void local_close(struct local *local)
{
	(void)local;
}

unsigned local_n_missing(const struct local *local)
{
	(void)local;
	return 0;
}

unsigned local_n_partial(const struct local *local)
{
	(void)local;
	return 0;
}

int local_answer(struct local *local, const struct question *question, char **bytes, struct ktr_error *err)
{
	(void)local;
	(void)question;
	*bytes = NULL;
	ktr_error_set(err, ENOTSUP, "no SQLite");
	return -ENOTSUP;
}
#endif
