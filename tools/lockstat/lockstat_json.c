/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/lockstat/lockstat_json.h"

#include "tools/lockstat/lockstat_lines.h"
#include "tools/lockstat/lockstat_tables.h"
#include "tools/lockstat/lockstat_told.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *json_line(const struct lockstat_line *line)
{
	json_t *took = json_array();
	unsigned last = KTR__LOCKS_STEPS;

	while (last > 0 && !line->took[last - 1])
		last--;
	for (unsigned i = 0; i < last; i++)
		json_array_append_new(took, json_integer((json_int_t)line->took[i]));
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "lock", line->lock, "caller", line->caller, "count",
			 (json_int_t)line->n, "ns", (json_int_t)line->ns, "max_ns", (json_int_t)line->max_ns,
			 "took_log2_ns", took);
}

static json_t *json_table(const struct lockstat_view *view, enum ktr__locks_kind kind)
{
	struct lockstat_lines lines;
	json_t *table = lockstat_lines(view, kind, &lines) ? NULL : json_array();

	for (size_t i = 0; table && i < lines.n && (!view->top || i < view->top); i++)
		json_array_append_new(table, json_line(&lines.line[i]));
	lockstat_lines_free(&lines);
	return table;
}

static json_t *json_row(const struct lockstat_view *view, const struct ktr__locks_row *row)
{
	char lock[LOCKSTAT_NAME], caller[LOCKSTAT_NAME], at[LOCKSTAT_NAME];
	const char *error;

	lockstat_lock(view, row->proc, row->lock, lock);
	switch (row->kind) {
	case KTR__LOCKS_EDGE:
		return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:s?}", "lock", lock, "thread",
				 (json_int_t)row->tid, "owner", (json_int_t)row->other, "count", (json_int_t)row->n,
				 "ns", (json_int_t)row->ns, "max_ns", (json_int_t)row->max_ns, "caller",
				 lockstat_caller(view, row->proc, row->caller, caller), "owner_caller",
				 row->at ? lockstat_caller(view, row->proc, row->at, at) : NULL);
	case KTR__LOCKS_USE:
		return json_pack("{s:s, s:I, s:I, s:I}", "lock", lock, "locked", (json_int_t)row->n, "changed",
				 (json_int_t)row->use.changed, "contended", (json_int_t)row->use.blocked);
	default:
		error = strerrorname_np((int)row->other);
		return json_pack("{s:s, s:s?, s:I, s:s}", "lock", lock, "error", error, "count", (json_int_t)row->n,
				 "caller", lockstat_caller(view, row->proc, row->caller, caller));
	}
}

static json_t *json_rows(const struct lockstat_view *view, enum ktr__locks_kind kind)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < view->locks->rows.n; i++) {
		const struct ktr__locks_row *row = ktr__locks_row(view->locks, i);

		if (row->kind == kind && row->n &&
		    (kind == KTR__LOCKS_USE ? lockstat_is_lock(view, row) : lockstat_is_shown(view, row)))
			json_array_append_new(rows, json_row(view, row));
	}
	return rows;
}

/* What is said in words, sentence by sentence. */
static json_t *json_told(const struct lockstat_view *view)
{
	json_t *told = json_array();
	char *text = NULL, *rest, *line;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	if (!to) {
		json_decref(told);
		return NULL;
	}
	lockstat_tell(view, to);
	fclose(to);
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		if (*line && *line != ' ')
			json_array_append_new(told, json_string(line));
	free(text);
	return told;
}

int lockstat_json(const struct lockstat_view *view, FILE *to)
{
	json_t *all, *tables = json_object();
	unsigned shown;
	int rc;

	for (unsigned i = 0; i < KTR__LOCKS_TABLES; i++) {
		const char *title = lockstat_title_of(i, &shown);

		if (view->shown & shown)
			json_object_set_new(tables, title, json_table(view, (enum ktr__locks_kind)i));
	}
	all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "tables", tables, "waited_for",
			json_rows(view, KTR__LOCKS_EDGE), "locks", json_rows(view, KTR__LOCKS_USE), "errors",
			json_rows(view, KTR__LOCKS_ERROR), "told", json_told(view), "unseen",
			(json_int_t)view->locks->n_unknown);
	rc = all && json_dumpf(all, to, JSON_INDENT(2)) == 0 ? 0 : -ENOMEM;
	fputc('\n', to);
	json_decref(all);
	return rc;
}
