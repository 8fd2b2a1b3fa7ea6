/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables events and counters: a walk, whose window and filter come from the query.
 */
#include "analyze/print/sink_json.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_plan.h"
#include "analyze/sql/sql_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* X(NAME, name, declaration, role) */
#define SQL_EVENTS_COLUMNS(X)                                                                      \
	X(TIME, "time", "INTEGER", TIME)                                                           \
	X(TS_NS, "ts_ns", "INTEGER", MONO)                                                         \
	X(UTC_NS, "utc_ns", "INTEGER", UTC)                                                        \
	X(CPU, "cpu", "INTEGER", NUMBER)                                                           \
	X(PID, "pid", "INTEGER", NUMBER)                                                           \
	X(TID, "tid", "INTEGER", NUMBER)                                                           \
	X(THREAD, "thread", "TEXT", NAME)                                                          \
	X(PROCESS, "process", "TEXT", NAME)                                                        \
	X(CLASS, "class", "TEXT", SITE)                                                            \
	X(SITE, "site", "TEXT", SITE)                                                              \
	X(SITE_ID, "site_id", "INTEGER", SITE)                                                     \
	X(FILE, "file", "TEXT", SITE)                                                              \
	X(LINE, "line", "INTEGER", SITE)                                                           \
	X(FUNC, "func", "TEXT", SITE)                                                              \
	X(KIND, "kind", "TEXT", SITE)                                                              \
	X(FORMAT, "format", "TEXT", SITE)                                                          \
	X(MSG, "msg", "TEXT", NONE)                                                                \
	X(ARGS, "args", "TEXT", NONE)                                                              \
	X(ARG0, "arg0", "", NONE)                                                                  \
	X(ARG1, "arg1", "", NONE)                                                                  \
	X(ARG2, "arg2", "", NONE)                                                                  \
	X(ARG3, "arg3", "", NONE)                                                                  \
	X(ARG4, "arg4", "", NONE)                                                                  \
	X(ARG5, "arg5", "", NONE)                                                                  \
	X(IDX, "idx", "INTEGER", NONE)                                                             \
	X(KEEP, "keep", "INTEGER", NONE)                                                           \
	X(APPROX, "approx", "INTEGER", NONE)

#define SQL_COUNTERS_COLUMNS(X)                                                                    \
	X(C_TIME, "time", "INTEGER", TIME)                                                         \
	X(C_TS_NS, "ts_ns", "INTEGER", MONO)                                                       \
	X(C_CPU, "cpu", "INTEGER", NUMBER)                                                         \
	X(C_PID, "pid", "INTEGER", NUMBER)                                                         \
	X(C_TID, "tid", "INTEGER", NUMBER)                                                         \
	X(C_THREAD, "thread", "TEXT", NAME)                                                        \
	X(C_SITE, "site", "TEXT", SITE)                                                            \
	X(C_GRP, "grp", "TEXT", SITE)                                                              \
	X(C_ID, "id", "TEXT", NONE)                                                                \
	X(C_VALUE, "value", "", NONE)

#define SQL_EVENTS_ENUM(NAME, ...)              SQL_EVENTS_##NAME,
#define SQL_EVENTS_ROW(NAME, name, type, role)  { name, KTR__SQL_##role },
#define SQL_EVENTS_TEXT(NAME, name, type, role) name " " type ","

enum {
	SQL_EVENTS_COLUMNS(SQL_EVENTS_ENUM)
};
enum {
	SQL_COUNTERS_COLUMNS(SQL_EVENTS_ENUM)
};

/* The hidden column is the last one. */
static const struct ktr__sql_column sql_events_columns[] = { SQL_EVENTS_COLUMNS(SQL_EVENTS_ROW){
	"filter", KTR__SQL_FILTER } };
static const struct ktr__sql_column sql_counters_columns[] = { SQL_COUNTERS_COLUMNS(SQL_EVENTS_ROW){
	"filter", KTR__SQL_FILTER } };

_Static_assert(KTR_ARGS_MAX == 6, "a column for each argument");

/* What the text of an event is rendered into. */
#define SQL_EVENTS_BYTES 16384

static int sql_events_best(sqlite3_index_info *info)
{
	return ktr__sql_plan_best(info, sql_events_columns, SQL_EVENTS_TIME, 1);
}

