/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLite's virtual table module (https://www.sqlite.org/vtab.html) over the kinds of sql_table.h, and
 * what they share: reading on, and values as results.
 *
 * The tables are eponymous only: they are there without CREATE VIRTUAL TABLE, and one with a hidden
 * column can be called like a function.
 */
#include "analyze/sql/sql_module.h"

#include "analyze/sql/sql.h"
#include "analyze/sql/sql_group.h"
#include "analyze/sql/sql_plan.h"
#include "analyze/sql/sql_table.h"
#include "conf/kit/hash.h"
#include "conf/kit/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct sql_module_context {
	const struct ktr__sql_kind *kind;
	struct ktr__sql *sql;
};

struct sql_module_table {
	sqlite3_vtab base; /* first */
	struct sql_module_context *context;
};

static int sql_module_declare(sqlite3 *db, const struct ktr__sql_kind *kind)
{
	sqlite3_str *schema = sqlite3_str_new(db);
	char *text;
	int rc;

	sqlite3_str_appendf(schema, "CREATE TABLE %s", kind->name);
	for (const struct ktr__sql_column *c = kind->column; c->name; c++)
		sqlite3_str_appendf(schema, "%s%s %s", c == kind->column ? "(" : ", ", c->name, c->type);
	sqlite3_str_appendall(schema, ")");
	text = sqlite3_str_finish(schema);
	rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	return rc;
}

static int sql_module_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
			      sqlite3_vtab **out, char **error)
{
	struct sql_module_context *c = context;
	struct sql_module_table *table;
	int rc = sql_module_declare(db, c->kind);

	(void)argc;
	(void)argv;
	if (rc != SQLITE_OK) {
		*error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
		return rc;
	}
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->context = c;
	/* Reading one trace does no harm: views of an attached database may do it, too. */
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	*out = &table->base;
	return SQLITE_OK;
}

static int sql_module_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int sql_module_best(sqlite3_vtab *table, sqlite3_index_info *info)
{
	const struct sql_module_context *context = ((struct sql_module_table *)(void *)table)->context;
	const struct ktr__sql_kind *kind = context->kind;
	int rc = kind->best ? kind->best(info, kind->column) : 0;

	if (rc)
		return rc > 0 ? SQLITE_OK : -rc;
	info->estimatedCost = 1000;
	info->estimatedRows = 1000;
	rc = kind->is_planned ? ktr__sql_plan_best(info, kind) : SQLITE_OK;
	return rc == SQLITE_OK ? ktr__sql_group_best(info, kind, context->sql) : rc;
}

static int sql_module_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	const struct sql_module_context *context = ((struct sql_module_table *)(void *)table)
							   ->context;
	struct ktr__sql_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	cursor->kind = context->kind;
	cursor->sql = context->sql;
	cursor->at_end = 1;
	if (cursor->kind->needs_reader) {
		cursor->lent = ktr__sql_lend(cursor->sql);
		if (!cursor->lent) {
			sqlite3_free(cursor);
			return SQLITE_NOMEM;
		}
	}
	*out = &cursor->base;
	return SQLITE_OK;
}

static struct ktr__sql_cursor *sql_module_cursor(sqlite3_vtab_cursor *base)
{
	return (struct ktr__sql_cursor *)(void *)base;
}

static int sql_module_close(sqlite3_vtab_cursor *base)
{
	struct ktr__sql_cursor *cursor = sql_module_cursor(base);

	if (cursor->kind->close)
		cursor->kind->close(cursor);
	if (cursor->lent)
		cursor->lent->used = 0;
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int sql_module_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
			     sqlite3_value **argv)
{
	struct ktr__sql_cursor *cursor = sql_module_cursor(base);

	(void)argc;
	cursor->row = 0;
	cursor->at_end = 0;
	cursor->is_asked = cursor->is_ahead = 0;
	return cursor->kind->filter(cursor, plan, text, argv);
}

static int sql_module_next(sqlite3_vtab_cursor *base)
{
	struct ktr__sql_cursor *cursor = sql_module_cursor(base);

	cursor->row++;
	return cursor->kind->next(cursor);
}

static int sql_module_eof(sqlite3_vtab_cursor *base)
{
	return sql_module_cursor(base)->at_end;
}

