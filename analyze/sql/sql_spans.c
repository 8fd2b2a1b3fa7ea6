/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table spans: a walk whose events of START, STOP and STATE (or of a pair given by hand) become
 * rows when they end. One event may end several: they wait in a queue.
 *
 * The walk is of all the trace, since what begins before a window may end in it.
 */
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_look.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_plan.h"
#include "analyze/sql/sql_table.h"
#include "analyze/stats/pairs.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Columns that lie in no record, or whose bytes do not live as long as the database. */
enum {
	SQL_SPANS_TIME,
	SQL_SPANS_UNTIL,
	SQL_SPANS_DUR,
	SQL_SPANS_KIND,
	SQL_SPANS_GRP,
	SQL_SPANS_ID,
	SQL_SPANS_STATE,
	SQL_SPANS_KEY,
	SQL_SPANS_END_TID,
	SQL_SPANS_UNSURE
};

#define SQL_OF_SPAN(type, member) KTR__FIELD_AT(EVENT, type, struct ktr__span, member)

/* until is what the rows are in the order of. */
static const struct ktr__sql_column sql_spans_columns[] = {
	{ "time", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_TIME) },
	{ "until", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_UNTIL) },
	{ "dur", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_DUR) },
	{ "kind", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_KIND) },
	{ "grp", "TEXT", KTR__SQL_GROUP, KTR__SQL_OWN(SQL_SPANS_GRP) },
	{ "id", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_ID) },
	{ "state", "TEXT", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_STATE) },
	{ "key", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_KEY) },
	{ "pid", "INTEGER", KTR__SQL_NUMBER, SQL_OF_SPAN(U32, pid) },
	{ "tid", "INTEGER", KTR__SQL_NONE, KTR__OF_THREAD(U32, tid) },
	{ "thread", "TEXT", KTR__SQL_NONE, KTR__OF_THREAD(TEXT, name) },
	{ "end_tid", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_END_TID) },
	{ "cpu", "INTEGER", KTR__SQL_NONE, SQL_OF_SPAN(U32, cpu) },
	{ "site", "TEXT", KTR__SQL_NONE, KTR__OF_SITE(TEXT, name) },
	{ "depth", "INTEGER", KTR__SQL_NONE, SQL_OF_SPAN(U32, depth) },
	{ "unsure", "INTEGER", KTR__SQL_NONE, KTR__SQL_OWN(SQL_SPANS_UNSURE) },
	{ .name = "pair", .type = "HIDDEN", .role = KTR__SQL_FILTER },
	{ 0 }
};

struct sql_spans {
	struct ktr__spans *spans;
	struct ktr__pairs *pairs; /* NULL: START, STOP and STATE */
	struct ktr__sql_span_row *first, *last;
	uint64_t end_id; /* of the event that ends what is queued; 0: the trace's end */
	int finished;
	int looks; /* rows are kept ones, which are not ours, of look */
	struct ktr__sql_look look;
};

/* Without an end, spans of one process, group, id and key differ by their depth. */
static uint64_t sql_spans_id(uint64_t end_id, const struct ktr__span *span)
{
	uint64_t id = ktr__hash_word(end_id, (uint64_t)span->kind << 32 ^ span->process_key);

	id = ktr__hash_bytes(id, span->group, strlen(span->group));
	id = ktr__hash_bytes(id, span->ident.bytes, span->ident.n_bytes);
	return ktr__hash_word(ktr__hash_word(id, span->key), span->depth);
}

/* A span's bytes are gone when the next one comes. */
static int sql_spans_queue(void *context, const struct ktr__span *span)
{
	struct sql_spans *state = context;
	size_t n = (size_t)span->ident.n_bytes + span->state.n_bytes;
	struct ktr__sql_span_row *row = malloc(sizeof(*row) + n + (state->pairs ? strlen(span->group) + 1 : 0));

	if (!row)
		return -ENOMEM;
	row->next = NULL;
	row->span = *span;
	row->id = sql_spans_id(state->end_id, span);
	if (span->ident.n_bytes)
		memcpy(row->text, span->ident.bytes, span->ident.n_bytes);
	if (span->state.n_bytes)
		memcpy(row->text + span->ident.n_bytes, span->state.bytes, span->state.n_bytes);
	/* A pair's group is gone with its cursor. */
	if (state->pairs)
		row->span.group = strcpy(row->text + n, span->group);
	row->span.ident.bytes = row->text;
	row->span.state.bytes = row->text + span->ident.n_bytes;
	*(state->last ? &state->last->next : &state->first) = row;
	state->last = row;
	return 0;
}

static void sql_spans_pop(struct sql_spans *state)
{
	struct ktr__sql_span_row *row = state->first;

	if (!row)
		return;
	state->first = row->next;
	if (!state->first)
		state->last = NULL;
	free(row);
}

