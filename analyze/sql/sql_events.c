/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables events and counters: a walk, whose window and filter come from the query.
 */
#include "analyze/print/sink_json.h"
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_group.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_plan.h"
#include "analyze/sql/sql_table.h"

#include <stdlib.h>
#include <string.h>

/* Columns that lie in no record. */
enum { SQL_EVENTS_MSG, SQL_EVENTS_ARGS, SQL_EVENTS_ID, SQL_EVENTS_VALUE };

static const struct ktr__sql_column sql_events_columns[] = {
	{ "time", "INTEGER", KTR__SQL_TIME, KTR__OF_EVENT(TIME, time_ns) },
	{ "ts_ns", "INTEGER", KTR__SQL_MONO, KTR__OF_EVENT(U64, time_ns) },
	{ "utc_ns", "INTEGER", KTR__SQL_UTC, KTR__OF_EVENT(UTC, time_ns) },
	{ "cpu", "INTEGER", KTR__SQL_NUMBER, KTR__OF_EVENT(U32, cpu) },
	{ "pid", "INTEGER", KTR__SQL_NUMBER, KTR__OF_THREAD(U32, pid) },
	{ "tid", "INTEGER", KTR__SQL_NUMBER, KTR__OF_THREAD(U32, tid) },
	{ "thread", "TEXT", KTR__SQL_NAME, KTR__OF_THREAD(TEXT, name) },
	{ "process", "TEXT", KTR__SQL_NAME, KTR__OF_THREAD(TEXT, process) },
	{ "class", "TEXT", KTR__SQL_SITE, KTR__OF_SITE(TEXT, class_name) },
	{ "site", "TEXT", KTR__SQL_SITE, KTR__OF_SITE(TEXT, name) },
	{ "site_id", "INTEGER", KTR__SQL_SITE, KTR__OF_SITE(U32, id) },
	{ "file", "TEXT", KTR__SQL_SITE, KTR__OF_SITE(TEXT, file) },
	{ "line", "INTEGER", KTR__SQL_SITE, KTR__OF_SITE(U32, line) },
	{ "func", "TEXT", KTR__SQL_SITE, KTR__OF_SITE(TEXT, func) },
	{ "kind", "TEXT", KTR__SQL_SITE, KTR__OF_SITE(KIND, kind) },
	{ "format", "TEXT", KTR__SQL_SITE, KTR__OF_SITE(TEXT, format) },
	{ "msg", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_EVENTS_MSG) },
	{ "args", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_EVENTS_ARGS) },
	{ "arg0", "", KTR__SQL_ARG, KTR__SQL_OWN(0) },
	{ "arg1", "", KTR__SQL_ARG, KTR__SQL_OWN(1) },
	{ "arg2", "", KTR__SQL_ARG, KTR__SQL_OWN(2) },
	{ "arg3", "", KTR__SQL_ARG, KTR__SQL_OWN(3) },
	{ "arg4", "", KTR__SQL_ARG, KTR__SQL_OWN(4) },
	{ "arg5", "", KTR__SQL_ARG, KTR__SQL_OWN(5) },
	{ "idx", "INTEGER", KTR__SQL_NONE, KTR__OF_EVENT(U64, index) },
	{ "keep", "INTEGER", KTR__SQL_NONE, KTR__OF_EVENT(U8, keep) },
	{ "approx", "INTEGER", KTR__SQL_NONE, KTR__OF_EVENT(U8, approx) },
	{ .name = "filter", .type = "HIDDEN", .role = KTR__SQL_FILTER },
	{ 0 }
};

