/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables sites, threads and trace, which are there when the source is open, and losses, for which
 * it is walked with a filter that no event passes.
 */
#include "analyze/print/json_print.h"
#include "analyze/print/sink_json.h"
#include "analyze/read/tables.h"
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_plan.h"
#include "analyze/sql/sql_table.h"
#include "analyze/stats/ends.h"

#include <stdlib.h>

/* All of a table, from its first row. */
static int sql_tables_filter(struct ktr__sql_cursor *cursor, int plan, const char *text, sqlite3_value **argv)
{
	(void)plan;
	(void)text;
	(void)argv;
	return cursor->kind->next(cursor);
}

/* The next site or thread that there is, from this one on; the first is for what is not known. */
static int sql_tables_next(struct ktr__sql_cursor *cursor)
{
	const struct ktr_reader *reader = ktr__sql_reader(cursor->sql);
	uint32_t n = cursor->kind == &ktr__sql_sites ? ktr_reader_n_sites(reader) : ktr_reader_n_threads(reader);

	cursor->row += cursor->row == 0;
	while (cursor->row < n && !cursor->kind->record(cursor, KTR__FIELD_EVENT))
		cursor->row++;
	cursor->at_end = cursor->row >= n;
	return SQLITE_OK;
}

/* ---- sites ---- */

static const struct ktr__sql_column sql_sites_columns[] = {
	{ "id", "INTEGER", KTR__SQL_NONE, KTR__OF_SITE(U32, id) },
	{ "name", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, name) },
	{ "class", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, class_name) },
	{ "mask", "INTEGER", KTR__SQL_NONE, KTR__OF_SITE(U64, mask) },
	{ "file", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, file) },
	{ "line", "INTEGER", KTR__SQL_NONE, KTR__OF_SITE(U32, line) },
	{ "func", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, func) },
	{ "format", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, format) },
	{ "kind", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(KIND, kind) },
	{ "grp", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, group) },
	{ "module", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, module) },
	{ "args", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(0) },
	{ 0 }
};

static const void *sql_tables_site(const struct ktr__sql_cursor *cursor, enum ktr__field_of of)
{
	(void)of;
	return ktr_reader_site(ktr__sql_reader(cursor->sql), (uint32_t)cursor->row);
}

/* Names of arguments, as a JSON array. */
static void sql_tables_args(struct ktr__sql_cursor *cursor, sqlite3_context *to, unsigned number)
{
	const struct ktr_reader_site *site = sql_tables_site(cursor, KTR__FIELD_SITE);
	json_t *array = json_array();
	char *text;

	(void)number;
	for (unsigned i = 0; i < site->n_args; i++)
		json_array_append_new(
			array, ktr__jansson_text(site->arg[i].name, strlen(site->arg[i].name)));
	text = json_array_size(array) == site->n_args ? ktr__json_string(array, JSON_COMPACT) : NULL;
	json_decref(array);
	if (text)
		sqlite3_result_text(to, text, -1, free);
	else
		sqlite3_result_error_nomem(to);
}

const struct ktr__sql_kind ktr__sql_sites = {
	.name = "sites",
	.column = sql_sites_columns,
	.filter = sql_tables_filter,
	.next = sql_tables_next,
	.record = sql_tables_site,
	.own = sql_tables_args,
};

/* ---- threads ---- */

enum { SQL_THREADS_EXITED, SQL_THREADS_GONE };

static const struct ktr__sql_column sql_threads_columns[] = {
	{ "tid", "INTEGER", KTR__SQL_NONE, KTR__OF_THREAD(U32, tid) },
	{ "pid", "INTEGER", KTR__SQL_NONE, KTR__OF_THREAD(U32, pid) },
	{ "name", "TEXT", KTR__SQL_NONE, KTR__OF_THREAD(TEXT, name) },
	{ "process", "TEXT", KTR__SQL_NONE, KTR__OF_THREAD(TEXT, process) },
	{ "started", "INTEGER", KTR__SQL_NONE, KTR__OF_THREAD(TIME, start_ns) },
	{ "exited", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_THREADS_EXITED) },
	{ "gone", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_THREADS_GONE) },
	{ 0 }
};

static const void *sql_tables_thread(const struct ktr__sql_cursor *cursor, enum ktr__field_of of)
{
	(void)of;
	return ktr_reader_thread(ktr__sql_reader(cursor->sql), (uint32_t)cursor->row);
}

static void sql_tables_thread_own(struct ktr__sql_cursor *cursor, sqlite3_context *to, unsigned number)
{
	const struct ktr_reader_thread *thread = sql_tables_thread(cursor, KTR__FIELD_THREAD);
	uint64_t ns = number == SQL_THREADS_EXITED ? ktr__ends_thread(thread) : ktr__ends_gone(thread);

	/* It may not be known when. */
	if (ns && ns != KTR__END_GONE)
		sqlite3_result_int64(to, ktr__sql_time(cursor, ns));
}

