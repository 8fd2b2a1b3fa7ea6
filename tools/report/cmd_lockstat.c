/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr lockstat: who waited for which lock, and for whom; how long locks were held. plockstat's tables, and what it
 * does not have: who waited for whom, how often a lock changed hands, and who waits for each other.
 */
#include "analyze/read/reader.h"
#include "analyze/stats/locks.h"
#include "analyze/symbols/symbols.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/walk.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOCKSTAT_NAME 256 /* [bytes] of an address's name */

enum { LOCKSTAT_CONTENTION = 1, LOCKSTAT_HOLD = 2 };

struct lockstat {
	struct walk walk;
	uint64_t top;
	unsigned shown; /* LOCKSTAT_*; 0: all there is */
	struct ktr__symbols *symbols;
};

static const struct option_row lockstat_rows[] = {
	OPTIONS_SOURCE(struct lockstat, walk.find),
	OPTION_BITS('C', "contention", struct lockstat, shown, LOCKSTAT_CONTENTION, "who waited"),
	OPTION_BITS('H', "hold", struct lockstat, shown, LOCKSTAT_HOLD, "how long locks were held"),
	OPTION_BITS('A', "all", struct lockstat, shown, LOCKSTAT_CONTENTION | LOCKSTAT_HOLD, "both, as without any of the three"),
	OPTION_NUMBER('n', "top", "N", struct lockstat, top, 0, UINT32_MAX, "lines of each table, 10 by default; 0: all"),
	OPTIONS_WINDOW(struct lockstat, walk),
	OPTION_FILTER(struct lockstat, walk.filter),
};

static const struct options lockstat_options = {
	.operands = "[TRACE]",
	.about = "Sums up what threads waited for, whom they waited for, and how long locks were held, as ktr run --agent "
		 "--lock has recorded it. Without TRACE, ./ktr.out is read.",
	.examples = "ktr run --agent --lock contention -- memcached -t 4\n"
		    "ktr lockstat -n 10\n"
		    "ktr lockstat -p 4711             what the rings of a running program hold; of one that hangs, why\n",
	OPTIONS_ROWS(lockstat_rows),
};

static const struct {
	const char *title;
	unsigned shown;
} lockstat_tables[KTR__LOCKS_TABLES] = {
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

/* ---- names ---- */

static const char *lockstat_name(const struct lockstat *c, uint32_t proc, uint64_t address,
				 enum ktr__symbols_kind kind, char text[LOCKSTAT_NAME])
{
	const char *name = c->symbols ? ktr__symbols_at(c->symbols, proc, address, kind) : NULL;
	size_t n = name ? strlen(name) : 0;

	if (!name) {
		snprintf(text, LOCKSTAT_NAME, "0x%" PRIx64, address);
		return text;
	}
	if (n > 4 && strcmp(name + n - 4, "+0x0") == 0)
		n -= 4;
	ktr__label_clean(text, LOCKSTAT_NAME, name, n);
	return text;
}

static const char *lockstat_lock(const struct lockstat *c, uint32_t proc, uint64_t lock, char text[LOCKSTAT_NAME])
{
	return lockstat_name(c, proc, lock, KTR__SYMBOLS_POINTER, text);
}

/* ---- tables ---- */

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

	if (x->changed != y->changed)
		return x->changed < y->changed ? 1 : -1;
	return lockstat_by_time(a, b);
}

typedef void lockstat_line(const struct lockstat *c, const struct ktr__locks_row *row, FILE *to);

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
static int lockstat_table(const struct lockstat *c, const struct ktr__locks *locks,
			  const struct lockstat_table *table, FILE *to)
{
	const struct ktr__locks_row **row;
	uint64_t n_events = 0;
	size_t n = 0;

	for (size_t i = 0; i < locks->n; i++)
		if (lockstat_is_of(locks->row[i], table)) {
			n++;
			n_events += locks->row[i]->n;
		}
	if (!n)
		return 0;
	row = malloc(n * sizeof(const struct ktr__locks_row *));
	if (!row)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < locks->n; i++)
		if (lockstat_is_of(locks->row[i], table))
			row[n++] = locks->row[i];
	qsort(row, n, sizeof(const struct ktr__locks_row *), table->order);
	fprintf(to, "\n%s: %" PRIu64 " events\n\n%s\n", table->title, n_events, table->head);
	for (int i = 0; i < 79; i++)
		fputc('-', to);
	fputc('\n', to);
	for (size_t i = 0; i < n && (!c->top || i < c->top); i++)
		table->line(c, row[i], to);
	if (c->top && n > c->top)
		fprintf(to, "... and %zu more\n", n - (size_t)c->top);
	free(row);
	return 0;
}

static void lockstat_line_plain(const struct lockstat *c, const struct ktr__locks_row *row, FILE *to)
{
	char lock[LOCKSTAT_NAME], caller[LOCKSTAT_NAME];

	fprintf(to, "%5" PRIu64 " %8" PRIu64 " %-28s %s\n", row->n, row->ns / row->n,
		lockstat_lock(c, row->proc, row->lock, lock),
		lockstat_name(c, row->proc, row->caller, KTR__SYMBOLS_RETURN, caller));
}

static void lockstat_line_edge(const struct lockstat *c, const struct ktr__locks_row *row, FILE *to)
{
	char lock[LOCKSTAT_NAME];

	fprintf(to, "%5" PRIu64 " %8" PRIu64 " %-28s %" PRIu32 " for %" PRIu32 "\n", row->n, row->ns / row->n,
		lockstat_lock(c, row->proc, row->lock, lock), row->tid, row->other);
}