static const struct ktr__sql_column sql_counters_columns[] = {
	{ "time", "INTEGER", KTR__SQL_TIME, KTR__OF_EVENT(TIME, time_ns) },
	{ "ts_ns", "INTEGER", KTR__SQL_MONO, KTR__OF_EVENT(U64, time_ns) },
	{ "cpu", "INTEGER", KTR__SQL_NUMBER, KTR__OF_EVENT(U32, cpu) },
	{ "pid", "INTEGER", KTR__SQL_NUMBER, KTR__OF_THREAD(U32, pid) },
	{ "tid", "INTEGER", KTR__SQL_NUMBER, KTR__OF_THREAD(U32, tid) },
	{ "thread", "TEXT", KTR__SQL_NAME, KTR__OF_THREAD(TEXT, name) },
	{ "site", "TEXT", KTR__SQL_SITE, KTR__OF_SITE(TEXT, name) },
	{ "grp", "TEXT", KTR__SQL_SITE, KTR__OF_SITE(TEXT, group) },
	{ "id", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_EVENTS_ID) },
	{ "value", "", KTR__SQL_NONE, KTR__SQL_OWN(SQL_EVENTS_VALUE) },
	{ .name = "filter", .type = "HIDDEN", .role = KTR__SQL_FILTER },
	{ 0 }
};

_Static_assert(KTR_ARGS_MAX == 6, "a column for each argument");

/* What the text of an event is rendered into. */
#define SQL_EVENTS_BYTES 16384

/*
 * A count asks for nothing of its rows. After so many of that kind the rest of a trace's walk is counted, which
 * looks at few of its events, and SQLite gets its rows. Should it ask for something of one then, the walk begins
 * anew, and all is read: what OFFSET passes over are such rows.
 */
#define SQL_EVENTS_UNASKED 4096

#define SQL_EVENTS_CHANGED "the trace has changed while it was read"

struct sql_events {
	struct ktr__sql_plan plan; /* of the walk, to begin it anew; its filter is owned */
	int reverse;
	unsigned n_unasked; /* rows so far, none of which anything was asked of */
	uint64_t n_counted; /* ahead: rows that are left */
	char *letters; /* owned, of a plan with groups; else NULL */
	struct ktr__sql_group *group; /* owned, likewise */
};

static int sql_events_start(struct ktr__sql_cursor *cursor)
{
	const struct sql_events *events = cursor->state;

	return ktr__sql_plan_restart(cursor, &events->plan, events->reverse);
}

static int sql_events_read(struct ktr__sql_cursor *cursor)
{
	int what;

	while ((what = ktr__sql_read(cursor)) == KTR_READ_LOSS)
		;
	cursor->at_end = what != KTR_READ_EVENT;
	return what < 0 ? SQLITE_ERROR : SQLITE_OK;
}

/* The next event of a group, or of the next one. */
static int sql_events_grouped(struct ktr__sql_cursor *cursor)
{
	const struct sql_events *events = cursor->state;
	int rc = ktr__sql_group_next(events->group, &cursor->event);

	cursor->at_end = rc <= 0;
	return rc < 0 ? ktr__sql_complain(cursor, "a temporary file: %s", strerror(-rc)) : SQLITE_OK;
}

static int sql_events_next(struct ktr__sql_cursor *cursor)
{
	struct sql_events *events = cursor->state;

	if (events->group)
		return sql_events_grouped(cursor);
	if (cursor->is_ahead) {
		cursor->at_end = --events->n_counted == 0;
		return SQLITE_OK;
	}
	if (cursor->is_asked || ++events->n_unasked != SQL_EVENTS_UNASKED ||
	    ktr_reader_info(cursor->reader)->kind != KTR_SOURCE_TRACE)
		return sql_events_read(cursor);
	if (ktr__sql_count(cursor, &events->n_counted))
		return SQLITE_ERROR;
	cursor->is_ahead = 1;
	cursor->at_end = events->n_counted == 0;
	return SQLITE_OK;
}

/* Reads up to the row. */
static int sql_events_back(struct ktr__sql_cursor *cursor)
{
	int rc = sql_events_start(cursor);

	cursor->is_ahead = 0;
	for (sqlite3_int64 row = 0; row <= cursor->row && rc == SQLITE_OK && !cursor->at_end; row++)
		rc = sql_events_read(cursor);
	if (rc == SQLITE_OK && cursor->at_end)
		rc = ktr__sql_complain(cursor, SQL_EVENTS_CHANGED);
	return rc;
}

