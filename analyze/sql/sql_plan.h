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

/* A bit of the plan: newest first. */
#define KTR__SQL_KEPT 2 /* of spans: they are looked up in memory, see sql_look.h */
#define KTR__SQL_REVERSE 1

/* '=', '<', 'l' (<=), '>', 'g' (>=) of SQLite's number for it; 0: of no use. */
char ktr__sql_plan_op(unsigned char op);

/*
 * A bound on time as whole nanoseconds: the least number that is at least (above: greater than) the
 * value. Numbers compare as SQLite compares them; a text is greater than all numbers.
 */
__int128 ktr__sql_plan_bound(sqlite3_value *value, int above);

/* Chooses constraints for the table. An SQLite code. */
int ktr__sql_plan_best(sqlite3_index_info *info, const struct ktr__sql_kind *kind);

struct ktr__sql_plan {
	uint64_t from_ns, to_ns; /* [from, to); UINT64_MAX: to the end */
	int is_empty;            /* nothing can match */
	char *filter;            /* owned (sqlite3_free), or NULL */
};

/* Makes it of the values for a plan's text; always: an expression that is asked for besides, or NULL. */
int ktr__sql_plan_make(struct ktr__sql_cursor *cursor, const char *text, sqlite3_value **argv, const char *always,
		       struct ktr__sql_plan *plan);

/*
 * Lends the cursor's reader and sets window and filter, or where nothing can match has the cursor at its end. Frees
 * the plan's filter. An SQLite code.
 */
int ktr__sql_plan_start(struct ktr__sql_cursor *cursor, struct ktr__sql_plan *plan, int reverse);

/* The same with a copy of the plan, which can begin so more than once. */
int ktr__sql_plan_restart(struct ktr__sql_cursor *cursor, const struct ktr__sql_plan *plan, int reverse);

#endif