static void lockstat_line_use(const struct lockstat *c, const struct ktr__locks_row *row, FILE *to)
{
	char lock[LOCKSTAT_NAME];

	fprintf(to, "%8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %s\n", row->n, row->changed, row->blocked,
		lockstat_lock(c, row->proc, row->lock, lock));
}

/* ---- who waits for each other ---- */

static void lockstat_thread(const struct ktr_reader_thread *thread, FILE *to)
{
	char name[LOCKSTAT_NAME];

	ktr__label_clean(name, sizeof(name), thread->name, strlen(thread->name));
	fprintf(to, "thread %" PRIu32 " (%s)", thread->tid, name);
}

/* The cycle that begins with a thread; told by the one with the lowest number. 1: it was told. */
static int lockstat_cycle(const struct lockstat *c, const struct ktr__locks *locks,
			  const struct ktr__locks_row *first, FILE *to)
{
	const struct ktr__locks_row *at = first;
	char lock[LOCKSTAT_NAME];
	size_t n = 0;

	do {
		at = ktr__locks_behind(locks, at);
	} while (at && at != first && at->tid > first->tid && ++n <= locks->n);
	if (at != first)
		return 0;
	fputs("\nDeadlock: ", to);
	do {
		const struct ktr__locks_row *behind = ktr__locks_behind(locks, at);

		lockstat_thread(at->thread, to);
		fprintf(to, " waits for %s, which ", lockstat_lock(c, at->proc, at->at, lock));
		if (behind == at)
			fputs("it has itself", to);
		else
			lockstat_thread(behind->thread, to);
		fputs(behind == first ? (behind == at ? "\n" : " has\n") : " has; ", to);
		at = behind;
	} while (at != first);
	return 1;
}

static void lockstat_waiting(const struct lockstat *c, const struct ktr__locks *locks, FILE *to)
{
	char lock[LOCKSTAT_NAME];

	for (size_t i = 0; i < locks->n; i++) {
		const struct ktr__locks_row *row = locks->row[i];

		if (row->kind != KTR__LOCKS_WAITING || !row->since_ns || !row->whose)
			continue;
		fputs("\nStill waiting at the end: ", to);
		lockstat_thread(row->thread, to);
		fprintf(to, " for %s of thread %" PRIu32 ", %.3f ms\n", lockstat_lock(c, row->proc, row->at, lock),
			row->whose, (double)(locks->last_ns - row->since_ns) / 1e6);
	}
	for (size_t i = 0; i < locks->n; i++)
		if (locks->row[i]->kind == KTR__LOCKS_WAITING && locks->row[i]->since_ns)
			lockstat_cycle(c, locks, locks->row[i], to);
}

static int lockstat_print(const struct lockstat *c, const struct ktr__locks *locks, FILE *to)
{
	static const char head[] = "Count     nsec Lock                         Caller";
	static const struct lockstat_table edges = { KTR__LOCKS_EDGE, "Who waited for whom",
						     "Count     nsec Lock                         Thread for owner",
						     lockstat_by_time, lockstat_line_edge };
	static const struct lockstat_table uses = { KTR__LOCKS_USE, "Owner changes",
						    "  Locked  Changed    Cont. Lock", lockstat_by_change,
						    lockstat_line_use };
	unsigned shown = c->shown ? c->shown : LOCKSTAT_CONTENTION | LOCKSTAT_HOLD;
	int rc = 0;

	for (unsigned i = 0; i < KTR__LOCKS_TABLES && !rc; i++) {
		const struct lockstat_table table = { (enum ktr__locks_kind)i, lockstat_tables[i].title, head,
						      lockstat_by_time, lockstat_line_plain };

		if (shown & lockstat_tables[i].shown)
			rc = lockstat_table(c, locks, &table, to);
	}
	if (!rc && shown & LOCKSTAT_CONTENTION)
		rc = lockstat_table(c, locks, &edges, to);
	if (!rc && shown & LOCKSTAT_HOLD)
		rc = lockstat_table(c, locks, &uses, to);
	if (shown & LOCKSTAT_CONTENTION)
		lockstat_waiting(c, locks, to);
	if (locks->n_unknown && shown & LOCKSTAT_HOLD)
		fprintf(to, "\n%" PRIu64 " releases of locks that were not seen taken: not counted as held\n",
			locks->n_unknown);
	return rc;
}

static int cmd_lockstat(int argc, char **argv)
{
	struct lockstat c = { .walk.find.command = argv[0], .top = 10 };
	struct ktr__locks locks;
	int rc;

	if (!options_parse(&lockstat_options, argc, argv, &c, &rc))
		return rc;
	rc = walk_open(&c.walk, argc, argv);
	if (rc)
		return rc;
	rc = ktr__locks_init(&locks, c.walk.reader);
	if (!rc && !locks.n_probes) {
		ktr__locks_free(&locks);
		walk_close(&c.walk);
		return fail(argv[0], "%s: nothing of locks was recorded: ktr run --agent --lock contention", c.walk.path);
	}
	rc = rc ? rc : walk_run(&c.walk, (struct ktr_sink *[]){ &locks.sink }, 1);
	c.symbols = ktr__reader_symbols(c.walk.reader);
	rc = rc ? rc : lockstat_print(&c, &locks, stdout);
	if (rc == -ENOMEM)
		fail(argv[0], "no memory");
	ktr__locks_free(&locks);
	return walk_close(&c.walk) | (rc != 0);
}

COMMAND(lockstat, "sum up waiting for locks, holding them, and who waited for whom", cmd_lockstat);