static void sql_module_text(struct ktr__sql_cursor *cursor, sqlite3_context *to, int column, const char *text)
{
	size_t n;

	if (!text)
		return;
	if (column >= KTR__SQL_PLAIN || cursor->plain[column].text != text) {
		n = strlen(text);
		if (column >= KTR__SQL_PLAIN || ktr__utf8_plain(text, n) != n) {
			ktr__sql_text(to, text);
			return;
		}
		cursor->plain[column].text = text;
		cursor->plain[column].n = n;
	}
	sqlite3_result_text64(to, text, cursor->plain[column].n, SQLITE_STATIC, SQLITE_UTF8);
}

static inline const void *sql_module_record(const struct ktr__sql_cursor *cursor, enum ktr__field_of of)
{
	if (cursor->kind->record)
		return cursor->kind->record(cursor, of);
	if (of == KTR__FIELD_EVENT)
		return &cursor->event;
	return of == KTR__FIELD_SITE ? (const void *)cursor->event.site : cursor->event.thread;
}

static __attribute__((noinline)) void sql_module_field(struct ktr__sql_cursor *cursor, sqlite3_context *to,
						       int column)
{
	const struct ktr__field field = cursor->kind->column[column].field;
	const struct ktr_reader_info *info;
	const void *record = sql_module_record(cursor, field.of);
	uint64_t number;

	if (ktr__field_is_text(field)) {
		sql_module_text(cursor, to, column, ktr__field_text(field, record));
		return;
	}
	number = ktr__field_number(field, record);
	if (field.type == KTR__FIELD_TIME && !number)
		return;
	if (field.type == KTR__FIELD_TIME || field.type == KTR__FIELD_UTC) {
		info = ktr_reader_info(ktr__sql_reader(cursor->sql));
		number += field.type == KTR__FIELD_TIME ? -info->first_ns : (uint64_t)info->utc_offset_ns;
	}
	sqlite3_result_int64(to, (sqlite3_int64)number);
}

/* Something of the row is asked for: there it has to be. */
static inline int sql_module_ask(struct ktr__sql_cursor *cursor)
{
	cursor->is_asked = 1;
	return __builtin_expect(cursor->is_ahead, 0) ? cursor->kind->back(cursor) : SQLITE_OK;
}

static int sql_module_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
	struct ktr__sql_cursor *cursor = sql_module_cursor(base);
	const struct ktr__sql_column *c = &cursor->kind->column[column];
	int rc = sql_module_ask(cursor);

	if (rc != SQLITE_OK)
		return rc;
	if (c->role == KTR__SQL_ARG)
		ktr__sql_arg(to, &cursor->event, c->field.at);
	else if (c->field.type)
		sql_module_field(cursor, to, column);
	else if (c->role != KTR__SQL_FILTER)
		cursor->kind->own(cursor, to, c->field.at);
	return SQLITE_OK;
}

static int sql_module_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	struct ktr__sql_cursor *cursor = sql_module_cursor(base);
	int rc = sql_module_ask(cursor);

	*row = cursor->row;
	return rc == SQLITE_OK && cursor->kind->id ? cursor->kind->id(cursor, row) : rc;
}

static const sqlite3_module sql_module = {
	.xConnect = sql_module_connect,
	.xBestIndex = sql_module_best,
	.xDisconnect = sql_module_disconnect,
	.xDestroy = sql_module_disconnect,
	.xOpen = sql_module_open,
	.xClose = sql_module_close,
	.xFilter = sql_module_filter,
	.xNext = sql_module_next,
	.xEof = sql_module_eof,
	.xColumn = sql_module_column,
	.xRowid = sql_module_rowid,
};

int ktr__sql_register(struct ktr__sql *sql, const struct ktr__sql_kind *kind)
{
	struct sql_module_context *context = sqlite3_malloc(sizeof(*context));

	if (!context)
		return SQLITE_NOMEM;
	context->kind = kind;
	context->sql = sql;
	return sqlite3_create_module_v2(ktr__sql_db(sql), kind->name, &sql_module, context,
					sqlite3_free);
}

/* ---- for the kinds ---- */

int ktr__sql_complain(struct ktr__sql_cursor *cursor, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sqlite3_free(cursor->base.pVtab->zErrMsg);
	cursor->base.pVtab->zErrMsg = sqlite3_vmprintf(format, args);
	va_end(args);
	cursor->at_end = 1;
	return SQLITE_ERROR;
}

