/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The database of a trace: opens it, lends readers to cursors, keeps what they had to say.
 *
 * A cursor gets a pair of readers of its own, since two cursors of a join stand at two places. They are
 * opened when first needed, come back when the cursor is closed and are lent again: a trace of many
 * call sites takes a while to open.
 */
#include "analyze/sql/sql.h"

#include "analyze/print/sink_json.h"
#include "analyze/read/reader.h"
#include "analyze/sql/sql_kept.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_quantile.h"
#include "analyze/sql/sql_table.h"
#include "analyze/sql/sql_views.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SQL_NOTES_MAX 100

struct ktr__sql {
	sqlite3 *db;
	char *path;
	int alone;
	int partial;
	struct ktr_reader *reader; /* tables and info */
	struct ktr__sql_reader **pool;
	unsigned n_pool, pool_room;
	char *note[SQL_NOTES_MAX];
	unsigned n_notes;
	struct sql_kept *kept; /* owned */
	atomic_int stopped;
	uint64_t n_threads; /* 0: as many as are of use */
	ktr__reader_watch_fn *watch; /* may be NULL */
	pthread_mutex_t telling; /* what is watched */
};

struct sql_kept {
	struct sql_kept *next;
	struct ktr__sql_kept *spans; /* owned */
	char pair[];
};

/* Readers of several threads tell. */
static void sql_step(void *context, uint64_t ns, uint64_t events, uint64_t bytes)
{
	struct ktr__sql *sql = context;

	pthread_mutex_lock(&sql->telling);
	sql->watch(NULL, ns, events, bytes);
	pthread_mutex_unlock(&sql->telling);
}

static int sql_open_reader(struct ktr__sql *sql, int reverse, struct ktr_reader **out,
			   struct ktr_error *err)
{
	struct ktr_reader_options options = { .size = sizeof(options),
					      .alone = sql->alone,
					      .reverse = reverse };

	int rc = ktr_reader_open(sql->path, &options, out, err);

	if (!rc && sql->watch)
		ktr__reader_watch(*out, sql_step, sql);
	return rc;
}

struct ktr_reader *ktr__sql_reader(const struct ktr__sql *sql)
{
	return sql->reader;
}

struct ktr__sql_reader *ktr__sql_lend(struct ktr__sql *sql)
{
	for (unsigned i = 0; i < sql->n_pool; i++)
		if (!sql->pool[i]->used) {
			sql->pool[i]->used = 1;
			return sql->pool[i];
		}
	if (ktr__array_grow(&sql->pool, &sql->pool_room, sql->n_pool, sizeof(struct ktr__sql_reader *)))
		return NULL;
	sql->pool[sql->n_pool] = calloc(1, sizeof(struct ktr__sql_reader));
	if (!sql->pool[sql->n_pool])
		return NULL;
	sql->pool[sql->n_pool]->used = 1;
	return sql->pool[sql->n_pool++];
}

int ktr__sql_lent(struct ktr__sql *sql, struct ktr__sql_reader *lent, int reverse,
		  struct ktr_reader **out, struct ktr_error *err)
{
	int rc = 0;

	if (!lent->reader[reverse])
		rc = sql_open_reader(sql, reverse, &lent->reader[reverse], err);
	*out = lent->reader[reverse];
	return rc;
}

void ktr__sql_stop(struct ktr__sql *sql)
{
	sql->stopped = 1;
	sqlite3_interrupt(sql->db);
}

void ktr__sql_go(struct ktr__sql *sql)
{
	sql->stopped = 0;
}

int ktr__sql_is_stopped(const struct ktr__sql *sql)
{
	return sql->stopped != 0;
}

void ktr__sql_share(struct ktr__sql *sql, uint64_t n_threads)
{
	sql->n_threads = n_threads;
}

uint64_t ktr__sql_sharing(const struct ktr__sql *sql)
{
	return sql->n_threads;
}

void ktr__sql_watch(struct ktr__sql *sql, ktr__reader_watch_fn *watch)
{
	sql->watch = watch;
}

struct ktr__sql_kept *ktr__sql_kept(const struct ktr__sql *sql, const char *pair)
{
	for (const struct sql_kept *kept = sql->kept; kept; kept = kept->next)
		if (strcmp(kept->pair, pair) == 0)
			return kept->spans;
	return NULL;
}

int ktr__sql_keep(struct ktr__sql *sql, const char *pair, struct ktr__sql_kept *spans)
{
	struct sql_kept *kept = calloc(1, sizeof(*kept) + strlen(pair) + 1);

	if (!kept) {
		ktr__sql_kept_free(spans);
		return -ENOMEM;
	}
	strcpy(kept->pair, pair);
	kept->spans = spans;
	kept->next = sql->kept;
	sql->kept = kept;
	return 0;
}

