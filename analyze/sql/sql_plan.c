/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns constraints of SQLite into a reader's window and filter.
 *
 * The plan's text has two bytes for each value that xFilter gets: the column, from 'A', and the kind of
 * comparison. Constraints on the call site (class, file, function...) are looked up in the table of sites,
 * and become a list of their numbers; the filter settles those before it sees an event.
 */
#include "analyze/sql/sql_plan.h"

#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_table.h"
#include "conf/kit/utf8.h"

#include <math.h>
#include <string.h>

#define SQL_PLAN_ROWS  1e7 /* how many rows a table is taken to have */
#define SQL_PLAN_SITES 256 /* more than so many that match are left to SQLite */

char ktr__sql_plan_op(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	case SQLITE_INDEX_CONSTRAINT_LE:
		return 'l';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	default:
		return 0;
	}
}

static int sql_plan_is_time(enum ktr__sql_role role)
{
	return role == KTR__SQL_TIME || role == KTR__SQL_MONO || role == KTR__SQL_UTC;
}

static int sql_plan_is_of_site(enum ktr__sql_role role)
{
	return role == KTR__SQL_SITE || role == KTR__SQL_GROUP;
}

/* Is constraint i of use? Then how many rows it leaves, as a share; else 0. */
static double sql_plan_share(sqlite3_index_info *info, int i, const struct ktr__sql_column *column)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	enum ktr__sql_role role = c->iColumn < 0 ? KTR__SQL_NONE : column[c->iColumn].role;
	char op = ktr__sql_plan_op(c->op);

	if (!c->usable || !op || role == KTR__SQL_NONE || role == KTR__SQL_ARG)
		return 0;
	if (sql_plan_is_time(role))
		return op == '=' ? 1 / SQL_PLAN_ROWS : 0.25;
	if (op != '=')
		return 0;
	/* A text must be equal byte by byte. */
	if (role != KTR__SQL_NUMBER && role != KTR__SQL_FILTER &&
	    strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
		return 0;
	return 0.1;
}

int ktr__sql_plan_best(sqlite3_index_info *info, const struct ktr__sql_kind *kind)
{
	const struct ktr__sql_column *column = kind->column;
	char *text = sqlite3_malloc(2 * info->nConstraint + 1);
	double rows = SQL_PLAN_ROWS;
	int n = 0;

	if (!text)
		return SQLITE_NOMEM;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		double share = sql_plan_share(info, i, column);

		if (share == 0 && c->iColumn >= 0 && column[c->iColumn].role == KTR__SQL_FILTER) {
			/* It has no value to compare with: it must be given, and beforehand. */
			sqlite3_free(text);
			return SQLITE_CONSTRAINT;
		}
		if (share == 0)
			continue;
		text[2 * n] = (char)('A' + c->iColumn);
		text[2 * n + 1] = ktr__sql_plan_op(c->op);
		info->aConstraintUsage[i].argvIndex = ++n;
		info->aConstraintUsage[i].omit = sql_plan_is_time(column[c->iColumn].role) ||
						 column[c->iColumn].role == KTR__SQL_FILTER;
		rows *= share;
	}
	text[2 * n] = 0;
	info->idxStr = text;
	info->needToFreeIdxStr = 1;
	info->idxNum = 0;
	if (info->nOrderBy == 1 && kind->is_ordered && info->aOrderBy[0].iColumn == 0) {
		info->orderByConsumed = 1;
		info->idxNum = info->aOrderBy[0].desc ? KTR__SQL_REVERSE : 0;
	}
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = 1000 + rows;
	return SQLITE_OK;
}

/* ---- values ---- */

__int128 ktr__sql_plan_bound(sqlite3_value *value, int above)
{
	int type = sqlite3_value_numeric_type(value);
	double real;

	if (type == SQLITE_INTEGER)
		return (__int128)sqlite3_value_int64(value) + above;
	if (type != SQLITE_FLOAT)
		return (__int128)1 << 70;
	real = sqlite3_value_double(value);
	if (real > 1e20)
		return (__int128)1 << 70;
	if (real < -1e20)
		return -((__int128)1 << 70);
	return (__int128)ceil(real) + (above && ceil(real) == real);
}

struct sql_plan_window {
	__int128 from, to; /* of CLOCK_MONOTONIC */
};

