/* SPDX-License-Identifier: BSD-2-Clause */
/* plockstat's tables, and ours. */
#include "tools/lockstat/lockstat_tables.h"

#include "tools/lockstat/lockstat_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *title;
	unsigned shown;
} lockstat_title[KTR__LOCKS_TABLES] = {
	[KTR__LOCKS_MUTEX_HOLD] = { "Mutex hold", LOCKSTAT_HOLD },
	[KTR__LOCKS_MUTEX_BLOCK] = { "Mutex block", LOCKSTAT_CONTENTION },
	[KTR__LOCKS_SPIN_HOLD] = { "Spin hold", LOCKSTAT_HOLD },
	[KTR__LOCKS_SPIN_SPIN] = { "Spin spin", LOCKSTAT_CONTENTION },
	[KTR__LOCKS_READ_HOLD] = { "R/W reader hold", LOCKSTAT_HOLD },
	[KTR__LOCKS_WRITE_HOLD] = { "R/W writer hold", LOCKSTAT_HOLD },
	[KTR__LOCKS_READ_BLOCK] = { "R/W reader block", LOCKSTAT_CONTENTION },
	[KTR__LOCKS_WRITE_BLOCK] = { "R/W writer block", LOCKSTAT_CONTENTION },
	[KTR__LOCKS_COND_BLOCK] = { "Condition block", LOCKSTAT_CONTENTION },
	[KTR__LOCKS_SEM_BLOCK] = { "Semaphore block", LOCKSTAT_CONTENTION },
	[KTR__LOCKS_BARRIER_BLOCK] = { "Barrier block", LOCKSTAT_CONTENTION },
};

const char *lockstat_title_of(unsigned kind, unsigned *shown)
{
	*shown = lockstat_title[kind].shown;
	return lockstat_title[kind].title;
}

static int lockstat_by_time(const void *a, const void *b)
{
	const struct ktr__locks_row *x = *(const struct ktr__locks_row *const *)a,
				    *y = *(const struct ktr__locks_row *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return (x->lock > y->lock) - (x->lock < y->lock);
}

static int lockstat_by_change(const void *a, const void *b)
{
	const struct ktr__locks_row *x = *(const struct ktr__locks_row *const *)a,
				    *y = *(const struct ktr__locks_row *const *)b;

	if (x->use.changed != y->use.changed)
		return x->use.changed < y->use.changed ? 1 : -1;
	return lockstat_by_time(a, b);
}

typedef void lockstat_print_line(const struct lockstat_view *view, const struct ktr__locks_row *row, FILE *to);

struct lockstat_table {
	enum ktr__locks_kind kind;
	const char *title, *head;
	int (*order)(const void *, const void *);
	lockstat_print_line *line;
	int of_lock; /* its rows have no caller */
};

static int lockstat_is_of(const struct lockstat_view *view, const struct ktr__locks_row *row,
			  const struct lockstat_table *table)
{
	/* Of a lock that was never taken before our eyes nothing is known but who waited for it. */
	return row->kind == table->kind && row->n &&
	       (table->of_lock ? lockstat_is_lock(view, row) : lockstat_is_shown(view, row));
}

static void lockstat_head(const char *title, uint64_t n_events, const char *head, FILE *to)
{
	fprintf(to, "\n%s: %" PRIu64 " events\n\n%s\n", title, n_events, head);
	for (int i = 0; i < 79; i++)
		fputc('-', to);
	fputc('\n', to);
}

static void lockstat_rest(const struct lockstat_view *view, size_t n, FILE *to)
{
	if (view->top && n > view->top)
		fprintf(to, "... and %zu more\n", n - (size_t)view->top);
}

/* 0 or -ENOMEM. */
static int lockstat_table(const struct lockstat_view *view,
			  const struct lockstat_table *table, FILE *to)
{
	const struct ktr__locks_row **row;
	uint64_t n_events = 0;
	size_t n = 0;

	for (size_t i = 0; i < view->locks->rows.n; i++)
		if (lockstat_is_of(view, ktr__locks_row(view->locks, i), table)) {
			n++;
			n_events += ktr__locks_row(view->locks, i)->n;
		}
	if (!n)
		return 0;
	row = malloc(n * sizeof(const struct ktr__locks_row *));
	if (!row)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < view->locks->rows.n; i++)
		if (lockstat_is_of(view, ktr__locks_row(view->locks, i), table))
			row[n++] = ktr__locks_row(view->locks, i);
	qsort(row, n, sizeof(const struct ktr__locks_row *), table->order);
	lockstat_head(table->title, n_events, table->head, to);
	for (size_t i = 0; i < n && (!view->top || i < view->top); i++)
		table->line(view, row[i], to);
	lockstat_rest(view, n, to);
	free(row);
	return 0;
}

/* ---- places ---- */

