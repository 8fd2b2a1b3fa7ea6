/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ktr lockstat shows, and how it names locks, code and threads.
 */
#ifndef TOOLS_LOCKSTAT_NAMES_H
#define TOOLS_LOCKSTAT_NAMES_H

#include "analyze/lock/locks.h"
#include "analyze/symbols/symbols.h"

#include <stdio.h>

#define LOCKSTAT_NAME 256 /* [bytes] of an address's name */

enum { LOCKSTAT_CONTENTION = 1, LOCKSTAT_HOLD = 2 };

struct lockstat_view {
	const struct ktr__locks *locks;
	struct ktr__symbols *symbols; /* NULL: addresses have no names */
	uint64_t top;		      /* lines of each table; 0: all */
	uint64_t now_ns;	      /* until then those that wait have waited */
	unsigned shown;		      /* LOCKSTAT_* */
};

/* The name of a lock, or of where code calls, or its address. Returns text. */
const char *lockstat_lock(const struct lockstat_view *view, uint32_t proc, uint64_t lock, char text[LOCKSTAT_NAME]);
const char *lockstat_caller(const struct lockstat_view *view, uint32_t proc, uint64_t caller,
			    char text[LOCKSTAT_NAME]);

/* A line of a stack, below another line, where one is known. */
void lockstat_stack(const struct lockstat_view *view, const char *what, const struct ktr__framed *stack, FILE *to);

/* "thread 12 (name)" */
void lockstat_thread(const struct ktr_reader_thread *thread, FILE *to);

#endif
