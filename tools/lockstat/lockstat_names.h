/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ktr lockstat shows, and how it names locks, code and threads.
 */
#ifndef TOOLS_LOCKSTAT_NAMES_H
#define TOOLS_LOCKSTAT_NAMES_H

#include "analyze/lock/lock_names.h"
#include "analyze/lock/locks.h"
#include "analyze/symbols/symbols.h"

#include <stdio.h>

#define LOCKSTAT_NAME KTR__LOCK_NAME_BYTES /* [bytes] of an address's name */

/* Tables. */
enum { LOCKSTAT_CONTENTION = 1, LOCKSTAT_HOLD = 2, LOCKSTAT_ERRORS = 4, LOCKSTAT_ALL = 7 };

/* Which lines are one: those that differ in nothing but these. */
enum {
	LOCKSTAT_ANY_CALLER = 1,
	LOCKSTAT_ANY_LOCK = 2,
	LOCKSTAT_BY_FUNCTION = 4, /* where in a function the code calls */
	LOCKSTAT_BY_VARIABLE = 8, /* where in a variable the lock lies: an array of them */
};

struct lockstat_view {
	const struct ktr__locks *locks;
	const struct ktr__lock_names *names;
	struct ktr__symbols *symbols; /* NULL: addresses have no names */
	uint64_t top;		      /* lines of each table; 0: all */
	unsigned depth;		      /* callers of stacks; 0: tables of places have none */
	uint64_t now_ns;	      /* until then those that wait have waited */
	unsigned shown;		      /* LOCKSTAT_* */
	unsigned merged;	      /* likewise */
	const char *lock, *function;  /* patterns of glob(7), which lines must match; NULL: all do */
	int by_count, rates, histogram;
};

/* The name of a lock, or of where code calls, or its address. Returns text. */
const char *lockstat_lock(const struct lockstat_view *view, uint32_t proc, uint64_t lock, uint32_t life,
			  char text[LOCKSTAT_NAME]);
const char *lockstat_caller(const struct lockstat_view *view, uint32_t proc, uint64_t caller,
			    char text[LOCKSTAT_NAME]);

/* Is the row's lock, or its caller too, one of those that were asked for? */
int lockstat_is_lock(const struct lockstat_view *view, const struct ktr__locks_row *row);
int lockstat_is_shown(const struct lockstat_view *view, const struct ktr__locks_row *row);

/* A line of a stack, below another line, where one is known. */
void lockstat_stack(const struct lockstat_view *view, const char *what, const struct ktr__framed *stack, FILE *to);

/* "thread 12 (name)" */
void lockstat_thread(const struct ktr_reader_thread *thread, FILE *to);

#endif