static void sql_plan_time(struct sql_plan_window *w, __int128 zero, char op, sqlite3_value *value)
{
	if (op != '<' && op != 'l') {
		__int128 from = ktr__sql_plan_bound(value, op == '>') + zero;

		w->from = from > w->from ? from : w->from;
	}
	if (op != '>' && op != 'g') {
		__int128 to = ktr__sql_plan_bound(value, op != '<') + zero;

		w->to = to < w->to ? to : w->to;
	}
}

static void sql_plan_window(struct ktr__sql_plan *plan, const struct sql_plan_window *w)
{
	plan->is_empty |= w->from >= w->to || w->to <= 0 || w->from > UINT64_MAX;
	plan->from_ns = w->from < 0 ? 0 : (uint64_t)w->from;
	plan->to_ns = w->to > UINT64_MAX ? UINT64_MAX : (uint64_t)w->to;
}

/* Is the text what a program's bytes were, if they are equal? Then it may stand in a filter. */
static int sql_plan_is_plain(const char *text, size_t n)
{
	return ktr__utf8_plain(text, n) == n && !memchr(text, '"', n) && !memchr(text, '\\', n) &&
	       n < 200;
}

static int sql_plan_text_is(const char *text, sqlite3_value *value)
{
	const char *want = (const char *)sqlite3_value_text(value);
	size_t n = (size_t)sqlite3_value_bytes(value), n_text = strlen(text);
	char repaired[2048];

	if (ktr__utf8_plain(text, n_text) == n_text || 3 * n_text > sizeof(repaired))
		return want && n == n_text && memcmp(want, text, n) == 0;
	n_text = ktr__utf8_repair(repaired, text, n_text);
	return want && n == n_text && memcmp(want, repaired, n) == 0;
}

/* Does a site have this value in the column? */
static int sql_plan_site_is(const struct ktr_reader_site *site, const struct ktr__sql_column *column,
			    sqlite3_value *value)
{
	static const struct ktr__field group = KTR__OF_SITE(TEXT, group);
	const struct ktr__field field = column->role == KTR__SQL_GROUP ? group : column->field;
	const char *text;

	if (!ktr__field_is_text(field))
		return sqlite3_value_numeric_type(value) != SQLITE_TEXT &&
		       sqlite3_value_double(value) == (double)ktr__field_number(field, site);
	text = ktr__field_text(field, site);
	return sql_plan_text_is(text ? text : "", value);
}

/* ---- the filter ---- */

static void sql_plan_and(sqlite3_str *filter)
{
	if (sqlite3_str_length(filter))
		sqlite3_str_appendall(filter, " and ");
}

/* A field of an event. */
static void sql_plan_field(sqlite3_str *filter, const struct ktr__sql_column *column,
			   sqlite3_value *value, struct ktr__sql_plan *plan)
{
	const char *text = (const char *)sqlite3_value_text(value);

	if (column->role == KTR__SQL_NAME) {
		if (!text || !sql_plan_is_plain(text, (size_t)sqlite3_value_bytes(value)))
			return;
		sql_plan_and(filter);
		sqlite3_str_appendf(filter, "%s == \"%s\"", column->name, text);
	} else if (sqlite3_value_numeric_type(value) == SQLITE_INTEGER) {
		if (sqlite3_value_int64(value) < 0) {
			plan->is_empty = 1;
			return;
		}
		sql_plan_and(filter);
		sqlite3_str_appendf(filter, "%s == %lld", column->name, sqlite3_value_int64(value));
	}
}

/* The sites that have what all constraints on sites ask for. */
static void sql_plan_sites(struct ktr__sql_cursor *cursor, sqlite3_str *filter, const char *text,
			   sqlite3_value **argv, struct ktr__sql_plan *plan)
{
	const struct ktr__sql_column *column = cursor->kind->column;
	const struct ktr__tables *tables = ktr__reader_tables(ktr__sql_reader(cursor->sql));
	unsigned n = 0, found[SQL_PLAN_SITES];

	for (unsigned id = 0; id < tables->n_sites; id++) {
		int is = id == 0 || tables->site[id];

		for (int i = 0; text[2 * i] && is; i++)
			if (sql_plan_is_of_site(column[text[2 * i] - 'A'].role))
				is = sql_plan_site_is(ktr__tables_by_id(tables, id), &column[text[2 * i] - 'A'],
						      argv[i]);
		if (!is)
			continue;
		if (n == SQL_PLAN_SITES)
			return;
		found[n++] = id;
	}
	if (n == 0) {
		plan->is_empty = 1;
		return;
	}
	sql_plan_and(filter);
	for (unsigned i = 0; i < n; i++)
		sqlite3_str_appendf(filter, "%s%u", i ? ", " : "site in (", found[i]);
	sqlite3_str_appendall(filter, ")");
}

