/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes of an expression's tree, and how they are joined. Functions that return an int return a node's
 * index, or -errno with the err of p->lex filled; where they are given a negative index they return it.
 */
#ifndef CONF_EXPR_TREE_H
#define CONF_EXPR_TREE_H

#include "conf/expr/expr.h"
#include "conf/expr/expr_lex.h"

struct ktr__tree {
	struct ktr__expr_lex lex;
	const struct ktr__expr_language *language;
	struct ktr__expr *expr;
	unsigned depth;
};

/* Borrowed from the tree: nodes do not move. */
struct ktr__expr_node *ktr__tree_at(struct ktr__tree *p, int node);

/* Does the node hold or not, instead of having a value? Returns 1 or 0. */
int ktr__tree_is_condition(struct ktr__tree *p, int node);

int ktr__tree_node(struct ktr__tree *p, enum ktr__expr_node_kind kind, unsigned column);
int ktr__tree_pair(struct ktr__tree *p, enum ktr__expr_node_kind kind, unsigned column, int left,
		   int right);
int ktr__tree_constant(struct ktr__tree *p, const struct ktr__expr_value *value, unsigned column);
int ktr__tree_number(struct ktr__tree *p, uint64_t number, unsigned column);
int ktr__tree_field(struct ktr__tree *p, unsigned field, unsigned column);
int ktr__tree_arith(struct ktr__tree *p, unsigned code, unsigned column, int left, int right);
int ktr__tree_test(struct ktr__tree *p, unsigned code, unsigned what, unsigned column, int left,
		   int right);
int ktr__tree_condition(struct ktr__tree *p, int node);
int ktr__tree_joined(struct ktr__tree *p, enum ktr__expr_node_kind kind, unsigned column, int left,
		     int right);
int ktr__tree_not(struct ktr__tree *p, unsigned column, int node);

#endif
