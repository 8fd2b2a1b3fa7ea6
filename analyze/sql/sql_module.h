/* SPDX-License-Identifier: BSD-2-Clause */
/* SQLite's module over all tables, and what their rows have in common. */
#ifndef ANALYZE_SQL_MODULE_H
#define ANALYZE_SQL_MODULE_H

#include "analyze/sql/sql_table.h"

#include <ktr/reader.h>

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the table known to SQLite. Returns an SQLite code. */
int ktr__sql_register(struct ktr__sql *sql, const struct ktr__sql_kind *kind);

/* Sets the table's message. Returns SQLITE_ERROR. */
int ktr__sql_complain(struct ktr__sql_cursor *cursor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Takes the next event, loss (when told by losses) or end. Returns KTR_READ_*, or a negative number after a
 * complaint.
 */
int ktr__sql_read(struct ktr__sql_cursor *cursor);

/* Complains where what a function of the cursor's reader returned is an error. Returns it. */
int ktr__sql_failed(struct ktr__sql_cursor *cursor, int what);

/* Takes all events that are left, and tells how many there were. 0, or a negative number after a complaint. */
int ktr__sql_count(struct ktr__sql_cursor *cursor, uint64_t *n);

/* Text as a result: well-formed UTF-8. It must live as long as the database, or be copied. */
void ktr__sql_text(sqlite3_context *to, const char *text);
void ktr__sql_bytes(sqlite3_context *to, const char *bytes, size_t n);

/* Returns nanoseconds since the first event of the source. */
sqlite3_int64 ktr__sql_time(const struct ktr__sql_cursor *cursor, uint64_t ns);

/* An argument of an event as a result, typed. */
void ktr__sql_arg(sqlite3_context *to, const struct ktr_event *event, unsigned i);

/* Returns an event's number for kind->id. */
uint64_t ktr__sql_event_id(const struct ktr_event *event);

#endif
