/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a query asks of a walk: a window, a direction, and a filter of the reader's.
 *
 * xBestIndex says which of its constraints are taken; xFilter makes window and filter of their values.
 * Both go by a description of the table's columns. What the reader lets pass is never too little, and
 * SQLite looks at each row again, but for the window and the expression, which are exact.
 */
#ifndef ANALYZE_SQL_PLAN_H
#define ANALYZE_SQL_PLAN_H

#include "analyze/sql/sql_table.h"

/* What a column is to the plan. */
enum ktr__sql_role {
	KTR__SQL_NONE,
	KTR__SQL_TIME,   /* nanoseconds since the first event */
	KTR__SQL_MONO,   /* of CLOCK_MONOTONIC */
	KTR__SQL_UTC,    /* since 1970 */
	KTR__SQL_NUMBER, /* a field of the filter language that is a number, of an event */
	KTR__SQL_NAME,   /* one that is a text, of an event */
	KTR__SQL_SITE,   /* something of the call site: see ktr__sql_site_is() */
	KTR__SQL_FILTER  /* hidden: an expression of ktr-filter(7) */
};

struct ktr__sql_column {
	const char *name; /* in the filter language, too */
	enum ktr__sql_role role;
};

/* A bit of the plan: newest first. */
#define KTR__SQL_REVERSE 1

/* Chooses constraints. time_column: in whose order the rows come, or -1; back: they can come in reverse. */
int ktr__sql_plan_best(sqlite3_index_info *info, const struct ktr__sql_column *column,
		       int time_column, int back);

struct ktr__sql_plan {
	uint64_t from_ns, to_ns; /* [from, to); UINT64_MAX: to the end */
	int is_empty;            /* nothing can match */
	char *filter;            /* owned (sqlite3_free), or NULL */
};

/* Makes it of the values. always: an expression that is asked for besides, or NULL. An SQLite code. */
int ktr__sql_plan_make(struct ktr__sql_cursor *cursor, const struct ktr__sql_column *column,
		       const char *text, int argc, sqlite3_value **argv, const char *always,
		       struct ktr__sql_plan *plan);

/* Lends the cursor's reader and sets window and filter. Frees the plan's filter. An SQLite code. */
int ktr__sql_plan_start(struct ktr__sql_cursor *cursor, struct ktr__sql_plan *plan, int reverse);

/* Does a site have this value in the column of that name? */
int ktr__sql_site_is(const struct ktr_reader_site *site, const char *column, sqlite3_value *value);

#endif
