/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a table of places: rows of one kind, those that read the same together, in their order.
 */
#ifndef TOOLS_LOCKSTAT_LINES_H
#define TOOLS_LOCKSTAT_LINES_H

#include "tools/lockstat/lockstat_names.h"

struct lockstat_line {
	char *lock, *caller; /* owned; "-" where all are one */
	uint64_t n, ns, max_ns;
	uint64_t took[KTR__LOCKS_STEPS];
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
