/* SPDX-License-Identifier: BSD-2-Clause */
/* plockstat's tables, and ours. */
#include "tools/lockstat/lockstat_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

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

typedef void lockstat_line(const struct lockstat_view *view, const struct ktr__locks_row *row, FILE *to);

struct lockstat_table {
	enum ktr__locks_kind kind;
	const char *title, *head;
	int (*order)(const void *, const void *);
	lockstat_line *line;
};

static int lockstat_is_of(const struct ktr__locks_row *row, const struct lockstat_table *table)
{
	/* Of a lock that was never taken before our eyes nothing is known but who waited for it. */
	return row->kind == table->kind && row->n;
}

/* 0 or -ENOMEM. */
static int lockstat_table(const struct lockstat_view *view,
			  const struct lockstat_table *table, FILE *to)
{
	const struct ktr__locks_row **row;
	uint64_t n_events = 0;
	size_t n = 0;

	for (size_t i = 0; i < view->locks->rows.n; i++)
		if (lockstat_is_of(ktr__locks_row(view->locks, i), table)) {
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
		if (lockstat_is_of(ktr__locks_row(view->locks, i), table))
			row[n++] = ktr__locks_row(view->locks, i);
	qsort(row, n, sizeof(const struct ktr__locks_row *), table->order);
	fprintf(to, "\n%s: %" PRIu64 " events\n\n%s\n", table->title, n_events, table->head);
	for (int i = 0; i < 79; i++)
		fputc('-', to);
	fputc('\n', to);
	for (size_t i = 0; i < n && (!view->top || i < view->top); i++)
		table->line(view, row[i], to);
	if (view->top && n > view->top)
		fprintf(to, "... and %zu more\n", n - (size_t)view->top);
	free(row);
	return 0;
}

static void lockstat_line_plain(const struct lockstat_view *view, const struct ktr__locks_row *row, FILE *to)
{
	char lock[LOCKSTAT_NAME], caller[LOCKSTAT_NAME];

	fprintf(to, "%5" PRIu64 " %8" PRIu64 " %-28s %s\n", row->n, row->ns / row->n,
		lockstat_lock(view, row->proc, row->lock, lock),
		lockstat_caller(view, row->proc, row->caller, caller));
}

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

int lockstat_tables(const struct lockstat_view *view, FILE *to)
{
	static const char head[] = "Count     nsec Lock                         Caller";
	static const struct lockstat_table edges = { KTR__LOCKS_EDGE, "Who waited for whom",
						     "Count     nsec Lock                         Thread for owner, caller for its",
						     lockstat_by_time, lockstat_line_edge };
	static const struct lockstat_table uses = { KTR__LOCKS_USE, "Owner changes",
						    "  Locked  Changed    Cont. Lock", lockstat_by_change,
						    lockstat_line_use };
	int rc = 0;

	for (unsigned i = 0; i < KTR__LOCKS_TABLES && !rc; i++) {
		const struct lockstat_table table = { (enum ktr__locks_kind)i, lockstat_title[i].title, head,
						      lockstat_by_time, lockstat_line_plain };

		if (view->shown & lockstat_title[i].shown)
			rc = lockstat_table(view, &table, to);
	}
	if (!rc && view->shown & LOCKSTAT_CONTENTION)
		rc = lockstat_table(view, &edges, to);
	if (!rc && view->shown & LOCKSTAT_HOLD)
		rc = lockstat_table(view, &uses, to);
	return rc;
}
