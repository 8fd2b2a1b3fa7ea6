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

int ktr__sql_register(struct ktr__sql *sql, const struct ktr__sql_kind *kind);

/* The reader that knows the source, for what needs no walk. Borrowed. */
struct ktr_reader *ktr__sql_reader(const struct ktr__sql *sql);

/* Lends a pair of readers; NULL with a complaint. */
struct ktr__sql_reader *ktr__sql_lend(struct ktr__sql *sql);

/* The reader of the pair, opened. 0 or -errno with err filled. */
int ktr__sql_lent(struct ktr__sql *sql, struct ktr__sql_reader *lent, int reverse,
		  struct ktr_reader **out, struct ktr_error *err);

void ktr__sql_tell(struct ktr__sql *sql, const struct ktr_note *note);

/* Sets the table's message. Returns SQLITE_ERROR. */
int ktr__sql_complain(struct ktr__sql_cursor *cursor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The next event, loss (when told by losses) or end. KTR_READ_*, or negative after a complaint. */
int ktr__sql_read(struct ktr__sql_cursor *cursor);

/* Text as a result: well-formed UTF-8. It must live as long as the database, or be copied. */
void ktr__sql_text(sqlite3_context *to, const char *text);
void ktr__sql_bytes(sqlite3_context *to, const char *bytes, size_t n);

/* Nanoseconds since the first event of the source. */
sqlite3_int64 ktr__sql_time(const struct ktr__sql_cursor *cursor, uint64_t ns);

/* An argument of an event, typed. */
void ktr__sql_arg(sqlite3_context *to, const struct ktr_event *event, unsigned i);

/* An event's number for kind->id. */
uint64_t ktr__sql_event_id(const struct ktr_event *event);

/* quantile(x, share): an aggregate function. */
int ktr__sql_quantile(sqlite3 *db);

#endif