int ktr__sql_failed(struct ktr__sql_cursor *cursor, int what)
{
	char line[KTR_ERROR_LINE_BYTES];

	if (what < 0)
		ktr__sql_complain(cursor, "%s", ktr_error_print(ktr_reader_error(cursor->reader), line, sizeof(line)));
	return what;
}

int ktr__sql_read(struct ktr__sql_cursor *cursor)
{
	int what;

	if (ktr__sql_is_stopped(cursor->sql)) {
		ktr__sql_complain(cursor, "interrupted");
		return -EINTR;
	}
	while ((what = ktr_reader_next(cursor->reader, &cursor->event)) == KTR_READ_NOTE)
		ktr__sql_tell(cursor->sql, ktr_reader_note(cursor->reader));
	return ktr__sql_failed(cursor, what);
}

int ktr__sql_count(struct ktr__sql_cursor *cursor, uint64_t *n)
{
	int what;

	*n = 0;
	while ((what = ktr_reader_count(cursor->reader, n)) > 0)
		if (what == KTR_READ_NOTE)
			ktr__sql_tell(cursor->sql, ktr_reader_note(cursor->reader));
	return ktr__sql_failed(cursor, what);
}

void ktr__sql_bytes(sqlite3_context *to, const char *bytes, size_t n)
{
	char *repaired;

	if (ktr__utf8_is_plain(bytes, n)) {
		sqlite3_result_text64(to, bytes, n, SQLITE_TRANSIENT, SQLITE_UTF8);
		return;
	}
	repaired = sqlite3_malloc64(3 * (sqlite3_uint64)n + 1);
	if (repaired)
		sqlite3_result_text64(to, repaired, ktr__utf8_repair(repaired, bytes, n),
				      sqlite3_free, SQLITE_UTF8);
	else
		sqlite3_result_error_nomem(to);
}

void ktr__sql_text(sqlite3_context *to, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	if (text && ktr__utf8_is_plain(text, n))
		sqlite3_result_text64(to, text, n, SQLITE_STATIC, SQLITE_UTF8);
	else if (text)
		ktr__sql_bytes(to, text, n);
}

sqlite3_int64 ktr__sql_time(const struct ktr__sql_cursor *cursor, uint64_t ns)
{
	return (sqlite3_int64)(ns - ktr_reader_info(ktr__sql_reader(cursor->sql))->first_ns);
}

/* Rings of threads, and the kernel's, number their events each by itself, on the same CPU. */
uint64_t ktr__sql_event_id(const struct ktr_event *event)
{
	uint64_t id = ktr__hash_word(event->thread->id, (uint64_t)event->thread->pid << 32 | event->thread->tid);

	id = ktr__hash_word(id, (uint64_t)event->site->id << 32 | event->cpu << 1 | event->keep);
	return ktr__hash_word(id, event->index);
}

/* An unsigned number: what is above 2^63-1 is text, its digits. */
static void sql_module_u64(sqlite3_context *to, uint64_t number)
{
	char digits[24];

	if (number <= INT64_MAX) {
		sqlite3_result_int64(to, (sqlite3_int64)number);
		return;
	}
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	sqlite3_result_text(to, digits, -1, SQLITE_TRANSIENT);
}

void ktr__sql_arg(sqlite3_context *to, const struct ktr_event *event, unsigned i)
{
	unsigned type = i < event->site->n_args ? event->site->arg[i].type : KTR_ARG_NONE;
	double real;

	if (type - KTR_ARG_I8 <= KTR_ARG_I64 - KTR_ARG_I8) { /* most are */
		sqlite3_result_int64(to, (sqlite3_int64)event->arg[i]);
		return;
	}
	switch (type) {
	case KTR_ARG_F64:
		memcpy(&real, &event->arg[i], sizeof(real));
		sqlite3_result_double(to, real);
		break;
	case KTR_ARG_STR:
		if (!event->str[i].is_null)
			ktr__sql_bytes(to, event->str[i].bytes, event->str[i].n_bytes);
		break;
	case KTR_ARG_STACK:
		sqlite3_result_blob64(to, event->str[i].bytes, event->str[i].n_bytes,
				      SQLITE_TRANSIENT);
		break;
	case KTR_ARG_U64:
	case KTR_ARG_PTR:
		sql_module_u64(to, event->arg[i]);
		break;
	default:
		break;
	}
}
