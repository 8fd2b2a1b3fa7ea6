/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table calls: scopes and probed functions, each with how deep it lay, within which, and the time that was its
 * own. Always the whole of it, in the order of their ends: what a call has within it, it has from anywhere.
 */
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_plan.h"
#include "analyze/sql/sql_table.h"
#include "analyze/stats/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SQL_CALLS_TIME,
	SQL_CALLS_UNTIL,
	SQL_CALLS_DUR,
	SQL_CALLS_SELF,
	SQL_CALLS_NAME,
	SQL_CALLS_PARENT,
	SQL_CALLS_DEPTH,
	SQL_CALLS_UNSURE,
	SQL_CALLS_ARGS,
	SQL_CALLS_RESULT
};

static const struct ktr__sql_column sql_calls_columns[] = {
	{ "time", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_TIME) },
	{ "until", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_UNTIL) },
	{ "dur", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_DUR) },
	{ "self_dur", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_SELF) },
	{ "name", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_NAME) },
	{ "parent", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_PARENT) },
	{ "depth", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_DEPTH) },
	{ "pid", "INTEGER", KTR__SQL_NONE, KTR__OF_THREAD(U32, pid) },
	{ "tid", "INTEGER", KTR__SQL_NONE, KTR__OF_THREAD(U32, tid) },
	{ "thread", "TEXT", KTR__SQL_NONE, KTR__OF_THREAD(TEXT, name) },
	{ "site", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, name) },
	{ "unsure", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_UNSURE) },
	{ "args", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_ARGS) },
	{ "result", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_CALLS_RESULT) },
	{ 0 }
};

struct sql_calls_row {
	struct sql_calls_row *next;
	struct ktr__span span;
	struct ktr__call call;
};

struct sql_calls {
	struct ktr__calls *calls;
	struct sql_calls_row *first, *last;
	int finished;
};

static int sql_calls_queue(void *context, const struct ktr__call *call)
{
	struct sql_calls *state = context;
	struct sql_calls_row *row = malloc(sizeof(*row));

	if (!row)
		return -ENOMEM;
	row->next = NULL;
	row->span = *call->span;
	row->call = *call;
	row->call.span = &row->span;
	row->call.args = call->args ? strdup(call->args) : NULL;
	row->call.result = call->result ? strdup(call->result) : NULL;
	*(state->last ? &state->last->next : &state->first) = row;
	state->last = row;
	return 0;
}

static void sql_calls_pop(struct sql_calls *state)
{
	struct sql_calls_row *row = state->first;

	if (!row)
		return;
	state->first = row->next;
	if (!state->first)
		state->last = NULL;
	free(row->call.args);
	free(row->call.result);
	free(row);
}

static void sql_calls_close(struct ktr__sql_cursor *cursor)
{
	struct sql_calls *state = cursor->state;

	while (state && state->first)
		sql_calls_pop(state);
	if (state)
		ktr__calls_free(state->calls);
	free(state);
	cursor->state = NULL;
}

/* Reads on until there is a row, or the end. */
static int sql_calls_fill(struct ktr__sql_cursor *cursor)
{
	struct sql_calls *state = cursor->state;
	int what, rc = 0;

	while (!state->first && !state->finished && !rc) {
		what = ktr__sql_read(cursor);
		if (what < 0)
			return SQLITE_ERROR;
		if (what == KTR_READ_EVENT)
			rc = ktr__calls_event(state->calls, &cursor->event);
		else if (what == KTR_READ_LOSS)
			ktr__calls_loss(state->calls, ktr_reader_loss(cursor->reader));
		else
			rc = ktr__calls_finish(state->calls, ktr_reader_info(cursor->reader)->last_ns);
		state->finished = what == KTR_READ_END;
	}
	cursor->at_end = !state->first;
	return rc ? SQLITE_NOMEM : SQLITE_OK;
}

static int sql_calls_next(struct ktr__sql_cursor *cursor)
{
	sql_calls_pop(cursor->state);
	return sql_calls_fill(cursor);
}

static int sql_calls_filter(struct ktr__sql_cursor *cursor, int plan, const char *text, sqlite3_value **argv)
{
	static const struct ktr__calls_hooks hooks = { NULL, sql_calls_queue };
	uint64_t first_ns = ktr_reader_info(ktr__sql_reader(cursor->sql))->first_ns;
	struct ktr__sql_plan made;
	struct sql_calls *state;
	int rc;

	(void)plan;
	(void)text;
	(void)argv;
	sql_calls_close(cursor);
	state = cursor->state = calloc(1, sizeof(*state));
	if (!state || ktr__calls_new(&state->calls, &hooks, state, first_ns))
		return SQLITE_NOMEM;
	rc = ktr__sql_plan_make(cursor, "", NULL, cursor->kind->always, &made);
	if (rc == SQLITE_OK)
		rc = ktr__sql_plan_start(cursor, &made, 0);
	return rc == SQLITE_OK && !cursor->at_end ? sql_calls_fill(cursor) : rc;
}

static const void *sql_calls_record(const struct ktr__sql_cursor *cursor, enum ktr__field_of of)
{
	const struct ktr__span *span = &((const struct sql_calls *)cursor->state)->first->span;

	return of == KTR__FIELD_SITE ? (const void *)span->site : span->thread;
}

/* What was not seen is NULL, and so is a length without both ends. */
static void sql_calls_own(struct ktr__sql_cursor *cursor, sqlite3_context *to, unsigned number)
{
	const struct ktr__call *call = &((const struct sql_calls *)cursor->state)->first->call;
	const struct ktr__span *span = call->span;
	int no_start = (span->flags & KTR__SPAN_NO_START) != 0, no_end = (span->flags & KTR__SPAN_NO_END) != 0;

	if (number == SQL_CALLS_TIME && !no_start)
		sqlite3_result_int64(to, ktr__sql_time(cursor, span->from_ns));
	else if (number == SQL_CALLS_UNTIL && !no_end)
		sqlite3_result_int64(to, ktr__sql_time(cursor, span->to_ns));
	else if (number == SQL_CALLS_DUR && !no_start && !no_end)
		sqlite3_result_int64(to, (sqlite3_int64)ktr__call_total_ns(call));
	else if (number == SQL_CALLS_SELF && !no_start && !no_end)
		sqlite3_result_int64(to, (sqlite3_int64)ktr__call_self_ns(call));
	else if (number == SQL_CALLS_NAME)
		ktr__sql_text(to, ktr__call_name(call));
	else if (number == SQL_CALLS_PARENT && call->outer)
		ktr__sql_text(to, call->outer);
	else if (number == SQL_CALLS_DEPTH)
		sqlite3_result_int64(to, call->depth);
	else if (number == SQL_CALLS_UNSURE)
		sqlite3_result_int(to, (span->flags & KTR__SPAN_UNSURE) != 0);
	else if (number == SQL_CALLS_ARGS && call->args)
		ktr__sql_bytes(to, call->args, strlen(call->args)); /* gone with the row */
	else if (number == SQL_CALLS_RESULT && call->result)
		ktr__sql_bytes(to, call->result, strlen(call->result));
}

const struct ktr__sql_kind ktr__sql_calls = {
	.name = "calls",
	.column = sql_calls_columns,
	.always = "kind in (\"start\", \"stop\")",
	.filter = sql_calls_filter,
	.next = sql_calls_next,
	.record = sql_calls_record,
	.own = sql_calls_own,
	.close = sql_calls_close,
	.needs_reader = 1,
};