int ktr__sql_plan_make(struct ktr__sql_cursor *cursor, const char *text, sqlite3_value **argv, const char *always,
		       struct ktr__sql_plan *plan)
{
	const struct ktr_reader_info *info = ktr_reader_info(ktr__sql_reader(cursor->sql));
	struct sql_plan_window w = { 0, (__int128)UINT64_MAX + 1 };
	sqlite3_str *filter = sqlite3_str_new(NULL);
	int any_site = 0, rc;

	*plan = (struct ktr__sql_plan){ 0 };
	if (always)
		sqlite3_str_appendf(filter, "(%s)", always);
	for (int i = 0; text[2 * i]; i++) {
		const struct ktr__sql_column *c = &cursor->kind->column[text[2 * i] - 'A'];

		/* Nothing compares with NULL. */
		plan->is_empty |= sqlite3_value_type(argv[i]) == SQLITE_NULL;
		any_site |= sql_plan_is_of_site(c->role);
		if (c->role == KTR__SQL_FILTER) {
			sql_plan_and(filter);
			sqlite3_str_appendf(filter, "(%s)",
					    (const char *)sqlite3_value_text(argv[i]));
		} else if (sql_plan_is_time(c->role)) {
			sql_plan_time(&w,
				      c->role == KTR__SQL_TIME  ? (__int128)info->first_ns
				      : c->role == KTR__SQL_UTC ? -(__int128)info->utc_offset_ns
								: 0,
				      text[2 * i + 1], argv[i]);
		} else if (!sql_plan_is_of_site(c->role)) {
			sql_plan_field(filter, c, argv[i], plan);
		}
	}
	if (any_site)
		sql_plan_sites(cursor, filter, text, argv, plan);
	sql_plan_window(plan, &w);
	rc = sqlite3_str_errcode(filter);
	plan->filter = sqlite3_str_finish(filter); /* NULL where it is empty */
	return rc;
}

int ktr__sql_plan_start(struct ktr__sql_cursor *cursor, struct ktr__sql_plan *plan, int reverse)
{
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t to_ns = plan->to_ns == UINT64_MAX ? 0 : plan->to_ns;
	char line[KTR_ERROR_LINE_BYTES];
	int rc = plan->is_empty ? 0 : ktr__sql_lent(cursor->sql, cursor->lent, reverse, &cursor->reader, &err);

	cursor->at_end = plan->is_empty;
	if (plan->is_empty) {
		sqlite3_free(plan->filter);
		return SQLITE_OK;
	}
	/* A filter over the window that was there would look for events in all of it. */
	if (!rc)
		rc = ktr_reader_filter(cursor->reader, NULL, &err);
	if (!rc && ktr_reader_window(cursor->reader, plan->from_ns, to_ns)) {
		err = *ktr_reader_error(cursor->reader);
		rc = -1;
	}
	if (!rc && plan->filter)
		rc = ktr_reader_filter(cursor->reader, plan->filter, &err);
	if (rc)
		ktr__sql_complain(cursor, "%s%s", plan->filter && err.column ? "filter: " : "",
				  err.column ? err.text
					     : ktr_error_print(&err, line, sizeof(line)));
	sqlite3_free(plan->filter);
	plan->filter = NULL;
	return rc ? SQLITE_ERROR : SQLITE_OK;
}

int ktr__sql_plan_restart(struct ktr__sql_cursor *cursor, const struct ktr__sql_plan *plan, int reverse)
{
	struct ktr__sql_plan copy = *plan;

	copy.filter = plan->filter ? sqlite3_mprintf("%s", plan->filter) : NULL;
	if (plan->filter && !copy.filter)
		return SQLITE_NOMEM;
	return ktr__sql_plan_start(cursor, &copy, reverse);
}
