/* SPDX-License-Identifier: BSD-2-Clause */
/* What ktr heap shows of each place, and in which forms. */
#ifndef TOOLS_HEAP_VIEW_H
#define TOOLS_HEAP_VIEW_H

#include "analyze/heap/heap.h"
#include "analyze/symbols/symbols.h"

struct heap_view {
	const struct ktr__heap *heap;
	struct ktr__symbols *symbols; /* NULL: addresses have no names */
	uint64_t top;	/* lines of each table; 0: all */
	uint64_t depth; /* callers that a line names; 0: all */
	int by;		/* of one measure alone; -1: those that are usual */
};

/* What places are measured by. */
struct heap_measure {
	const char *name;  /* as an option has it */
	const char *title; /* of its table, and */
	const char *unit;  /* what it counts */
	const char *what;  /* what these are: "in use at the end" */
	double (*of)(const struct ktr__heap_place *place); /* what lines are sorted by, and a stack is worth */
	double (*other)(const struct ktr__heap_place *place); /* the second column */
	const char *head;
	int is_usual;
	int is_mapped; /* of what was mapped, not of blocks */
};

extern const struct heap_measure heap_measures[];
extern const unsigned heap_n_measures;

/* The measure of a name; -1: there is none. */
int heap_measure(const char *name);

/* Sorted, those that have any of it. Owned, *n of them; NULL without memory. */
const struct ktr__heap_place **heap_sorted(const struct heap_view *view, const struct heap_measure *measure,
					  size_t *n);

#endif
