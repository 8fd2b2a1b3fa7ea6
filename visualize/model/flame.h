/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of frames, as flame graphs show it: what lay within what, and how much each had for itself. It holds one
 * trace, or two that are compared: side 0 and side 1.
 *
 *	ktr__flame_child(flame, 0, name, n, &node);	from the root inwards
 *	flame->node[node].self[side] += ns;
 *	ktr__flame_end(flame);				totals; children in the order of their names
 *
 * Zeroed memory is an empty tree, once ktr__flame_init() has given it a root. A node comes after its parent. Names
 * are clean (label.h), and have no ';'. One thread at a time.
 */
#ifndef VISUALIZE_FLAME_H
#define VISUALIZE_FLAME_H

#include "visualize/model/keymap.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* [nodes] Others are counted, and what they had is their parent's. About 70 MB with their names. */
#define KTR__FLAME_NODES 1000000u

#define KTR__FLAME_NAME_BYTES 1024 /* longer ones are cut */

struct ktr__flame_node {
	uint32_t parent;
	uint32_t name;           /* index in `name` */
	uint32_t child, sibling; /* 0: none */
	uint64_t self[2];
	uint64_t total[2]; /* after ktr__flame_end() */
};

struct ktr__flame_name {
	char *text;    /* owned */
	uint32_t next; /* index of another one with the same hash, + 1; 0: none */
};

struct ktr__flame {
	struct ktr__flame_node *node; /* owned; 0 is the root */
	struct ktr__flame_name *name; /* owned */
	uint32_t n_nodes, node_room, n_names, name_room;
	struct ktr__keymap node_of; /* parent and name to node */
	struct ktr__keymap name_of; /* hash to name, + 1 */
	uint64_t n_left_out;        /* frames that found no room */
};

/* 0 or -ENOMEM. */
int ktr__flame_init(struct ktr__flame *flame);
void ktr__flame_free(struct ktr__flame *flame);

/* The frame of that name within the parent, made where it is not there; without room, the parent. 0 or -ENOMEM. */
int ktr__flame_child(struct ktr__flame *flame, uint32_t parent, const char *name, size_t n, uint32_t *node);

/* Adds up totals and puts children in the order of their names. 0 or -ENOMEM. */
int ktr__flame_end(struct ktr__flame *flame);

static inline const char *ktr__flame_text(const struct ktr__flame *flame, uint32_t node)
{
	return flame->name[flame->node[node].name].text;
}

/* Below, at or above 0 as the name of node a comes before, is, or comes after that of b. */
int ktr__flame_order(const struct ktr__flame *flame, uint32_t a, uint32_t b);

/* The same of all names: [n_names] sums of `self` by name. Owned, or NULL without memory. */
uint64_t *ktr__flame_by_name(const struct ktr__flame *flame, unsigned side);

/* "outer;inner NUMBER" for each node that has something for itself on that side. How many lines. */
uint32_t ktr__flame_print(const struct ktr__flame *flame, unsigned side, FILE *to);

#endif