/* From 2^i ns on so many, as a bar of their share. */
static void lockstat_took(const struct lockstat_line *line, FILE *to)
{
	unsigned first = 0, last = KTR__LOCKS_STEPS;

	while (first < KTR__LOCKS_STEPS && !line->took[first])
		first++;
	while (last > first && !line->took[last - 1])
		last--;
	if (first < last)
		fprintf(to, "%15s ---- Time Distribution --- count\n", "nsec");
	for (unsigned i = first; i < last; i++) {
		int bar = (int)((24 * line->took[i] + line->n / 2) / line->n);

		fprintf(to, "%15" PRIu64 " |%.*s%*s| %" PRIu64 "\n", (uint64_t)1 << i, bar,
			"@@@@@@@@@@@@@@@@@@@@@@@@", 24 - bar, "", line->took[i]);
	}
}

static double lockstat_seconds(const struct lockstat_view *view)
{
	double seconds = (double)(view->locks->last_ns - view->locks->first_ns) / 1e9;

	return seconds > 0 ? seconds : 1e-9;
}

/* 0 or -ENOMEM. */
static int lockstat_places(const struct lockstat_view *view, enum ktr__locks_kind kind, FILE *to)
{
	struct lockstat_lines lines;
	int rc = lockstat_lines(view, kind, &lines);

	if (!rc && lines.n)
		lockstat_head(lockstat_title[kind].title, lines.n_events,
			      view->rates ? "ops/s     nsec Lock                         Caller" :
					    "Count     nsec Lock                         Caller", to);
	for (size_t i = 0; i < lines.n && !rc && (!view->top || i < view->top); i++) {
		const struct lockstat_line *line = &lines.line[i];

		if (view->rates)
			fprintf(to, "%5.0f", (double)line->n / lockstat_seconds(view));
		else
			fprintf(to, "%5" PRIu64, line->n);
		fprintf(to, " %8" PRIu64 " %-28s %s\n", line->ns / line->n, line->lock, line->caller);
		if (view->histogram)
			lockstat_took(line, to);
	}
	if (!rc)
		lockstat_rest(view, lines.n, to);
	lockstat_lines_free(&lines);
	return rc;
}

/* ---- other tables ---- */

static void lockstat_line_edge(const struct lockstat_view *view, const struct ktr__locks_row *row, FILE *to)
{
	char lock[LOCKSTAT_NAME], caller[LOCKSTAT_NAME];

	fprintf(to, "%5" PRIu64 " %8" PRIu64 " %-28s %" PRIu32 " for %" PRIu32 ", %s", row->n, row->ns / row->n,
		lockstat_lock(view, row->proc, row->lock, lock), row->tid, row->other,
		lockstat_caller(view, row->proc, row->caller, caller));
	if (row->at)
		fprintf(to, " for %s", lockstat_caller(view, row->proc, row->at, caller));
	fputc('\n', to);
	lockstat_stack(view, "waits in", row->stack, to);
	lockstat_stack(view, "for what was taken in", row->at_stack, to);
}

static void lockstat_line_use(const struct lockstat_view *view, const struct ktr__locks_row *row, FILE *to)
{
	char lock[LOCKSTAT_NAME];

	fprintf(to, "%8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %s\n", row->n, row->use.changed, row->use.blocked,
		lockstat_lock(view, row->proc, row->lock, lock));
}

static void lockstat_line_error(const struct lockstat_view *view, const struct ktr__locks_row *row, FILE *to)
{
	char lock[LOCKSTAT_NAME], caller[LOCKSTAT_NAME];
	const char *name = strerrorname_np((int)row->other);

	fprintf(to, "%5" PRIu64 " %8s %-28s %s\n", row->n, name ? name : "?",
		lockstat_lock(view, row->proc, row->lock, lock),
		lockstat_caller(view, row->proc, row->caller, caller));
}

int lockstat_tables(const struct lockstat_view *view, FILE *to)
{
	static const struct lockstat_table edges = { KTR__LOCKS_EDGE, "Who waited for whom",
						     "Count     nsec Lock                         Thread for owner, caller for its",
						     lockstat_by_time, lockstat_line_edge, 0 };
	static const struct lockstat_table uses = { KTR__LOCKS_USE, "Owner changes",
						    "  Locked  Changed    Cont. Lock", lockstat_by_change,
						    lockstat_line_use, 1 };
	static const struct lockstat_table errors = { KTR__LOCKS_ERROR, "Errors",
						      "Count    Error Lock                         Caller",
						      lockstat_by_time, lockstat_line_error, 0 };
	int rc = 0;

	for (unsigned i = 0; i < KTR__LOCKS_TABLES && !rc; i++)
		if (view->shown & lockstat_title[i].shown)
			rc = lockstat_places(view, (enum ktr__locks_kind)i, to);
	if (!rc && view->shown & LOCKSTAT_CONTENTION)
		rc = lockstat_table(view, &edges, to);
	if (!rc && view->shown & LOCKSTAT_HOLD)
		rc = lockstat_table(view, &uses, to);
	if (!rc && view->shown & LOCKSTAT_ERRORS)
		rc = lockstat_table(view, &errors, to);
	return rc;
}