static void sql_forget(struct ktr__sql *sql)
{
	struct sql_kept *kept;

	while ((kept = sql->kept) != NULL) {
		sql->kept = kept->next;
		ktr__sql_kept_free(kept->spans);
		free(kept);
	}
}

void ktr__sql_tell(struct ktr__sql *sql, const struct ktr_note *note)
{
	sql->partial |= note->damaged;
	for (unsigned i = 0; i < sql->n_notes; i++)
		if (strcmp(sql->note[i], note->text) == 0)
			return;
	if (sql->n_notes < SQL_NOTES_MAX)
		sql->note[sql->n_notes] = strdup(note->text);
	if (sql->n_notes < SQL_NOTES_MAX && sql->note[sql->n_notes])
		sql->n_notes++;
}

const char *ktr__sql_note(const struct ktr__sql *sql, unsigned i)
{
	return i < sql->n_notes ? sql->note[i] : NULL;
}

int ktr__sql_is_partial(const struct ktr__sql *sql)
{
	return sql->partial;
}

sqlite3 *ktr__sql_db(struct ktr__sql *sql)
{
	return sql->db;
}

static const struct ktr__sql_kind *const sql_kinds[] = { &ktr__sql_events, &ktr__sql_spans,  &ktr__sql_calls,
							&ktr__sql_counters, &ktr__sql_losses, &ktr__sql_sites,
							&ktr__sql_threads,  &ktr__sql_trace };
#define SQL_KINDS (sizeof(sql_kinds) / sizeof(sql_kinds[0]))

const char *ktr__sql_table(unsigned i)
{
	return i < SQL_KINDS ? sql_kinds[i]->name : NULL;
}

/* Opens the database in memory with all tables. 0 or an SQLite code. */
static int sql_database(struct ktr__sql *sql)
{
	int rc = sqlite3_open_v2(":memory:", &sql->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
				 NULL);

	for (size_t i = 0; i < SQL_KINDS && rc == SQLITE_OK; i++)
		rc = ktr__sql_register(sql, sql_kinds[i]);
	if (rc == SQLITE_OK)
		rc = ktr__sql_quantile(sql->db);
	return rc == SQLITE_OK ? ktr__sql_views(sql->db) : rc;
}

int ktr__sql_open(struct ktr__sql **out, const char *path, int alone, struct ktr_error *err)
{
	struct ktr__sql *sql = calloc(1, sizeof(*sql));
	int rc = sql ? 0 : -ENOMEM;

	*out = NULL;
	if (sql) {
		sql->alone = alone;
		pthread_mutex_init(&sql->telling, NULL);
		sql->path = strdup(path);
		rc = sql->path ? sql_open_reader(sql, 0, &sql->reader, err) : -ENOMEM;
	}
	if (!rc && sql_database(sql) != SQLITE_OK)
		rc = ktr_error_at(err, path, 0, 0, ENOMEM, "SQLite: %s", sqlite3_errmsg(sql->db));
	if (rc == -ENOMEM)
		ktr_error_at(err, path, 0, 0, ENOMEM, "no memory");
	if (rc)
		ktr__sql_close(sql);
	else
		*out = sql;
	return rc;
}

static void sql_reader_free(struct ktr__sql_reader *lent)
{
	if (lent->json) {
		ktr__sink_json_fini(lent->json);
		free(lent->json);
	}
	ktr_reader_close(lent->reader[0]);
	ktr_reader_close(lent->reader[1]);
	free(lent);
}

void ktr__sql_refresh(struct ktr__sql *sql)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr_reader *reader;

	if (ktr_reader_info(sql->reader)->kind != KTR_SOURCE_LIVE ||
	    sql_open_reader(sql, 0, &reader, &err))
		return;
	sql_forget(sql);
	for (unsigned i = 0; i < sql->n_pool; i++)
		sql_reader_free(sql->pool[i]);
	sql->n_pool = 0;
	ktr_reader_close(sql->reader);
	sql->reader = reader;
}

void ktr__sql_close(struct ktr__sql *sql)
{
	if (!sql)
		return;
	sqlite3_close(sql->db);
	sql_forget(sql);
	for (unsigned i = 0; i < sql->n_pool; i++)
		sql_reader_free(sql->pool[i]);
	for (unsigned i = 0; i < sql->n_notes; i++)
		free(sql->note[i]);
	free(sql->pool);
	ktr_reader_close(sql->reader);
	pthread_mutex_destroy(&sql->telling);
	free(sql->path);
	free(sql);
}
