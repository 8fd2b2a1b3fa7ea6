/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples as trees of calls: first by address, as they are taken; then by function, for which names are looked up
 * once for each address.
 */
#ifndef TOOLS_SAMPLE_TREE_H
#define TOOLS_SAMPLE_TREE_H

#include "analyze/live/live.h"

#include <stdint.h>

/* A node by address. Nodes are numbers, 0 is none. */
struct sample_node {
	uint64_t pc;
	uint64_t self; /* samples that ended here */
	uint32_t parent, child, next;
	uint32_t is_return;
};

struct sample_tree {
	struct sample_node *node; /* owned */
	uint32_t n, room;
};

/* A tree of its own; 0: not enough memory. */
uint32_t sample_tree_root(struct sample_tree *tree);

/* Counts a stack, frame[0] being the innermost: its last node, 0 without memory. */
uint32_t sample_tree_add(struct sample_tree *tree, uint32_t root, const struct ktr__live_frame *frame, unsigned n);

void sample_tree_free(struct sample_tree *tree);

/* ---- by function ---- */

struct sample_function {
	char *symbol; /* owned; "": none is known */
	char *object; /* owned; NULL: none */
	uint64_t base; /* where the function begins, or the object */
	uint64_t self, places; /* of all threads: samples that ended in it, and nodes that are its */
	struct sample_function *next;
};

#define SAMPLE_PLACES 4 /* of a node that are kept; of others that there are some */

struct sample_call {
	struct sample_function *function; /* borrowed */
	uint64_t self, total;
	struct sample_call *child, *next; /* owned; the heaviest first */
	uint64_t place[SAMPLE_PLACES];
	unsigned n_places; /* SAMPLE_PLACES + 1: more */
	const char *file; /* of the first; borrowed, NULL */
	int line;
};

struct sample_names;

/* Over a process that was looked at (borrowed). Owned; NULL without memory. */
struct sample_names *sample_names_new(struct ktr__live *live);
void sample_names_free(struct sample_names *names);

/* Functions, each once, in no order: the first, from where .next leads on. */
struct sample_function *sample_names_functions(const struct sample_names *names);

/* What a root's samples are, by function, with the sums of all below: a node that is no function's. Owned; NULL. */
struct sample_call *sample_calls(struct sample_names *names, const struct sample_tree *tree, uint32_t root);
void sample_calls_free(struct sample_call *call);

#endif
