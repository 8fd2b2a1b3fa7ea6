/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables sites, threads and trace, which are there when the source is open, and losses, for which
 * it is walked with a filter that no event passes.
 */
#include "analyze/print/json_print.h"
#include "analyze/print/sink_json.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/read/tables.h"
#include "analyze/sql/sql.h"
#include "analyze/sql/sql_module.h"
#include "analyze/sql/sql_plan.h"
#include "analyze/sql/sql_table.h"
#include "analyze/stats/ends.h"

#include <stdlib.h>

/* All of a table, from its first row. */
static int sql_tables_filter(struct ktr__sql_cursor *cursor, int plan, const char *text, int argc,
			     sqlite3_value **argv)
{
	(void)plan;
	(void)text;
	(void)argc;
	(void)argv;
	return cursor->kind->next(cursor);
}

/* ---- sites ---- */

enum {
	SQL_SITES_ID,
	SQL_SITES_NAME,
	SQL_SITES_CLASS,
	SQL_SITES_MASK,
	SQL_SITES_FILE,
	SQL_SITES_LINE,
	SQL_SITES_FUNC,
	SQL_SITES_FORMAT,
	SQL_SITES_KIND,
	SQL_SITES_GRP,
	SQL_SITES_MODULE,
	SQL_SITES_ARGS
};

/* The next row that there is, from this one on; the first is for what is not known. */
static int sql_tables_site_next(struct ktr__sql_cursor *cursor)
{
	const struct ktr_reader *reader = ktr__sql_reader(cursor->sql);

	cursor->row += cursor->row == 0;
	while (cursor->row < ktr_reader_n_sites(reader) &&
	       !ktr_reader_site(reader, (uint32_t)cursor->row))
		cursor->row++;
	cursor->at_end = cursor->row >= ktr_reader_n_sites(reader);
	return SQLITE_OK;
}

/* Names of arguments, as a JSON array. */
static void sql_tables_args(const struct ktr_reader_site *site, sqlite3_context *to)
{
	json_t *array = json_array();
	char *text;

	for (unsigned i = 0; i < site->n_args; i++)
		json_array_append_new(
			array, ktr__jansson_text(site->arg[i].name, strlen(site->arg[i].name)));
	text = json_array_size(array) == site->n_args ? ktr__json_string(array, JSON_COMPACT) : NULL;
	json_decref(array);
	if (text)
		sqlite3_result_text(to, text, -1, free);
	else
		sqlite3_result_error_nomem(to);
}

static void sql_tables_site_column(struct ktr__sql_cursor *cursor, sqlite3_context *to, int column)
{
	const struct ktr_reader_site *site = ktr_reader_site(ktr__sql_reader(cursor->sql),
							     (uint32_t)cursor->row);
	const char *const texts[] = {
		[SQL_SITES_NAME] = site->name,     [SQL_SITES_CLASS] = site->class_name,
		[SQL_SITES_FILE] = site->file,     [SQL_SITES_FUNC] = site->func,
		[SQL_SITES_FORMAT] = site->format, [SQL_SITES_KIND] = ktr__ktrgraph_text(site->kind),
		[SQL_SITES_GRP] = site->group,     [SQL_SITES_MODULE] = site->module
	};

	switch (column) {
	case SQL_SITES_ID:
		sqlite3_result_int64(to, site->id);
		break;
	case SQL_SITES_MASK:
		sqlite3_result_int64(to, (sqlite3_int64)site->mask);
		break;
	case SQL_SITES_LINE:
		sqlite3_result_int64(to, site->line);
		break;
	case SQL_SITES_ARGS:
		sql_tables_args(site, to);
		break;
	default:
		ktr__sql_text(to, texts[column]);
	}
}

const struct ktr__sql_kind ktr__sql_sites = {
	.name = "sites",
	.schema =
		"CREATE TABLE sites(id INTEGER, name TEXT, class TEXT, mask INTEGER, file TEXT, line INTEGER,"
		" func TEXT, format TEXT, kind TEXT, grp TEXT, module TEXT, args TEXT)",
	.filter = sql_tables_filter,
	.next = sql_tables_site_next,
	.column = sql_tables_site_column,
};

/* ---- threads ---- */

static int sql_tables_thread_next(struct ktr__sql_cursor *cursor)
{
	const struct ktr_reader *reader = ktr__sql_reader(cursor->sql);

	cursor->row += cursor->row == 0; /* nobody */
	while (cursor->row < ktr_reader_n_threads(reader) &&
	       !ktr_reader_thread(reader, (uint32_t)cursor->row))
		cursor->row++;
	cursor->at_end = cursor->row >= ktr_reader_n_threads(reader);
	return SQLITE_OK;
}