static int sql_counters_best(sqlite3_index_info *info)
{
	return ktr__sql_plan_best(info, sql_counters_columns, SQL_EVENTS_C_TIME, 1);
}

static int sql_events_next(struct ktr__sql_cursor *cursor)
{
	int what;

	while ((what = ktr__sql_read(cursor)) == KTR_READ_LOSS)
		;
	cursor->at_end = what != KTR_READ_EVENT;
	return what < 0 ? SQLITE_ERROR : SQLITE_OK;
}

static int sql_events_begin(struct ktr__sql_cursor *cursor, int plan, struct ktr__sql_plan *made)
{
	int rc;

	if (made->is_empty) {
		sqlite3_free(made->filter);
		cursor->at_end = 1;
		return SQLITE_OK;
	}
	rc = ktr__sql_plan_start(cursor, made, plan & KTR__SQL_REVERSE);
	return rc == SQLITE_OK ? sql_events_next(cursor) : rc;
}

static int sql_events_filter(struct ktr__sql_cursor *cursor, int plan, const char *text, int argc,
			     sqlite3_value **argv)
{
	struct ktr__sql_plan made;
	int rc = ktr__sql_plan_make(cursor, sql_events_columns, text, argc, argv, NULL, &made);

	return rc == SQLITE_OK ? sql_events_begin(cursor, plan, &made) : rc;
}

static int sql_counters_filter(struct ktr__sql_cursor *cursor, int plan, const char *text, int argc,
			       sqlite3_value **argv)
{
	struct ktr__sql_plan made;
	int rc = ktr__sql_plan_make(cursor, sql_counters_columns, text, argc, argv,
				    "kind == counter", &made);

	return rc == SQLITE_OK ? sql_events_begin(cursor, plan, &made) : rc;
}

static void sql_events_msg(const struct ktr__sql_cursor *cursor, sqlite3_context *to)
{
	char text[SQL_EVENTS_BYTES];
	size_t n = ktr_event_text(&cursor->event, text, sizeof(text));

	ktr__sql_bytes(to, text, n < sizeof(text) ? n : sizeof(text) - 1);
}

/* The arguments as ktr-json(5) has them. */
static void sql_events_args(struct ktr__sql_cursor *cursor, sqlite3_context *to)
{
	struct ktr__sink_json *json = cursor->lent->json;
	char *text;

	if (!json) {
		json = calloc(1, sizeof(*json));
		if (!json) {
			sqlite3_result_error_nomem(to);
			return;
		}
		json->reader = ktr__sql_reader(cursor->sql);
		json->only_events = 1;
		cursor->lent->json = json;
		if (ktr__sink_json_init(json)) {
			sqlite3_result_error_nomem(to);
			return;
		}
	}
	text = json->text ? ktr__sink_json_args(json, &cursor->event) : NULL;
	if (text)
		sqlite3_result_text(to, text, -1, free);
	else
		sqlite3_result_error_nomem(to);
}

static void sql_events_of_site(const struct ktr_reader_site *site, sqlite3_context *to, int column)
{
	switch (column) {
	case SQL_EVENTS_CLASS:
		ktr__sql_text(to, site->class_name);
		break;
	case SQL_EVENTS_SITE:
		ktr__sql_text(to, site->name);
		break;
	case SQL_EVENTS_SITE_ID:
		sqlite3_result_int64(to, site->id);
		break;
	case SQL_EVENTS_FILE:
		ktr__sql_text(to, site->file);
		break;
	case SQL_EVENTS_LINE:
		sqlite3_result_int64(to, site->line);
		break;
	case SQL_EVENTS_FUNC:
		ktr__sql_text(to, site->func);
		break;
	case SQL_EVENTS_KIND:
		ktr__sql_text(to, ktr__ktrgraph_text(site->kind));
		break;
	default:
		ktr__sql_text(to, site->format);
	}
}

