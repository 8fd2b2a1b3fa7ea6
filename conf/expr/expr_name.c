/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparisons. With names they are put together from what the user's table says of the field: a place
 * becomes a condition over file and line, a set a look at bits, a name several alternatives.
 */
#include "conf/expr/expr_name.h"

#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"
#include "conf/expr/expr_tree.h"
#include "conf/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Text against the field, and against those it stands for as well. */
static int expr_name_either(struct ktr__tree *p, unsigned field, const struct ktr__tree_compare *c)
{
	const struct ktr__expr_field *fields = p->language->fields;
	int all = -1;

	for (; field; field = fields[field].either) {
		unsigned path = fields[field].type == KTR__EXPR_T_PATH ? KTR__EXPR_PATH : 0;
		int one = ktr__tree_test(p, c->code, c->what | path, c->column,
					 ktr__tree_field(p, field, c->column), c->right);

		if (one < 0)
			return one;
		all = all < 0 ? one : ktr__tree_pair(p, KTR__EXPR_N_OR, c->column, all, one);
	}
	if (all < 0)
		return ktr__expr_wrong(&p->lex, c->column, "this cannot be compared with a text");
	return all;
}

/* "FILE:N": the length of FILE, with *line set; 0 where it is something else. */
static size_t expr_name_place(const char *text, size_t length, uint64_t *line)
{
	size_t n = length;

	while (n && ktr__is_digit(text[n - 1]))
		n--;
	if (n == length || n < 2 || text[n - 1] != ':')
		return 0;
	*line = strtoull(text + n, NULL, 10);
	return n - 1;
}

static int expr_name_place_test(struct ktr__tree *p, unsigned field,
				const struct ktr__tree_compare *c)
{
	const struct ktr__expr_field *f = &p->language->fields[field];
	struct ktr__expr_value value = ktr__tree_at(p, c->right)->value;
	unsigned column = ktr__tree_at(p, c->right)->column;
	struct ktr__tree_compare part = *c;
	uint64_t line = 0;
	size_t n = c->code == KTR__EXPR_REGEX ? 0
					      : expr_name_place(value.text, value.length, &line);
	int file, test;

	if (c->code == KTR__EXPR_COMPARE && value.length && value.length < 11 &&
	    strspn(value.text, "0123456789") == value.length)
		return ktr__tree_test(p, c->code, c->what, c->column,
				      ktr__tree_field(p, f->number, c->column),
				      ktr__tree_number(p, strtoull(value.text, NULL, 10), column));
	if (!n)
		return expr_name_either(p, f->either, c);
	value.length = (uint32_t)n;
	part.right = ktr__tree_constant(p, &value, column);
	file = part.right < 0 ? part.right : expr_name_either(p, f->file, &part);
	test = ktr__tree_test(p, KTR__EXPR_COMPARE, KTR__EXPR_EQUAL, c->column,
			      ktr__tree_field(p, f->line, c->column),
			      ktr__tree_number(p, line, column));
	return ktr__tree_pair(p, KTR__EXPR_N_AND, c->column, file, test);
}

/*
 * What the user reads the text as: a set of bits, or a number. 1 with *value, 0 where texts are texts,
 * or -errno.
 */
static int expr_name_users(struct ktr__tree *p, unsigned field, int right, uint64_t *value)
{
	const struct ktr__expr_node *text = ktr__tree_at(p, right);
	struct ktr_error err = KTR_ERROR_NONE;
	int rc = -ENOTSUP;

	if (p->language->constant)
		rc = p->language->constant(p->language->context, field, text->value.text, value,
					   &err);
	if (rc == -ENOTSUP || rc == -EAGAIN)
		return 0;
	return rc ? ktr__expr_wrong(&p->lex, text->column + (err.column ? err.column - 1 : 0), "%s",
				    err.text)
		  : 1;
}

static int expr_name_set_test(struct ktr__tree *p, unsigned field,
			      const struct ktr__tree_compare *c)
{
	const struct ktr__expr_field *f = &p->language->fields[field];
	unsigned column = ktr__tree_at(p, c->right)->column;
	uint64_t bits = 0;
	int users = c->code == KTR__EXPR_COMPARE ? expr_name_users(p, field, c->right, &bits) : 0,
	    set;

	if (users < 0)
		return users;
	if (!users)
		return expr_name_either(p, f->either, c);
	set = ktr__tree_field(p, field, c->column);
	if (set >= 0)
		ktr__tree_at(p, set)->type = KTR__EXPR_T_NUMBER;
	set = ktr__tree_arith(p, KTR__EXPR_AND, c->column, set, ktr__tree_number(p, bits, column));
	return ktr__tree_test(p, KTR__EXPR_COMPARE, KTR__EXPR_OUTCOMES ^ KTR__EXPR_EQUAL, c->column,
			      set, ktr__tree_number(p, 0, column));
}