static void sql_tables_thread_column(struct ktr__sql_cursor *cursor, sqlite3_context *to,
				     int column)
{
	const struct ktr_reader_thread *thread = ktr_reader_thread(ktr__sql_reader(cursor->sql),
								   (uint32_t)cursor->row);

	switch (column) {
	case 0:
		sqlite3_result_int64(to, thread->tid);
		break;
	case 1:
		sqlite3_result_int64(to, thread->pid);
		break;
	case 2:
		ktr__sql_text(to, thread->name);
		break;
	case 3:
		ktr__sql_text(to, thread->process);
		break;
	case 4:
		if (thread->start_ns)
			sqlite3_result_int64(to, ktr__sql_time(cursor, thread->start_ns));
		break;
	case 5:
		if (ktr__ends_thread(thread))
			sqlite3_result_int64(to, ktr__sql_time(cursor, ktr__ends_thread(thread)));
		break;
	default:
		/* Where it is not known when. */
		if (ktr__ends_gone(thread) && ktr__ends_gone(thread) != KTR__END_GONE)
			sqlite3_result_int64(to, ktr__sql_time(cursor, ktr__ends_gone(thread)));
	}
}

const struct ktr__sql_kind ktr__sql_threads = {
	.name = "threads",
	.schema =
		"CREATE TABLE threads(tid INTEGER, pid INTEGER, name TEXT, process TEXT, started INTEGER,"
		" exited INTEGER, gone INTEGER)",
	.filter = sql_tables_filter,
	.next = sql_tables_thread_next,
	.column = sql_tables_thread_column,
};

/* ---- trace: one row ---- */

static int sql_tables_trace_next(struct ktr__sql_cursor *cursor)
{
	cursor->at_end = cursor->row > 0;
	return SQLITE_OK;
}

static void sql_tables_trace_column(struct ktr__sql_cursor *cursor, sqlite3_context *to, int column)
{
	static const char *const kinds[] = { "trace", "live", "dead" };
	const struct ktr_reader_info *info = ktr_reader_info(ktr__sql_reader(cursor->sql));
	const char *const texts[] = { kinds[info->kind], info->path,    info->name,
				      info->host,        info->cmdline, info->clock };
	const int64_t numbers[] = { (int64_t)info->first_ns, (int64_t)info->last_ns,
				    info->utc_offset_ns, (int64_t)info->n_lost };

	if (column < 6)
		ktr__sql_text(to, texts[column]);
	else
		sqlite3_result_int64(to, numbers[column - 6]);
}

const struct ktr__sql_kind ktr__sql_trace = {
	.name = "trace",
	.schema =
		"CREATE TABLE trace(kind TEXT, path TEXT, session TEXT, host TEXT, cmdline TEXT, clock TEXT,"
		" first_ns INTEGER, last_ns INTEGER, utc_offset_ns INTEGER, lost INTEGER)",
	.filter = sql_tables_filter,
	.next = sql_tables_trace_next,
	.column = sql_tables_trace_column,
};

/* ---- losses ---- */

static int sql_tables_loss_next(struct ktr__sql_cursor *cursor)
{
	int what;

	while ((what = ktr__sql_read(cursor)) == KTR_READ_EVENT)
		;
	cursor->at_end = what != KTR_READ_LOSS;
	return what < 0 ? SQLITE_ERROR : SQLITE_OK;
}

static int sql_tables_loss_filter(struct ktr__sql_cursor *cursor, int plan, const char *text,
				  int argc, sqlite3_value **argv)
{
	struct ktr__sql_plan made;
	int rc;

	(void)plan;
	(void)text;
	(void)argc;
	/* Losses are told whatever the filter. */
	rc = ktr__sql_plan_make(cursor, NULL, "", 0, argv, "line < 0", &made);
	if (rc == SQLITE_OK)
		rc = ktr__sql_plan_start(cursor, &made, 0);
	return rc == SQLITE_OK ? sql_tables_loss_next(cursor) : rc;
}

static void sql_tables_loss_column(struct ktr__sql_cursor *cursor, sqlite3_context *to, int column)
{
	const struct ktr_loss *loss = ktr_reader_loss(cursor->reader);

	if (column == 0 && loss->from_ns)
		sqlite3_result_int64(to, ktr__sql_time(cursor, loss->from_ns));
	else if (column == 1 && loss->to_ns)
		sqlite3_result_int64(to, ktr__sql_time(cursor, loss->to_ns));
	else if (column == 2)
		sqlite3_result_int64(to, loss->cpu);
	else if (column == 3)
		sqlite3_result_int(to, loss->keep);
	else if (column == 4)
		sqlite3_result_int64(to, (sqlite3_int64)loss->n_events);
}

const struct ktr__sql_kind ktr__sql_losses = {
	.name = "losses",
	.schema =
		"CREATE TABLE losses(time INTEGER, until INTEGER, cpu INTEGER, keep INTEGER, events INTEGER)",
	.filter = sql_tables_loss_filter,
	.next = sql_tables_loss_next,
	.column = sql_tables_loss_column,
	.needs_reader = 1,
};
