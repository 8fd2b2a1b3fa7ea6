/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace or session as tables of SQLite, read where it lies: nothing is imported.
 *
 *	ktr__sql_open(&sql, "ktr.out", 0, &err);
 *	sqlite3_exec(ktr__sql_db(sql), "SELECT class, count(*) FROM events GROUP BY class", ...);
 *	ktr__sql_close(sql);
 *
 * ktr-sql(1) describes the tables. Only there where SQLite is (KTR_HAVE_SQLITE).
 */
#ifndef ANALYZE_SQL_H
#define ANALYZE_SQL_H

#include <ktr/reader.h>

#include <sqlite3.h>

struct ktr__sql;
struct ktr__sql_reader;

/* alone: as of struct ktr_reader_options. 0 with an owned object in *out, or -errno with err filled. */
int ktr__sql_open(struct ktr__sql **out, const char *path, int alone, struct ktr_error *err);

/*
 * Before a statement's first step, when all others have been finalised: of a live session, the tables hold
 * what it holds now. If it has gone, those that were read stay what they were.
 */
void ktr__sql_refresh(struct ktr__sql *sql);

/* All statements must have been finalised. */
void ktr__sql_close(struct ktr__sql *sql);

/* Borrowed. */
sqlite3 *ktr__sql_db(struct ktr__sql *sql);

/* Notes that readers told so far, each once; i from 0, NULL after the last. Borrowed. */
const char *ktr__sql_note(const struct ktr__sql *sql, unsigned i);

/* For its tables: the reader that knows the source, for what needs no walk. Borrowed. */
struct ktr_reader *ktr__sql_reader(const struct ktr__sql *sql);

/* Lends a pair of readers, until its used is cleared; NULL without memory. */
struct ktr__sql_reader *ktr__sql_lend(struct ktr__sql *sql);

/* Gives the reader of the pair, opened and borrowed. Returns 0 or -errno with err filled. */
int ktr__sql_lent(struct ktr__sql *sql, struct ktr__sql_reader *lent, int reverse,
		  struct ktr_reader **out, struct ktr_error *err);

/* Keeps a note, which is copied, for ktr__sql_note(), unless it is there already. */
void ktr__sql_tell(struct ktr__sql *sql, const struct ktr_note *note);

/* Has a part of the data turned out to be unreadable? */
int ktr__sql_is_partial(const struct ktr__sql *sql);

#endif
