/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tables of sql.h have in common: a row of struct ktr__sql_kind each, one implementation of
 * SQLite's module over them (sql_module.c), readers that are lent to cursors and come back.
 *
 * Readers live as long as the database, and so do the strings of their tables: results may point to
 * them (SQLITE_STATIC). Only one statement's cursor uses a reader at a time.
 */
#ifndef ANALYZE_SQL_TABLE_H
#define ANALYZE_SQL_TABLE_H

#include "analyze/sql/sql.h"

struct ktr__sql_cursor;

/* What a query asks of one column, for xBestIndex: op is one of SQLITE_INDEX_CONSTRAINT_*. */
struct ktr__sql_kind {
	const char *name;
	const char *schema; /* for sqlite3_declare_vtab */
	/* xBestIndex; NULL: always the whole table, which is small. */
	int (*best)(sqlite3_index_info *info);
	/* Begins. SQLite codes from here on; complaints by ktr__sql_complain(). */
	int (*filter)(struct ktr__sql_cursor *cursor, int plan, const char *text, int argc,
		      sqlite3_value **argv);
	int (*next)(struct ktr__sql_cursor *cursor); /* sets cursor->at_end */
	void (*column)(struct ktr__sql_cursor *cursor, sqlite3_context *to, int column);
	/*
	 * What tells the row from all others in whatever walk it comes: SQLite joins the walks of OR, and
	 * of RIGHT JOIN, by it. NULL: every walk is of all rows, and their running number does.
	 */
	sqlite3_int64 (*id)(const struct ktr__sql_cursor *cursor);
	void (*close)(struct ktr__sql_cursor *cursor); /* frees cursor->state; may be NULL */
	int needs_reader;                              /* one of its own, to walk with */
};

extern const struct ktr__sql_kind ktr__sql_events, ktr__sql_counters, ktr__sql_losses,
	ktr__sql_spans, ktr__sql_sites, ktr__sql_threads, ktr__sql_trace;

struct ktr__sql_reader {
	struct ktr_reader *reader[2]; /* forward, and backward: opened when first asked for */
	struct ktr__sink_json *json;  /* for arguments; NULL until then */
	int used;
};

struct ktr__sql_cursor {
	sqlite3_vtab_cursor base; /* first */
	const struct ktr__sql_kind *kind;
	struct ktr__sql *sql;
	struct ktr__sql_reader *lent; /* NULL if the table needs none */
	struct ktr_reader *reader;    /* the one of the two that is walked */
	struct ktr_event event;
	sqlite3_int64 row; /* running number in this walk */
	int at_end;
	void *state; /* the kind's own */
};

#endif
