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

/*
 * Ends the statement that runs, with an error; may be called from a signal handler. ktr__sql_go() allows the next
 * one.
 */
void ktr__sql_stop(struct ktr__sql *sql);
void ktr__sql_go(struct ktr__sql *sql);
int ktr__sql_is_stopped(const struct ktr__sql *sql);

/* So many threads, with the caller's, may share a walk, as ktr__crew_threads() takes it. */
void ktr__sql_share(struct ktr__sql *sql, uint64_t n_threads);
uint64_t ktr__sql_sharing(const struct ktr__sql *sql);

/* Has each reader that is opened from here on watched (analyze/read/reader.h). Threads tell one at a time. */
void ktr__sql_watch(struct ktr__sql *sql, void (*watch)(void *none, uint64_t ns, uint64_t events, uint64_t bytes));

/* All statements must have been finalised. */
void ktr__sql_close(struct ktr__sql *sql);

/* Borrowed. */
sqlite3 *ktr__sql_db(struct ktr__sql *sql);

/* Names of the tables, i from 0; NULL after the last. */
const char *ktr__sql_table(unsigned i);

/* Notes that readers told so far, each once; i from 0, NULL after the last. Borrowed. */
const char *ktr__sql_note(const struct ktr__sql *sql, unsigned i);

/* For its tables: the reader that knows the source, for what needs no walk. Borrowed. */
struct ktr_reader *ktr__sql_reader(const struct ktr__sql *sql);

/* Lends a pair of readers, until its used is cleared; NULL without memory. */
struct ktr__sql_reader *ktr__sql_lend(struct ktr__sql *sql);

/* Gives the reader of the pair, opened and borrowed. Returns 0 or -errno with err filled. */
int ktr__sql_lent(struct ktr__sql *sql, struct ktr__sql_reader *lent, int reverse,
		  struct ktr_reader **out, struct ktr_error *err);

/*
 * For the table spans: what is kept of a pair, or with "" of all spans; NULL: nothing is yet. ktr__sql_keep()
 * takes what is to be kept. 0 or -ENOMEM; then it is freed.
 */
struct ktr__sql_kept;
struct ktr__sql_kept *ktr__sql_kept(const struct ktr__sql *sql, const char *pair);
int ktr__sql_keep(struct ktr__sql *sql, const char *pair, struct ktr__sql_kept *kept);

/* Keeps a note, which is copied, for ktr__sql_note(), unless it is there already. */
void ktr__sql_tell(struct ktr__sql *sql, const struct ktr_note *note);

/* Has a part of the data turned out to be unreadable? */
int ktr__sql_is_partial(const struct ktr__sql *sql);

#endif