static void sql_events_of_ring(const struct ktr_event *event, sqlite3_context *to, int column)
{
	switch (column) {
	case SQL_EVENTS_CPU:
		sqlite3_result_int64(to, event->cpu);
		break;
	case SQL_EVENTS_PID:
		sqlite3_result_int64(to, event->thread->pid);
		break;
	case SQL_EVENTS_TID:
		sqlite3_result_int64(to, event->thread->tid);
		break;
	case SQL_EVENTS_THREAD:
		ktr__sql_text(to, event->thread->name);
		break;
	case SQL_EVENTS_PROCESS:
		ktr__sql_text(to, event->thread->process);
		break;
	case SQL_EVENTS_IDX:
		sqlite3_result_int64(to, (sqlite3_int64)event->index);
		break;
	case SQL_EVENTS_KEEP:
		sqlite3_result_int(to, event->keep);
		break;
	case SQL_EVENTS_APPROX:
		sqlite3_result_int(to, event->approx);
		break;
	default:
		break;
	}
}

static void sql_events_column(struct ktr__sql_cursor *cursor, sqlite3_context *to, int column)
{
	const struct ktr_event *event = &cursor->event;
	const struct ktr_reader_info *info = ktr_reader_info(ktr__sql_reader(cursor->sql));

	if (column == SQL_EVENTS_TIME)
		sqlite3_result_int64(to, ktr__sql_time(cursor, event->time_ns));
	else if (column == SQL_EVENTS_TS_NS)
		sqlite3_result_int64(to, (sqlite3_int64)event->time_ns);
	else if (column == SQL_EVENTS_UTC_NS)
		sqlite3_result_int64(
			to, (sqlite3_int64)(event->time_ns + (uint64_t)info->utc_offset_ns));
	else if (column >= SQL_EVENTS_CLASS && column <= SQL_EVENTS_FORMAT)
		sql_events_of_site(event->site, to, column);
	else if (column >= SQL_EVENTS_ARG0 && column <= SQL_EVENTS_ARG5)
		ktr__sql_arg(to, event, (unsigned)(column - SQL_EVENTS_ARG0));
	else if (column == SQL_EVENTS_MSG)
		sql_events_msg(cursor, to);
	else if (column == SQL_EVENTS_ARGS)
		sql_events_args(cursor, to);
	else
		sql_events_of_ring(event, to, column);
}

static void sql_counters_column(struct ktr__sql_cursor *cursor, sqlite3_context *to, int column)
{
	const struct ktr_event *event = &cursor->event;
	const struct ktr_reader_site *site = event->site;
	static const int as_event[] = {
		[SQL_EVENTS_C_TIME] = SQL_EVENTS_TIME, [SQL_EVENTS_C_TS_NS] = SQL_EVENTS_TS_NS,
		[SQL_EVENTS_C_CPU] = SQL_EVENTS_CPU,   [SQL_EVENTS_C_PID] = SQL_EVENTS_PID,
		[SQL_EVENTS_C_TID] = SQL_EVENTS_TID,   [SQL_EVENTS_C_THREAD] = SQL_EVENTS_THREAD,
		[SQL_EVENTS_C_SITE] = SQL_EVENTS_SITE
	};

	if (column <= SQL_EVENTS_C_SITE)
		sql_events_column(cursor, to, as_event[column]);
	else if (column == SQL_EVENTS_C_GRP)
		ktr__sql_text(to, site->group);
	else if (column == SQL_EVENTS_C_ID && site->ident)
		ktr__sql_text(to, site->ident);
	else if (column == SQL_EVENTS_C_ID)
		ktr__sql_arg(to, event, 0);
	else if (column == SQL_EVENTS_C_VALUE && site->value_arg >= 0)
		ktr__sql_arg(to, event, (unsigned)site->value_arg);
}

static sqlite3_int64 sql_events_id(const struct ktr__sql_cursor *cursor)
{
	return (sqlite3_int64)ktr__sql_event_id(&cursor->event);
}

const struct ktr__sql_kind ktr__sql_events = {
	.name = "events",
	.schema = "CREATE TABLE events(" SQL_EVENTS_COLUMNS(SQL_EVENTS_TEXT) "filter HIDDEN)",
	.best = sql_events_best,
	.filter = sql_events_filter,
	.next = sql_events_next,
	.column = sql_events_column,
	.id = sql_events_id,
	.needs_reader = 1,
};

const struct ktr__sql_kind ktr__sql_counters = {
	.name = "counters",
	.schema = "CREATE TABLE counters(" SQL_COUNTERS_COLUMNS(SQL_EVENTS_TEXT) "filter HIDDEN)",
	.best = sql_counters_best,
	.filter = sql_counters_filter,
	.next = sql_events_next,
	.column = sql_counters_column,
	.id = sql_events_id,
	.needs_reader = 1,
};