static void sql_spans_close(struct ktr__sql_cursor *cursor)
{
	struct sql_spans *state = cursor->state;

	if (!state)
		return;
	while (state->first && !state->looks)
		sql_spans_pop(state);
	ktr__pairs_free(state->pairs);
	ktr__spans_free(state->spans);
	free(state);
	cursor->state = NULL;
}

/* Reads on until there is a row, or the end. */
static int sql_spans_fill(struct ktr__sql_cursor *cursor)
{
	struct sql_spans *state = cursor->state;
	int what, rc = 0;

	while (!state->first && !state->finished && !rc) {
		what = ktr__sql_read(cursor);
		if (what < 0)
			return SQLITE_ERROR;
		state->end_id = what == KTR_READ_EVENT ? ktr__sql_event_id(&cursor->event) : 0;
		if (what == KTR_READ_EVENT)
			rc = state->pairs ? ktr__pairs_event(state->pairs, &cursor->event)
					  : ktr__spans_event(state->spans, &cursor->event);
		else if (what == KTR_READ_LOSS)
			ktr__spans_loss(state->spans, ktr_reader_loss(cursor->reader));
		else
			rc = ktr__spans_finish(state->spans,
					       ktr_reader_info(cursor->reader)->last_ns);
		state->finished = what == KTR_READ_END;
	}
	cursor->at_end = !state->first;
	return rc ? SQLITE_NOMEM : SQLITE_OK;
}

static int sql_spans_next(struct ktr__sql_cursor *cursor)
{
	struct sql_spans *state = cursor->state;

	if (state->looks) {
		state->first = ktr__sql_kept_next(&state->look);
		cursor->at_end = !state->first;
		return SQLITE_OK;
	}
	sql_spans_pop(cursor->state);
	return sql_spans_fill(cursor);
}

/* The pair, if one is given. SQLITE_OK or a complaint. */
static int sql_spans_pair(struct ktr__sql_cursor *cursor, const char *text, sqlite3_value **argv,
			  struct ktr__pair *pair, const char **given)
{
	struct ktr_error err = KTR_ERROR_NONE;

	for (int i = 0; text[2 * i]; i++) {
		const char *value = (const char *)sqlite3_value_text(argv[i]);

		if (sql_spans_columns[text[2 * i] - 'A'].role != KTR__SQL_FILTER || !value)
			continue;
		*given = value;
		if (ktr__pair_parse(pair, value, &err) ||
		    ktr__pairs_check(pair, 1, ktr__sql_reader(cursor->sql), &err))
			return ktr__sql_complain(cursor, "spans: %s", err.text);
	}
	return SQLITE_OK;
}

static int sql_spans_new(struct ktr__sql_cursor *cursor, const struct ktr__pair *pair)
{
	struct sql_spans *state = calloc(1, sizeof(*state));

	cursor->state = state;
	if (!state ||
	    ktr__spans_new(&state->spans, ktr_reader_info(ktr__sql_reader(cursor->sql))->first_ns,
			   sql_spans_queue, state) ||
	    (pair && ktr__pairs_new(&state->pairs, pair, 1, state->spans)))
		return SQLITE_NOMEM;
	return SQLITE_OK;
}

/* What the walk is filtered by; a pair needs all of its process's events. */
static int sql_spans_walk(struct ktr__sql_cursor *cursor, const char *text, sqlite3_value **argv,
			  const struct ktr__pair *pair)
{
	struct ktr__sql_plan made;
	int rc = sql_spans_new(cursor, pair);

	if (rc == SQLITE_OK)
		rc = ktr__sql_plan_make(cursor, pair ? "" : text, argv, pair ? NULL : cursor->kind->always, &made);
	if (rc == SQLITE_OK)
		rc = ktr__sql_plan_start(cursor, &made, 0);
	return rc == SQLITE_OK && !cursor->at_end ? sql_spans_fill(cursor) : rc;
}

/* Reads all spans, of a pair or with "" of the trace, and keeps them. */
static int sql_spans_keep(struct ktr__sql_cursor *cursor, const struct ktr__pair *pair, const char *given)
{
	int rc = sql_spans_walk(cursor, "", NULL, pair);
	struct sql_spans *state = cursor->state;
	struct ktr__sql_kept *kept;

	while (rc == SQLITE_OK && !state->finished) {
		struct ktr__sql_span_row *first = state->first, *last = state->last;

		/* Only what has no row yet is read for. */
		state->first = state->last = NULL;
		rc = sql_spans_fill(cursor);
		if (first && !state->first)
			state->last = last;
		if (first) {
			last->next = state->first;
			state->first = first;
		}
	}
	if (rc != SQLITE_OK)
		return rc;
	kept = ktr__sql_kept_new(state->first);
	state->first = state->last = NULL;
	if (!kept || ktr__sql_keep(cursor->sql, given, kept))
		return SQLITE_NOMEM;
	sql_spans_close(cursor);
	return SQLITE_OK;
}