/* A condition that has just been put together says which name it is about. */
static int expr_name_named(struct ktr__tree *p, unsigned field, int node, int text)
{
	if (node >= 0) {
		ktr__tree_at(p, node)->named = (uint16_t)(field + 1);
		ktr__tree_at(p, node)->value = ktr__tree_at(p, text)->value;
		ktr__tree_at(p, node)->column = ktr__tree_at(p, text)->column;
	}
	return node;
}

/* A name's field against a text. "Is not" is the negation of "is", so that alternatives stay so. */
int ktr__tree_name_test(struct ktr__tree *p, unsigned field, struct ktr__tree_compare c)
{
	const struct ktr__expr_field *f = &p->language->fields[field];
	int negated = c.what == (KTR__EXPR_OUTCOMES ^ KTR__EXPR_EQUAL), text = c.right, node;

	if (negated)
		c.what = KTR__EXPR_EQUAL;
	if (f->type != KTR__EXPR_T_TEXT && f->type != KTR__EXPR_T_PATH && c.what != KTR__EXPR_EQUAL)
		return ktr__expr_wrong(&p->lex, c.column,
				       "%s is only compared by ==, != and patterns", f->name);
	if (f->type == KTR__EXPR_T_SET)
		node = expr_name_set_test(p, field, &c);
	else if (f->type == KTR__EXPR_T_PLACE)
		node = expr_name_place_test(p, field, &c);
	else
		node = expr_name_either(p, field, &c);
	if (c.what == KTR__EXPR_EQUAL)
		node = expr_name_named(p, field, node, text);
	return negated ? ktr__tree_not(p, c.column, node) : node;
}

int ktr__tree_is_name(struct ktr__tree *p, int node)
{
	const struct ktr__expr_node *n = ktr__tree_at(p, node);

	return n->kind == KTR__EXPR_N_FIELD && n->type != KTR__EXPR_T_NUMBER;
}

/* Two values of which neither is a name's field against a text. */
static int expr_name_values_test(struct ktr__tree *p, int left, const struct ktr__tree_compare *c)
{
	const struct ktr__expr_node *l = ktr__tree_at(p, left), *r = ktr__tree_at(p, c->right);
	int right = c->right, users;
	uint64_t number = 0;

	if (ktr__tree_is_condition(p, left) || ktr__tree_is_condition(p, right))
		return ktr__expr_wrong(&p->lex, c->column,
				       "a condition is not compared: put \"and\" or \"or\" here");
	if (l->type >= KTR__EXPR_T_SET && l->type <= KTR__EXPR_T_PLACE)
		return ktr__expr_wrong(&p->lex, r->column, "%s is compared with a name",
				       p->language->fields[l->field].name);
	if (r->type >= KTR__EXPR_T_SET && r->type <= KTR__EXPR_T_PLACE)
		return ktr__expr_wrong(&p->lex, r->column,
				       "%s stands on the left, and a name on the right",
				       p->language->fields[r->field].name);
	if (l->kind == KTR__EXPR_N_FIELD && r->kind == KTR__EXPR_N_TEXT) {
		users = expr_name_users(p, l->field, right, &number);
		if (users < 0)
			return users;
		if (users)
			right = ktr__tree_number(p, number, r->column);
	} else if (l->type != KTR__EXPR_T_ANY && r->type != KTR__EXPR_T_ANY &&
		   (l->type == KTR__EXPR_T_NUMBER) != (r->type == KTR__EXPR_T_NUMBER)) {
		return ktr__expr_wrong(&p->lex, r->column, "a number is compared with a text");
	}
	if (right >= 0 && l->type == KTR__EXPR_T_NUMBER &&
	    ktr__tree_at(p, right)->kind == KTR__EXPR_N_TEXT)
		return ktr__expr_wrong(&p->lex, r->column, "a number is compared with a text");
	return ktr__tree_test(p, c->code, c->what, c->column, left, right);
}

int ktr__tree_compare(struct ktr__tree *p, int left, const struct ktr__tree_compare *c)
{
	if (left < 0 || c->right < 0)
		return left < 0 ? left : c->right;
	if (ktr__tree_is_name(p, left) && ktr__tree_at(p, c->right)->kind == KTR__EXPR_N_TEXT)
		return ktr__tree_name_test(p, ktr__tree_at(p, left)->field, *c);
	return expr_name_values_test(p, left, c);
}
