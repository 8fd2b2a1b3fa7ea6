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

static json_t *json_edge(const struct lockstat_line *line)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:s?}", "lock", line->lock, "thread",
			 (json_int_t)line->tid, "owner", (json_int_t)line->other, "count", (json_int_t)line->n,
			 "ns", (json_int_t)line->ns, "max_ns", (json_int_t)line->max_ns, "caller",
			 line->caller, "owner_caller", *line->at ? line->at : NULL);
}

static json_t *json_use(const struct lockstat_line *line)
{
	return json_pack("{s:s, s:I, s:I, s:I}", "lock", line->lock, "locked", (json_int_t)line->n, "changed",
			 (json_int_t)line->changed, "contended", (json_int_t)line->blocked);
}

static json_t *json_error(const struct lockstat_line *line)
{
	return json_pack("{s:s, s:s?, s:I, s:s}", "lock", line->lock, "error", strerrorname_np((int)line->other),
			 "count", (json_int_t)line->n, "caller", line->caller);
}

static json_t *json_table(const struct lockstat_view *view, enum ktr__locks_kind kind,
			  json_t *(*of)(const struct lockstat_line *line))
{
	struct lockstat_lines lines;
	json_t *table = lockstat_lines(view, kind, &lines) ? NULL : json_array();

	for (size_t i = 0; table && i < lines.n && (!view->top || i < view->top); i++)
		json_array_append_new(table, of(&lines.line[i]));
	lockstat_lines_free(&lines);
	return table;
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
			json_object_set_new(tables, title, json_table(view, (enum ktr__locks_kind)i, json_line));
	}
	all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "tables", tables, "waited_for",
			json_table(view, KTR__LOCKS_EDGE, json_edge), "locks", json_table(view, KTR__LOCKS_USE, json_use), "errors",
			json_table(view, KTR__LOCKS_ERROR, json_error), "told", json_told(view), "unseen",
			(json_int_t)view->locks->n_unknown, "lost", (json_int_t)view->locks->n_lost);
	rc = !all ? -ENOMEM : json_dumpf(all, to, JSON_INDENT(2)) == 0 ? 0 : ferror(to) ? -EIO : -ENOMEM;
	if (!rc)
		fputc('\n', to);
	json_decref(all);
	return rc;
}
