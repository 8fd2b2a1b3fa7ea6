/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a table: rows of one kind, those that read the same together, in their order.
 */
#ifndef TOOLS_LOCKSTAT_LINES_H
#define TOOLS_LOCKSTAT_LINES_H

#include "tools/lockstat/lockstat_names.h"

struct lockstat_line {
	char *lock, *caller; /* owned; "-" where all are one. Of a lock's uses the caller is "" */
	char *at;	     /* owned; EDGE: where the owner had called for it, "": not known */
	uint32_t tid, other; /* EDGE: threads; ERROR: a code */
	uint64_t n, ns, max_ns;
	uint64_t changed, blocked; /* USE */
	uint64_t took[KTR__LOCKS_STEPS];
	const struct ktr__framed *stack, *at_stack; /* of the longest; NULL: not known */
};

struct lockstat_lines {
	struct lockstat_line *line; /* owned */
	size_t n;
	uint64_t n_events;
};

/* 0 or -ENOMEM; free() is due in any case. */
int lockstat_lines(const struct lockstat_view *view, enum ktr__locks_kind kind, struct lockstat_lines *lines);
void lockstat_lines_free(struct lockstat_lines *lines);

#endif
