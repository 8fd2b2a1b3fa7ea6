/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of an expression's tree: which operands suit which sign. */
#include "conf/expr/expr_tree.h"

#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"

#include <errno.h>
#include <string.h>

struct ktr__expr_node *ktr__tree_at(struct ktr__tree *p, int node)
{
	return &p->expr->node[node];
}

int ktr__tree_is_condition(struct ktr__tree *p, int node)
{
	return ktr__tree_at(p, node)->kind >= KTR__EXPR_N_TEST;
}

int ktr__tree_node(struct ktr__tree *p, enum ktr__expr_node_kind kind, unsigned column)
{
	struct ktr__expr_node *node = &p->expr->node[p->expr->n_nodes];

	if (p->expr->n_nodes == KTR__EXPR_NODES_MAX)
		return ktr_error_at(p->lex.err, NULL, 0, column, E2BIG,
				    "the expression is too long: more than %d operands and signs",
				    KTR__EXPR_NODES_MAX);
	*node = (struct ktr__expr_node){ .kind = (uint8_t)kind, .column = column };
	return (int)p->expr->n_nodes++;
}

int ktr__tree_pair(struct ktr__tree *p, enum ktr__expr_node_kind kind, unsigned column, int left,
		   int right)
{
	int node = left < 0 ? left : right < 0 ? right : ktr__tree_node(p, kind, column);

	if (node >= 0) {
		ktr__tree_at(p, node)->left = (uint16_t)left;
		ktr__tree_at(p, node)->right = (uint16_t)right;
	}
	return node;
}

int ktr__tree_constant(struct ktr__tree *p, const struct ktr__expr_value *value, unsigned column)
{
	int node = ktr__tree_node(
		p, value->kind == KTR__EXPR_TEXT ? KTR__EXPR_N_TEXT : KTR__EXPR_N_NUMBER, column);

	if (node >= 0) {
		ktr__tree_at(p, node)->value = *value;
		ktr__tree_at(p, node)->type = value->kind == KTR__EXPR_TEXT ? KTR__EXPR_T_TEXT
									    : KTR__EXPR_T_NUMBER;
	}
	return node;
}

int ktr__tree_number(struct ktr__tree *p, uint64_t number, unsigned column)
{
	struct ktr__expr_value value = ktr__expr_unsigned(number);

	return ktr__tree_constant(p, &value, column);
}

int ktr__tree_field(struct ktr__tree *p, unsigned field, unsigned column)
{
	int node = ktr__tree_node(p, KTR__EXPR_N_FIELD, column);

	if (node >= 0) {
		ktr__tree_at(p, node)->field = (uint16_t)field;
		ktr__tree_at(p, node)->type = p->language->fields[field].type;
	}
	return node;
}

int ktr__tree_arith(struct ktr__tree *p, unsigned code, unsigned column, int left, int right)
{
	int node = ktr__tree_pair(p, KTR__EXPR_N_ARITH, column, left, right);
	const int sides[2] = { left, right };

	for (int i = 0; i < 2 && node >= 0; i++) {
		const struct ktr__expr_node *side = ktr__tree_at(p, sides[i]);

		if (ktr__tree_is_condition(p, sides[i]))
			return ktr__expr_wrong(&p->lex, column,
					       "this computes with a condition; "
					       "comparisons bind looser than arithmetic");
		if (side->type != KTR__EXPR_T_NUMBER && side->type != KTR__EXPR_T_ANY)
			return ktr__expr_wrong(&p->lex, side->column, "a text is not a number");
	}
	if (node >= 0)
		ktr__tree_at(p, node)->code = (uint8_t)code;
	return node;
}

int ktr__tree_test(struct ktr__tree *p, unsigned code, unsigned what, unsigned column, int left,
		   int right)
{
	int node = ktr__tree_pair(p, KTR__EXPR_N_TEST, column, left, right);

	if (node >= 0) {
		ktr__tree_at(p, node)->code = (uint8_t)code;
		ktr__tree_at(p, node)->what = (uint8_t)what;
	}
	return node;
}

/* A node as a condition: a number is one that is not 0. */
int ktr__tree_condition(struct ktr__tree *p, int node)
{
	const struct ktr__expr_node *n = node < 0 ? NULL : ktr__tree_at(p, node);

	if (!n || ktr__tree_is_condition(p, node))
		return node;
	if (n->type != KTR__EXPR_T_NUMBER && n->type != KTR__EXPR_T_ANY)
		return ktr__expr_wrong(&p->lex, n->column,
				       "a name alone is no condition: compare it with something");
	return ktr__tree_test(p, KTR__EXPR_COMPARE, KTR__EXPR_OUTCOMES ^ KTR__EXPR_EQUAL, n->column,
			      node, ktr__tree_number(p, 0, n->column));
}

int ktr__tree_joined(struct ktr__tree *p, enum ktr__expr_node_kind kind, unsigned column, int left,
		     int right)
{
	left = ktr__tree_condition(p, left);
	return ktr__tree_pair(p, kind, column, left,
			      left < 0 ? left : ktr__tree_condition(p, right));
}

int ktr__tree_not(struct ktr__tree *p, unsigned column, int node)
{
	node = ktr__tree_condition(p, node);
	return ktr__tree_pair(p, KTR__EXPR_N_NOT, column, node, node);
}
