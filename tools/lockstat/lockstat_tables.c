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
	[KTR__LOCKS_FUTEX_BLOCK] = { "Futex block", LOCKSTAT_CONTENTION },
};

const char *lockstat_title_of(unsigned kind, unsigned *shown)
{
	*shown = lockstat_title[kind].shown;
	return lockstat_title[kind].title;
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

static void lockstat_line_place(const struct lockstat_view *view, const struct lockstat_line *line, FILE *to)
{
	if (view->rates)
		fprintf(to, "%5.0f", (double)line->n / lockstat_seconds(view));
	else
		fprintf(to, "%5" PRIu64, line->n);
	fprintf(to, " %8" PRIu64 " %-28s %s\n", line->ns / line->n, line->lock, line->caller);
	if (view->histogram)
		lockstat_took(line, to);
	if (view->depth)
		lockstat_stack(view, "in", line->stack, to);
}

/* ---- other tables ---- */

static void lockstat_line_edge(const struct lockstat_view *view, const struct lockstat_line *line, FILE *to)
{
	fprintf(to, "%5" PRIu64 " %8" PRIu64 " %-28s %" PRIu32 " for %" PRIu32 ", %s", line->n, line->ns / line->n,
		line->lock, line->tid, line->other, line->caller);
	if (*line->at)
		fprintf(to, " for %s", line->at);
	fputc('\n', to);
	lockstat_stack(view, "waits in", line->stack, to);
	lockstat_stack(view, "for what was taken in", line->at_stack, to);
}

static void lockstat_line_use(const struct lockstat_view *view, const struct lockstat_line *line, FILE *to)
{
	(void)view;
	fprintf(to, "%8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %s\n", line->n, line->changed, line->blocked, line->lock);
}

static void lockstat_line_error(const struct lockstat_view *view, const struct lockstat_line *line, FILE *to)
{
	const char *name = strerrorname_np((int)line->other);

	(void)view;
	fprintf(to, "%5" PRIu64 " %8s %-28s %s\n", line->n, name ? name : "?", line->lock, line->caller);
}

/* ---- any ---- */

typedef void lockstat_print_line(const struct lockstat_view *view, const struct lockstat_line *line, FILE *to);

/* 0 or -ENOMEM. */
static int lockstat_table(const struct lockstat_view *view, enum ktr__locks_kind kind, const char *title,
			  const char *head, lockstat_print_line *print, FILE *to)
{
	struct lockstat_lines lines;
	int rc = lockstat_lines(view, kind, &lines);

	if (!rc && lines.n)
		lockstat_head(title, lines.n_events, head, to);
	for (size_t i = 0; i < lines.n && !rc && (!view->top || i < view->top); i++)
		print(view, &lines.line[i], to);
	if (!rc)
		lockstat_rest(view, lines.n, to);
	lockstat_lines_free(&lines);
	return rc;
}

int lockstat_tables(const struct lockstat_view *view, FILE *to)
{
	int rc = 0;

	for (unsigned i = 0; i < KTR__LOCKS_TABLES && !rc; i++)
		if (view->shown & lockstat_title[i].shown)
			rc = lockstat_table(view, (enum ktr__locks_kind)i, lockstat_title[i].title,
					    view->rates ? "ops/s     nsec Lock                         Caller" :
							  "Count     nsec Lock                         Caller",
					    lockstat_line_place, to);
	if (!rc && view->shown & LOCKSTAT_CONTENTION)
		rc = lockstat_table(view, KTR__LOCKS_EDGE, "Who waited for whom",
				    "Count     nsec Lock                         Thread for owner, caller for its",
				    lockstat_line_edge, to);
	if (!rc && view->shown & LOCKSTAT_HOLD)
		rc = lockstat_table(view, KTR__LOCKS_USE, "Owner changes", "  Locked  Changed    Cont. Lock",
				    lockstat_line_use, to);
	if (!rc && view->shown & LOCKSTAT_ERRORS)
		rc = lockstat_table(view, KTR__LOCKS_ERROR, "Errors",
				    "Count    Error Lock                         Caller", lockstat_line_error, to);
	return rc;
}
