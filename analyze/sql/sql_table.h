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

#include "analyze/read/field.h"
#include "analyze/sql/sql.h"

struct ktr__sql_cursor;

/* What a column is to the plan (sql_plan.h). */
enum ktr__sql_role {
	KTR__SQL_NONE,
	KTR__SQL_TIME,   /* nanoseconds since the first event */
	KTR__SQL_MONO,   /* of CLOCK_MONOTONIC */
	KTR__SQL_UTC,    /* since 1970 */
	KTR__SQL_NUMBER, /* a field of the filter language that is a number, of an event */
	KTR__SQL_NAME,   /* one that is a text, of an event */
	KTR__SQL_SITE,   /* something of the call site: its field */
	KTR__SQL_GROUP,  /* the call site's group, whatever the field */
	KTR__SQL_ARG,    /* an argument of an event, numbered as of KTR__SQL_OWN() */
	KTR__SQL_FILTER  /* hidden: an expression of ktr-filter(7) */
};

struct ktr__sql_column {
	const char *name; /* in the filter language, too */
	const char *type;
	enum ktr__sql_role role;
	struct ktr__field field;
};

/* The field of a column that lies in no record: the table knows it by its number. */
#define KTR__SQL_OWN(number) { 0, KTR__FIELD_NONE, number }

/* A table. */

struct ktr__sql_kind {
	const char *name;
	const struct ktr__sql_column *column; /* up to one without a name */
	int is_planned; /* constraints are taken; else it is always the whole table, which is small */
	int is_grouped; /* rows are events, which may come grouped; what the table owns is of all arguments */
	int is_ordered; /* planned: rows come in the order of the first column, or the other way round */
	const char *always; /* planned: a filter of all its walks, or NULL */
	/* Begins. SQLite codes from here on; complaints by ktr__sql_complain(). */
	int (*filter)(struct ktr__sql_cursor *cursor, int plan, const char *text, sqlite3_value **argv);
	/* Plans in a way of its own; may be NULL. 1: it did, 0: it did not, or a negated SQLite code. */
	int (*best)(sqlite3_index_info *info, const struct ktr__sql_column *column);
	int (*next)(struct ktr__sql_cursor *cursor); /* sets cursor->at_end */
	/* The records that fields are of; NULL: the cursor's event, its site and its thread. */
	const void *(*record)(const struct ktr__sql_cursor *cursor, enum ktr__field_of of);
	/* The value of a column of KTR__SQL_OWN(). */
	void (*own)(struct ktr__sql_cursor *cursor, sqlite3_context *to, unsigned number);
	/*
	 * What tells the row from all others in whatever walk it comes: SQLite joins the walks of OR, and
	 * of RIGHT JOIN, by it. NULL: every walk is of all rows, and their running number does.
	 */
	int (*id)(struct ktr__sql_cursor *cursor, sqlite3_int64 *id); /* an SQLite code */
	/* Goes back to the row, where cursor->is_ahead, since something of it is asked for. An SQLite code. */
	int (*back)(struct ktr__sql_cursor *cursor);
	void (*close)(struct ktr__sql_cursor *cursor); /* frees cursor->state; may be NULL */
	int needs_reader;                              /* one of its own, to walk with */
};

extern const struct ktr__sql_kind ktr__sql_events, ktr__sql_counters, ktr__sql_losses,
	ktr__sql_spans, ktr__sql_calls, ktr__sql_sites, ktr__sql_threads, ktr__sql_trace;

struct ktr__sql_reader {
	struct ktr_reader *reader[2]; /* forward, and backward: opened when first asked for */
	struct ktr__sink_json *json;  /* for arguments; NULL until then */
	int used;
};

#define KTR__SQL_PLAIN 32 /* columns, the first of a table */

struct ktr__sql_cursor {
	sqlite3_vtab_cursor base; /* first */
	const struct ktr__sql_kind *kind;
	struct ktr__sql *sql;
	struct ktr__sql_reader *lent; /* NULL if the table needs none */
	struct ktr_reader *reader;    /* the one of the two that is walked */
	struct ktr_event event;
	sqlite3_int64 row; /* running number in this walk */
	int at_end;
	int is_asked; /* something of a row of this walk was asked for */
	int is_ahead; /* the reader is no more at the row: back() goes there */
	void *state; /* the kind's own */
	/* By column, the plain text that was its value last: there are few, and each stays where it is. */
	struct {
		const char *text;
		size_t n;
	} plain[KTR__SQL_PLAIN];
};

#endif
