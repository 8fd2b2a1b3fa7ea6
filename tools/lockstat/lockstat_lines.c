/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/lockstat/lockstat_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int lines_by_name(const void *a, const void *b)
{
	const struct lockstat_line *x = a, *y = b;
	int order = strcmp(x->lock, y->lock);

	order = order ? order : strcmp(x->caller, y->caller);
	order = order ? order : strcmp(x->at, y->at);
	if (!order && x->tid != y->tid)
		order = x->tid < y->tid ? -1 : 1;
	if (!order && x->other != y->other)
		order = x->other < y->other ? -1 : 1;
	return order;
}

static int lines_by_time(const void *a, const void *b)
{
	const struct lockstat_line *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return lines_by_name(a, b);
}

static int lines_by_count(const void *a, const void *b)
{
	const struct lockstat_line *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : lines_by_time(a, b);
}

static int lines_by_change(const void *a, const void *b)
{
	const struct lockstat_line *x = a, *y = b;

	return x->changed != y->changed ? (x->changed < y->changed ? 1 : -1) : lines_by_time(a, b);
}

static int lines_fill(const struct lockstat_view *view, const struct ktr__locks_row *row,
		      struct lockstat_line *line)
{
	char text[LOCKSTAT_NAME];

	*line = (struct lockstat_line){ .n = row->n, .ns = row->ns, .max_ns = row->max_ns, .tid = row->tid,
					.other = row->other, .changed = row->use.changed,
					.blocked = row->use.blocked, .stack = row->stack,
					.at_stack = row->at_stack };
	if (row->kind == KTR__LOCKS_USE)
		line->other = 0; /* kinds of locks are one table */
	for (unsigned k = 0; k < KTR__LOCKS_STEPS; k++)
		line->took[k] = row->took[k];
	lockstat_lock(view, row->proc, row->lock, row->life, text);
	line->lock = strdup(view->merged & LOCKSTAT_ANY_LOCK ? "-" : text);
	lockstat_caller(view, row->proc, row->caller, text);
	line->caller = strdup(row->kind == KTR__LOCKS_USE ? "" : view->merged & LOCKSTAT_ANY_CALLER ? "-" : text);
	*text = '\0';
	if (row->kind == KTR__LOCKS_EDGE && row->at && !(view->merged & LOCKSTAT_ANY_CALLER))
		lockstat_caller(view, row->proc, row->at, text);
	line->at = strdup(text);
	return line->lock && line->caller && line->at ? 0 : -ENOMEM;
}

static void lines_free(struct lockstat_line *line)
{
	free(line->lock);
	free(line->caller);
	free(line->at);
}

/* Those that read the same are one. */
static void lines_merge(struct lockstat_lines *lines)
{
	size_t n = 0;

	qsort(lines->line, lines->n, sizeof(*lines->line), lines_by_name);
	for (size_t i = 0; i < lines->n; i++) {
		struct lockstat_line *line = &lines->line[i], *before = n ? &lines->line[n - 1] : NULL;

		if (!before || lines_by_name(before, line)) {
			lines->line[n++] = *line;
			continue;
		}
		if (line->max_ns > before->max_ns) {
			before->max_ns = line->max_ns;
			before->stack = line->stack;
			before->at_stack = line->at_stack;
		}
		before->n += line->n;
		before->ns += line->ns;
		before->changed += line->changed;
		before->blocked += line->blocked;
		for (unsigned k = 0; k < KTR__LOCKS_STEPS; k++)
			before->took[k] += line->took[k];
		lines_free(line);
	}
	lines->n = n;
}

static int lines_is_shown(const struct lockstat_view *view, const struct ktr__locks_row *row)
{
	/* Of a lock that was never taken before our eyes nothing is known but who waited for it. */
	if (!row->n)
		return 0;
	return row->kind == KTR__LOCKS_USE ? lockstat_is_lock(view, row) : lockstat_is_shown(view, row);
}

int lockstat_lines(const struct lockstat_view *view, enum ktr__locks_kind kind, struct lockstat_lines *lines)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < view->locks->rows.n; i++)
		n += ktr__locks_row(view->locks, i)->kind == kind;
	*lines = (struct lockstat_lines){ .line = calloc(n + 1, sizeof(*lines->line)) };
	if (!lines->line)
		return -ENOMEM;
	for (size_t i = 0; i < view->locks->rows.n && !rc; i++) {
		const struct ktr__locks_row *row = ktr__locks_row(view->locks, i);

		if (row->kind != kind || !lines_is_shown(view, row))
			continue;
		rc = lines_fill(view, row, &lines->line[lines->n++]);
		lines->n_events += row->n;
	}
	if (rc)
		return rc;
	lines_merge(lines);
	qsort(lines->line, lines->n, sizeof(*lines->line),
	      kind == KTR__LOCKS_USE ? lines_by_change :
	      view->by_count	     ? lines_by_count :
				       lines_by_time);
	return 0;
}

void lockstat_lines_free(struct lockstat_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		lines_free(&lines->line[i]);
	free(lines->line);
}