const struct ktr__sql_kind ktr__sql_threads = {
	.name = "threads",
	.column = sql_threads_columns,
	.filter = sql_tables_filter,
	.next = sql_tables_next,
	.record = sql_tables_thread,
	.own = sql_tables_thread_own,
};

/* ---- trace: one row ---- */

#define SQL_OF_TRACE(type, member) KTR__FIELD_AT(EVENT, type, struct ktr_reader_info, member)

static const struct ktr__sql_column sql_trace_columns[] = {
	{ "kind", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(0) },
	{ "path", "TEXT", KTR__SQL_NONE, SQL_OF_TRACE(TEXT, path) },
	{ "session", "TEXT", KTR__SQL_NONE, SQL_OF_TRACE(TEXT, name) },
	{ "host", "TEXT", KTR__SQL_NONE, SQL_OF_TRACE(TEXT, host) },
	{ "cmdline", "TEXT", KTR__SQL_NONE, SQL_OF_TRACE(TEXT, cmdline) },
	{ "clock", "TEXT", KTR__SQL_NONE, SQL_OF_TRACE(TEXT, clock) },
	{ "first_ns", "INTEGER", KTR__SQL_NONE, SQL_OF_TRACE(U64, first_ns) },
	{ "last_ns", "INTEGER", KTR__SQL_NONE, SQL_OF_TRACE(U64, last_ns) },
	{ "utc_offset_ns", "INTEGER", KTR__SQL_NONE, SQL_OF_TRACE(U64, utc_offset_ns) },
	{ "lost", "INTEGER", KTR__SQL_NONE, SQL_OF_TRACE(U64, n_lost) },
	{ 0 }
};

static int sql_tables_trace_next(struct ktr__sql_cursor *cursor)
{
	cursor->at_end = cursor->row > 0;
	return SQLITE_OK;
}

static const void *sql_tables_trace(const struct ktr__sql_cursor *cursor, enum ktr__field_of of)
{
	(void)of;
	return ktr_reader_info(ktr__sql_reader(cursor->sql));
}

static void sql_tables_trace_kind(struct ktr__sql_cursor *cursor, sqlite3_context *to, unsigned number)
{
	static const char *const kinds[] = { "trace", "live", "dead" };

	(void)number;
	ktr__sql_text(to, kinds[ktr_reader_info(ktr__sql_reader(cursor->sql))->kind]);
}

const struct ktr__sql_kind ktr__sql_trace = {
	.name = "trace",
	.column = sql_trace_columns,
	.filter = sql_tables_filter,
	.next = sql_tables_trace_next,
	.record = sql_tables_trace,
	.own = sql_tables_trace_kind,
};

/* ---- losses ---- */

#define SQL_OF_LOSS(type, member) KTR__FIELD_AT(EVENT, type, struct ktr_loss, member)

static const struct ktr__sql_column sql_losses_columns[] = {
	{ "time", "INTEGER", KTR__SQL_NONE, SQL_OF_LOSS(TIME, from_ns) },
	{ "until", "INTEGER", KTR__SQL_NONE, SQL_OF_LOSS(TIME, to_ns) },
	{ "cpu", "INTEGER", KTR__SQL_NONE, SQL_OF_LOSS(U32, cpu) },
	{ "keep", "INTEGER", KTR__SQL_NONE, SQL_OF_LOSS(U8, keep) },
	{ "events", "INTEGER", KTR__SQL_NONE, SQL_OF_LOSS(U64, n_events) },
	{ 0 }
};

static int sql_tables_loss_next(struct ktr__sql_cursor *cursor)
{
	int what;

	while ((what = ktr__sql_read(cursor)) == KTR_READ_EVENT)
		;
	cursor->at_end = what != KTR_READ_LOSS;
	return what < 0 ? SQLITE_ERROR : SQLITE_OK;
}

static int sql_tables_loss_filter(struct ktr__sql_cursor *cursor, int plan, const char *text, sqlite3_value **argv)
{
	struct ktr__sql_plan made;
	int rc;

	(void)plan;
	(void)text;
	/* Losses are told whatever the filter. */
	rc = ktr__sql_plan_make(cursor, "", argv, "line < 0", &made);
	if (rc == SQLITE_OK)
		rc = ktr__sql_plan_start(cursor, &made, 0);
	return rc == SQLITE_OK ? sql_tables_loss_next(cursor) : rc;
}

static const void *sql_tables_loss(const struct ktr__sql_cursor *cursor, enum ktr__field_of of)
{
	(void)of;
	return ktr_reader_loss(cursor->reader);
}

const struct ktr__sql_kind ktr__sql_losses = {
	.name = "losses",
	.column = sql_losses_columns,
	.filter = sql_tables_loss_filter,
	.next = sql_tables_loss_next,
	.record = sql_tables_loss,
	.needs_reader = 1,
};