/* Looks for what is kept. */
static int sql_spans_look(struct ktr__sql_cursor *cursor, const char *text, sqlite3_value **argv,
			  const struct ktr__pair *pair, const char *given)
{
	struct ktr__sql_look look;
	struct sql_spans *state;
	int rc = SQLITE_OK;

	if (!ktr__sql_look_make(cursor, text, argv, &look)) {
		cursor->at_end = 1;
		return SQLITE_OK;
	}
	if (!ktr__sql_kept(cursor->sql, given))
		rc = sql_spans_keep(cursor, pair, given);
	if (rc != SQLITE_OK)
		return rc;
	state = cursor->state = calloc(1, sizeof(*state));
	if (!state || ktr__sql_kept_look(ktr__sql_kept(cursor->sql, given), &look, ktr__sql_look_hash))
		return SQLITE_NOMEM;
	state->looks = 1;
	state->look = look;
	return sql_spans_next(cursor);
}

static int sql_spans_filter(struct ktr__sql_cursor *cursor, int plan, const char *text, sqlite3_value **argv)
{
	const char *given = NULL;
	struct ktr__pair pair;
	int rc;

	sql_spans_close(cursor);
	rc = sql_spans_pair(cursor, text, argv, &pair, &given);
	if (rc != SQLITE_OK)
		return rc;
	if (plan & KTR__SQL_KEPT)
		return sql_spans_look(cursor, text, argv, given ? &pair : NULL, given ? given : "");
	return sql_spans_walk(cursor, text, argv, given ? &pair : NULL);
}

static const void *sql_spans_record(const struct ktr__sql_cursor *cursor, enum ktr__field_of of)
{
	const struct ktr__span *span = &((const struct sql_spans *)cursor->state)->first->span;

	if (of == KTR__FIELD_EVENT)
		return span;
	return of == KTR__FIELD_SITE ? (const void *)span->site : span->thread;
}

/* An end that was not seen is NULL, and so is a length without both; that of its process is one. */
static void sql_spans_times(const struct ktr__sql_cursor *cursor, const struct ktr__span *span,
			    sqlite3_context *to, unsigned number)
{
	int no_start = (span->flags & KTR__SPAN_NO_START) != 0,
	    no_end = (span->flags & (KTR__SPAN_NO_END | KTR__SPAN_LEFT)) == KTR__SPAN_NO_END;

	if (number == SQL_SPANS_TIME && !no_start)
		sqlite3_result_int64(to, ktr__sql_time(cursor, span->from_ns));
	else if (number == SQL_SPANS_UNTIL && !no_end)
		sqlite3_result_int64(to, ktr__sql_time(cursor, span->to_ns));
	else if (number == SQL_SPANS_DUR && !no_start && !no_end)
		sqlite3_result_int64(to, (sqlite3_int64)(span->to_ns - span->from_ns));
}

static void sql_spans_own(struct ktr__sql_cursor *cursor, sqlite3_context *to, unsigned number)
{
	const struct ktr__span *span = sql_spans_record(cursor, KTR__FIELD_EVENT);
	int is_state = span->kind == KTR_KIND_STATE;

	if (number <= SQL_SPANS_DUR)
		sql_spans_times(cursor, span, to, number);
	else if (number == SQL_SPANS_KIND)
		ktr__sql_text(to, span->pair ? "pair" : is_state ? "state" : "span");
	else if (number == SQL_SPANS_GRP) /* a pair's is gone with the cursor */
		ktr__sql_bytes(to, span->group, strlen(span->group));
	else if (number == SQL_SPANS_ID)
		ktr__sql_bytes(to, span->ident.bytes, span->ident.n_bytes);
	else if (number == SQL_SPANS_STATE && is_state)
		ktr__sql_bytes(to, span->state.bytes, span->state.n_bytes);
	else if (number == SQL_SPANS_KEY && !is_state)
		sqlite3_result_int64(to, (sqlite3_int64)span->key);
	else if (number == SQL_SPANS_END_TID && span->end_thread)
		sqlite3_result_int64(to, span->end_thread->tid);
	else if (number == SQL_SPANS_UNSURE)
		sqlite3_result_int(to, (span->flags & KTR__SPAN_UNSURE) != 0);
}

static int sql_spans_row_id(struct ktr__sql_cursor *cursor, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((const struct sql_spans *)cursor->state)->first->id;
	return SQLITE_OK;
}

const struct ktr__sql_kind ktr__sql_spans = {
	.name = "spans",
	.column = sql_spans_columns,
	.is_planned = 1,
	.always = "kind in (\"start\", \"stop\", \"state\")",
	.best = ktr__sql_look_best,
	.filter = sql_spans_filter,
	.next = sql_spans_next,
	.record = sql_spans_record,
	.own = sql_spans_own,
	.id = sql_spans_row_id,
	.close = sql_spans_close,
	.needs_reader = 1,
};
