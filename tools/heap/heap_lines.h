/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of a table, a line each. Of those that would read the same the places in functions stand there, too,
 * or whose they are.
 */
#ifndef TOOLS_HEAP_LINES_H
#define TOOLS_HEAP_LINES_H

#include "tools/heap/heap_view.h"

struct heap_line {
	const struct ktr__framed *stack;
	char *text; /* owned */
};

/* Of n places; NULL without memory. */
struct heap_line *heap_lines(const struct heap_view *view, const struct ktr__heap_place *const *place, size_t n);
void heap_lines_free(struct heap_line *lines, size_t n);

#endif