static void sql_events_close(struct ktr__sql_cursor *cursor)
{
	struct sql_events *events = cursor->state;

	if (events) {
		sqlite3_free(events->plan.filter);
		sqlite3_free(events->letters);
		ktr__sql_group_free(events->group);
	}
	free(events);
	cursor->state = NULL;
}

/* Walks, and goes to the first event of the first group. */
static int sql_events_group(struct ktr__sql_cursor *cursor, int with_id)
{
	struct sql_events *events = cursor->state;
	int rc;

	ktr__sql_group_free(events->group);
	rc = ktr__sql_group_make(&events->group, cursor, &events->plan, events->letters, with_id);
	return rc == SQLITE_OK ? sql_events_grouped(cursor) : rc;
}

static int sql_events_filter(struct ktr__sql_cursor *cursor, int plan, const char *text, sqlite3_value **argv)
{
	struct sql_events *events;
	int rc;

	sql_events_close(cursor);
	cursor->state = events = calloc(1, sizeof(*events));
	if (!events)
		return SQLITE_NOMEM;
	events->reverse = plan & KTR__SQL_REVERSE;
	if (plan & KTR__SQL_GROUPED) {
		events->letters = sqlite3_mprintf("%.*s", (int)ktr__sql_group_letters(cursor->kind), text);
		if (!events->letters)
			return SQLITE_NOMEM;
		text += ktr__sql_group_letters(cursor->kind);
	}
	rc = ktr__sql_plan_make(cursor, text, argv, cursor->kind->always, &events->plan);
	if (rc == SQLITE_OK && events->letters)
		return sql_events_group(cursor, 0);
	if (rc == SQLITE_OK)
		rc = sql_events_start(cursor);
	return rc != SQLITE_OK || cursor->at_end ? rc : sql_events_read(cursor);
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

static void sql_events_own(struct ktr__sql_cursor *cursor, sqlite3_context *to, unsigned number)
{
	const struct ktr_event *event = &cursor->event;
	const struct ktr_reader_site *site = event->site;

	if (number == SQL_EVENTS_MSG)
		sql_events_msg(cursor, to);
	else if (number == SQL_EVENTS_ARGS)
		sql_events_args(cursor, to);
	else if (number == SQL_EVENTS_ID && site->ident)
		ktr__sql_text(to, site->ident);
	else if (number == SQL_EVENTS_ID)
		ktr__sql_arg(to, event, 0);
	else if (site->value_arg >= 0)
		ktr__sql_arg(to, event, (unsigned)site->value_arg);
}

/* SQLite does not tell beforehand whether it asks for this: if it does, groups are made once more with it. */
static int sql_events_id(struct ktr__sql_cursor *cursor, sqlite3_int64 *id)
{
	const struct sql_events *events = cursor->state;

	if (events->group && !ktr__sql_group_has_id(events->group)) {
		int rc = sql_events_group(cursor, 1);

		for (sqlite3_int64 row = 0; row < cursor->row && rc == SQLITE_OK && !cursor->at_end; row++)
			rc = sql_events_grouped(cursor);
		if (rc != SQLITE_OK || cursor->at_end)
			return rc != SQLITE_OK ? rc : ktr__sql_complain(cursor, SQL_EVENTS_CHANGED);
	}
	*id = (sqlite3_int64)ktr__sql_event_id(&cursor->event);
	return SQLITE_OK;
}

const struct ktr__sql_kind ktr__sql_events = {
	.name = "events",
	.column = sql_events_columns,
	.is_planned = 1,
	.is_ordered = 1,
	.filter = sql_events_filter,
	.next = sql_events_next,
	.own = sql_events_own,
	.id = sql_events_id,
	.is_grouped = 1,
	.back = sql_events_back,
	.close = sql_events_close,
	.needs_reader = 1,
};

const struct ktr__sql_kind ktr__sql_counters = {
	.name = "counters",
	.column = sql_counters_columns,
	.is_planned = 1,
	.is_ordered = 1,
	.always = "kind == counter",
	.filter = sql_events_filter,
	.next = sql_events_next,
	.own = sql_events_own,
	.id = sql_events_id,
	.is_grouped = 1,
	.back = sql_events_back,
	.close = sql_events_close,
	.needs_reader = 1,
};
