/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Putting an expression's tree together: expr_tree.c makes nodes, expr_name.c comparisons, expr_parse.c
 * knows the grammar. Functions return a node's index, or -errno with err filled; where they are given a
 * negative index they return it.
 */
#ifndef CONF_EXPR_TREE_H
#define CONF_EXPR_TREE_H

#include "conf/expr/expr_lex.h"

struct ktr__tree {
	struct ktr__expr_lex lex;
	const struct ktr__expr_language *language;
	struct ktr__expr *expr;
	unsigned depth;
};

/* One comparison while it is being put together. */
struct ktr__tree_compare {
	unsigned code;   /* COMPARE, GLOB or REGEX */
	unsigned what;   /* accepted outcomes */
	unsigned column; /* of the sign */
	int right;       /* constant or other node */
};

/* ---- expr_tree.c ---- */

struct ktr__expr_node *ktr__tree_at(struct ktr__tree *p, int node);
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

/* ---- expr_name.c ---- */

/* Is the node the field of a name, to the right of which a bare word is a text? */
int ktr__tree_is_name(struct ktr__tree *p, int node);

/* A name's field against a text; left against c->right, whatever they are. */
int ktr__tree_name_test(struct ktr__tree *p, unsigned field, struct ktr__tree_compare c);
int ktr__tree_compare(struct ktr__tree *p, int left, const struct ktr__tree_compare *c);

#endif
