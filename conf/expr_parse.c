/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads an expression into a tree, by precedence climbing. Loosest first: or, and, not, comparisons,
 * |, ^, &, << >>, + -, * / %, unary - and ~. A value where a condition is meant is compared with 0; a
 * condition is no value.
 *
 * Comparisons with names are put together here from what the user's table says of the field: a place
 * becomes a condition over file and line, a list becomes alternatives.
 */
#include "conf/expr_lex.h"

#include "conf/value.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Nested parentheses, nots and minus signs. Each level takes some 200 bytes of stack. */
#define EXPR_PARSE_DEPTH_MAX 64

/* [patterns] in one expression. */
#define EXPR_PARSE_REGEX_MAX 64

enum expr_parse_level {
	EXPR_PARSE_OR = 1,
	EXPR_PARSE_AND,
	EXPR_PARSE_NOT,
	EXPR_PARSE_COMPARE,
	EXPR_PARSE_VALUE, /* what a comparison compares: | and tighter */
	EXPR_PARSE_UNARY = EXPR_PARSE_VALUE + 6
};

struct expr_parse {
	struct ktr__expr_lex lex;
	const struct ktr__expr_language *language;
	struct ktr__expr *expr;
	unsigned depth;
};

/* Functions below return a node's index, or -errno with err filled. */

static int expr_parse_tree(struct expr_parse *p, unsigned level);

static struct ktr__expr_node *expr_parse_at(struct expr_parse *p, int node)
{
	return &p->expr->node[node];
}

static int expr_parse_is_condition(struct expr_parse *p, int node)
{
	return expr_parse_at(p, node)->kind >= KTR__EXPR_N_TEST;
}

static int expr_parse_node(struct expr_parse *p, enum ktr__expr_node_kind kind, unsigned column)
{
	struct ktr__expr_node *node = &p->expr->node[p->expr->n_nodes];

	if (p->expr->n_nodes == KTR__EXPR_NODES_MAX)
		return ktr_error_at(p->lex.err, NULL, 0, column, E2BIG,
				    "the expression is too long: more than %d operands and signs",
				    KTR__EXPR_NODES_MAX);
	*node = (struct ktr__expr_node){ .kind = (uint8_t)kind, .column = column };
	return (int)p->expr->n_nodes++;
}

static int expr_parse_pair(struct expr_parse *p, enum ktr__expr_node_kind kind, unsigned column,
			   int left, int right)
{
	int node = left < 0 ? left : right < 0 ? right : expr_parse_node(p, kind, column);

	if (node >= 0) {
		expr_parse_at(p, node)->left = (uint16_t)left;
		expr_parse_at(p, node)->right = (uint16_t)right;
	}
	return node;
}

static int expr_parse_constant(struct expr_parse *p, const struct ktr__expr_value *value,
			       unsigned column)
{
	int node = expr_parse_node(
		p, value->kind == KTR__EXPR_TEXT ? KTR__EXPR_N_TEXT : KTR__EXPR_N_NUMBER, column);

	if (node >= 0) {
		expr_parse_at(p, node)->value = *value;
		expr_parse_at(p, node)->type = value->kind == KTR__EXPR_TEXT ? KTR__EXPR_T_TEXT
									     : KTR__EXPR_T_NUMBER;
	}
	return node;
}

static int expr_parse_number(struct expr_parse *p, uint64_t number, unsigned column)
{
	struct ktr__expr_value value = ktr__expr_unsigned(number);

	return expr_parse_constant(p, &value, column);
}

static int expr_parse_field(struct expr_parse *p, unsigned field, unsigned column)
{
	int node = expr_parse_node(p, KTR__EXPR_N_FIELD, column);

	if (node >= 0) {
		expr_parse_at(p, node)->field = (uint16_t)field;
		expr_parse_at(p, node)->type = p->language->fields[field].type;
	}
	return node;
}

static int expr_parse_arith(struct expr_parse *p, unsigned code, unsigned column, int left,
			    int right)
{
	int node = expr_parse_pair(p, KTR__EXPR_N_ARITH, column, left, right);
	const int sides[2] = { left, right };

	for (int i = 0; i < 2 && node >= 0; i++) {
		const struct ktr__expr_node *side = expr_parse_at(p, sides[i]);

		if (expr_parse_is_condition(p, sides[i]))
			return ktr__expr_wrong(&p->lex, column,
					       "this computes with a condition; "
					       "comparisons bind looser than arithmetic");
		if (side->type != KTR__EXPR_T_NUMBER && side->type != KTR__EXPR_T_ANY)
			return ktr__expr_wrong(&p->lex, side->column, "a text is not a number");
	}
	if (node >= 0)
		expr_parse_at(p, node)->code = (uint8_t)code;
	return node;
}

static int expr_parse_test(struct expr_parse *p, unsigned code, unsigned what, unsigned column,
			   int left, int right)
{
	int node = expr_parse_pair(p, KTR__EXPR_N_TEST, column, left, right);

	if (node >= 0) {
		expr_parse_at(p, node)->code = (uint8_t)code;
		expr_parse_at(p, node)->what = (uint8_t)what;
	}
	return node;
}

/* A node as a condition: a number is one that is not 0. */
static int expr_parse_condition(struct expr_parse *p, int node)
{
	const struct ktr__expr_node *n = node < 0 ? NULL : expr_parse_at(p, node);

	if (!n || expr_parse_is_condition(p, node))
		return node;
	if (n->type != KTR__EXPR_T_NUMBER && n->type != KTR__EXPR_T_ANY)
		return ktr__expr_wrong(&p->lex, n->column,
				       "a name alone is no condition: compare it with something");
	return expr_parse_test(p, KTR__EXPR_COMPARE, KTR__EXPR_OUTCOMES ^ KTR__EXPR_EQUAL,
			       n->column, node, expr_parse_number(p, 0, n->column));
}

static int expr_parse_joined(struct expr_parse *p, enum ktr__expr_node_kind kind, unsigned column,
			     int left, int right)
{
	left = expr_parse_condition(p, left);
	return expr_parse_pair(p, kind, column, left,
			       left < 0 ? left : expr_parse_condition(p, right));
}

static int expr_parse_not(struct expr_parse *p, unsigned column, int node)
{
	node = expr_parse_condition(p, node);
	return expr_parse_pair(p, KTR__EXPR_N_NOT, column, node, node);
}

/* ---- comparisons with names ---- */

/* One comparison while it is being put together. */
struct expr_parse_compare {
	unsigned code;   /* COMPARE, GLOB or REGEX */
	unsigned what;   /* accepted outcomes */
	unsigned column; /* of the sign */
	int right;       /* constant or other node */
};

/* Text against the field, and against those it stands for as well. */
static int expr_parse_either(struct expr_parse *p, unsigned field,
			     const struct expr_parse_compare *c)
{
	const struct ktr__expr_field *fields = p->language->fields;
	int all = -1;

	for (; field; field = fields[field].either) {
		unsigned path = fields[field].type == KTR__EXPR_T_PATH ? KTR__EXPR_PATH : 0;
		int one = expr_parse_test(p, c->code, c->what | path, c->column,
					  expr_parse_field(p, field, c->column), c->right);

		if (one < 0)
			return one;
		all = all < 0 ? one : expr_parse_pair(p, KTR__EXPR_N_OR, c->column, all, one);
	}
	if (all < 0)
		return ktr__expr_wrong(&p->lex, c->column, "this cannot be compared with a text");
	return all;
}

/* "FILE:N": the length of FILE, with *line set; 0 where it is something else. */
static size_t expr_parse_place(const char *text, size_t length, uint64_t *line)
{
	size_t n = length;

	while (n && ktr__is_digit(text[n - 1]))
		n--;
	if (n == length || n < 2 || text[n - 1] != ':')
		return 0;
	*line = strtoull(text + n, NULL, 10);
	return n - 1;
}

static int expr_parse_place_test(struct expr_parse *p, unsigned field,
				 const struct expr_parse_compare *c)
{
	const struct ktr__expr_field *f = &p->language->fields[field];
	struct ktr__expr_value value = expr_parse_at(p, c->right)->value;
	unsigned column = expr_parse_at(p, c->right)->column;
	struct expr_parse_compare part = *c;
	uint64_t line = 0;
	size_t n = c->code == KTR__EXPR_REGEX ? 0
					      : expr_parse_place(value.text, value.length, &line);
	int file, test;

	if (c->code == KTR__EXPR_COMPARE && value.length && value.length < 11 &&
	    strspn(value.text, "0123456789") == value.length)
		return expr_parse_test(
			p, c->code, c->what, c->column, expr_parse_field(p, f->number, c->column),
			expr_parse_number(p, strtoull(value.text, NULL, 10), column));
	if (!n)
		return expr_parse_either(p, f->either, c);
	value.length = (uint32_t)n;
	part.right = expr_parse_constant(p, &value, column);
	file = part.right < 0 ? part.right : expr_parse_either(p, f->file, &part);
	test = expr_parse_test(p, KTR__EXPR_COMPARE, KTR__EXPR_EQUAL, c->column,
			       expr_parse_field(p, f->line, c->column),
			       expr_parse_number(p, line, column));
	return expr_parse_pair(p, KTR__EXPR_N_AND, c->column, file, test);
}

/*
 * What the user reads the text as: a set of bits, or a number. 1 with *value, 0 where texts are texts,
 * or -errno.
 */
static int expr_parse_users(struct expr_parse *p, unsigned field, int right, uint64_t *value)
{
	const struct ktr__expr_node *text = expr_parse_at(p, right);
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

static int expr_parse_set_test(struct expr_parse *p, unsigned field,
			       const struct expr_parse_compare *c)
{
	const struct ktr__expr_field *f = &p->language->fields[field];
	unsigned column = expr_parse_at(p, c->right)->column;
	uint64_t bits = 0;
	int users = c->code == KTR__EXPR_COMPARE ? expr_parse_users(p, field, c->right, &bits) : 0,
	    set;

	if (users < 0)
		return users;
	if (!users)
		return expr_parse_either(p, f->either, c);
	set = expr_parse_field(p, field, c->column);
	if (set >= 0)
		expr_parse_at(p, set)->type = KTR__EXPR_T_NUMBER;
	set = expr_parse_arith(p, KTR__EXPR_AND, c->column, set,
			       expr_parse_number(p, bits, column));
	return expr_parse_test(p, KTR__EXPR_COMPARE, KTR__EXPR_OUTCOMES ^ KTR__EXPR_EQUAL,
			       c->column, set, expr_parse_number(p, 0, column));
}

/* A condition that has just been put together says which name it is about. */
static int expr_parse_named(struct expr_parse *p, unsigned field, int node, int text)
{
	if (node >= 0) {
		expr_parse_at(p, node)->named = (uint16_t)(field + 1);
		expr_parse_at(p, node)->value = expr_parse_at(p, text)->value;
		expr_parse_at(p, node)->column = expr_parse_at(p, text)->column;
	}
	return node;
}

/* A name's field against a text. "Is not" is the negation of "is", so that alternatives stay so. */
static int expr_parse_name_test(struct expr_parse *p, unsigned field, struct expr_parse_compare c)
{
	const struct ktr__expr_field *f = &p->language->fields[field];
	int negated = c.what == (KTR__EXPR_OUTCOMES ^ KTR__EXPR_EQUAL), text = c.right, node;

	if (negated)
		c.what = KTR__EXPR_EQUAL;
	if (f->type != KTR__EXPR_T_TEXT && f->type != KTR__EXPR_T_PATH && c.what != KTR__EXPR_EQUAL)
		return ktr__expr_wrong(&p->lex, c.column,
				       "%s is only compared by ==, != and patterns", f->name);
	if (f->type == KTR__EXPR_T_SET)
		node = expr_parse_set_test(p, field, &c);
	else if (f->type == KTR__EXPR_T_PLACE)
		node = expr_parse_place_test(p, field, &c);
	else
		node = expr_parse_either(p, field, &c);
	if (c.what == KTR__EXPR_EQUAL)
		node = expr_parse_named(p, field, node, text);
	return negated ? expr_parse_not(p, c.column, node) : node;
}

static int expr_parse_is_name(struct expr_parse *p, int node)
{
	const struct ktr__expr_node *n = expr_parse_at(p, node);

	return n->kind == KTR__EXPR_N_FIELD && n->type != KTR__EXPR_T_NUMBER;
}

/* Two values of which neither is a name's field against a text. */
static int expr_parse_values_test(struct expr_parse *p, int left,
				  const struct expr_parse_compare *c)
{
	const struct ktr__expr_node *l = expr_parse_at(p, left), *r = expr_parse_at(p, c->right);
	int right = c->right, users;
	uint64_t number = 0;

	if (expr_parse_is_condition(p, left) || expr_parse_is_condition(p, right))
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
		users = expr_parse_users(p, l->field, right, &number);
		if (users < 0)
			return users;
		if (users)
			right = expr_parse_number(p, number, r->column);
	} else if (l->type != KTR__EXPR_T_ANY && r->type != KTR__EXPR_T_ANY &&
		   (l->type == KTR__EXPR_T_NUMBER) != (r->type == KTR__EXPR_T_NUMBER)) {
		return ktr__expr_wrong(&p->lex, r->column, "a number is compared with a text");
	}
	if (right >= 0 && l->type == KTR__EXPR_T_NUMBER &&
	    expr_parse_at(p, right)->kind == KTR__EXPR_N_TEXT)
		return ktr__expr_wrong(&p->lex, r->column, "a number is compared with a text");
	return expr_parse_test(p, c->code, c->what, c->column, left, right);
}

static int expr_parse_any_test(struct expr_parse *p, int left, const struct expr_parse_compare *c)
{
	if (left < 0 || c->right < 0)
		return left < 0 ? left : c->right;
	if (expr_parse_is_name(p, left) && expr_parse_at(p, c->right)->kind == KTR__EXPR_N_TEXT)
		return expr_parse_name_test(p, expr_parse_at(p, left)->field, *c);
	return expr_parse_values_test(p, left, c);
}

/* ---- patterns, lists ---- */

static int expr_parse_regex(struct expr_parse *p)
{
	struct ktr__expr *expr = p->expr;
	int flags = REG_EXTENDED | REG_NOSUB | (p->lex.no_case ? REG_ICASE : 0), code;
	char why[128];
	regex_t *grown;

	if (expr->n_regex == EXPR_PARSE_REGEX_MAX)
		return ktr__expr_wrong(&p->lex, p->lex.column, "more than %d regular expressions",
				       EXPR_PARSE_REGEX_MAX);
	grown = realloc(expr->regex, (expr->n_regex + 1) * sizeof(*grown));
	if (!grown)
		return ktr_error_at(p->lex.err, NULL, 0, p->lex.column, ENOMEM, "no memory");
	expr->regex = grown;
	code = regcomp(&grown[expr->n_regex], p->lex.value.text, flags);
	if (code) {
		regerror(code, NULL, why, sizeof(why));
		return ktr__expr_wrong(&p->lex, p->lex.column,
				       "this regular expression is not one: %s", why);
	}
	return expr_parse_number(p, expr->n_regex++, p->lex.column);
}

/* Behind ~, =~ and !~: the pattern. */
static int expr_parse_match(struct expr_parse *p, int left, int unlike)
{
	struct expr_parse_compare c = { .code = KTR__EXPR_GLOB,
					.what = KTR__EXPR_EQUAL,
					.column = p->lex.column };
	const struct ktr__expr_node *l = expr_parse_at(p, left);
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_PATTERN), node;

	if (rc)
		return rc;
	if (expr_parse_is_condition(p, left) || (l->type == KTR__EXPR_T_NUMBER))
		return ktr__expr_wrong(&p->lex, c.column, "only texts match patterns");
	if (p->lex.token == KTR__EXPR_TOK_REGEX) {
		c.code = KTR__EXPR_REGEX;
		c.right = expr_parse_regex(p);
	} else if (p->lex.token == KTR__EXPR_TOK_TEXT) {
		c.right = expr_parse_constant(p, &p->lex.value, p->lex.column);
	} else {
		return ktr__expr_wrong(&p->lex, p->lex.column,
				       "a pattern is missing: \"io_*\" or /^io_/");
	}
	if (c.right < 0)
		return c.right;
	/* For the name's sake: what a pattern looked like. */
	expr_parse_at(p, c.right)->value.text = p->lex.value.text;
	expr_parse_at(p, c.right)->value.length = p->lex.value.length;
	node = expr_parse_is_name(p, left)
		       ? expr_parse_name_test(p, l->field, c)
		       : expr_parse_test(p, c.code, c.what, c.column, left, c.right);
	rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	return rc ? rc : unlike ? expr_parse_not(p, c.column, node) : node;
}

/* One item of a list: a value, or FROM..TO. */
static int expr_parse_item(struct expr_parse *p, int left, unsigned column)
{
	struct expr_parse_compare c = { .code = KTR__EXPR_COMPARE,
					.what = KTR__EXPR_EQUAL,
					.column = column };
	int from, rc;

	c.right = expr_parse_tree(p, EXPR_PARSE_VALUE);
	if (c.right < 0 || p->lex.token != KTR__EXPR_TOK_RANGE)
		return expr_parse_any_test(p, left, &c);
	c.what = KTR__EXPR_GREATER | KTR__EXPR_EQUAL;
	from = expr_parse_any_test(p, left, &c);
	rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	if (rc || from < 0)
		return rc ? rc : from;
	c.right = expr_parse_tree(p, EXPR_PARSE_VALUE);
	c.what = KTR__EXPR_LESS | KTR__EXPR_EQUAL;
	return expr_parse_pair(p, KTR__EXPR_N_AND, column, from, expr_parse_any_test(p, left, &c));
}

/* Behind "in". */
static int expr_parse_in(struct expr_parse *p, int left)
{
	unsigned column = p->lex.column;
	enum ktr__expr_lex_mode mode = expr_parse_is_name(p, left) ? KTR__EXPR_LEX_WORD
								   : KTR__EXPR_LEX_VALUE;
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), all = -1;

	if (!rc && p->lex.token != KTR__EXPR_TOK_OPEN)
		return ktr__expr_wrong(&p->lex, p->lex.column, "a list is missing: in (A, B)");
	while (!rc) {
		int one;

		rc = ktr__expr_next(&p->lex, mode);
		if (rc)
			return rc;
		one = expr_parse_item(p, left, column);
		all = all < 0 || one < 0 ? one
					 : expr_parse_pair(p, KTR__EXPR_N_OR, column, all, one);
		if (all < 0)
			return all;
		if (p->lex.token == KTR__EXPR_TOK_CLOSE)
			break;
		if (p->lex.token != KTR__EXPR_TOK_COMMA)
			return ktr__expr_wrong(&p->lex, p->lex.column,
					       "a comma or ) is missing in this list");
	}
	rc = rc ? rc : ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	return rc ? rc : all;
}

/* ---- values ---- */

/* arg("p->len") */
static int expr_parse_quoted_arg(struct expr_parse *p, unsigned column)
{
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), node;

	if (!rc && p->lex.token != KTR__EXPR_TOK_TEXT)
		return ktr__expr_wrong(&p->lex, p->lex.column,
				       "an argument's name in quotes is missing");
	if (rc)
		return rc;
	node = expr_parse_constant(p, &p->lex.value, column);
	if (node < 0)
		return node;
	expr_parse_at(p, node)->kind = KTR__EXPR_N_NAMED;
	expr_parse_at(p, node)->type = KTR__EXPR_T_ANY;
	rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	if (!rc && p->lex.token != KTR__EXPR_TOK_CLOSE)
		return ktr__expr_wrong(&p->lex, p->lex.column, "a ) is missing");
	rc = rc ? rc : ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	return rc ? rc : node;
}

/* arg0: its number, or n_args where it is not one. */
static unsigned expr_parse_arg_number(const struct expr_parse *p,
				      const struct ktr__expr_value *name)
{
	unsigned n = p->language->n_args;

	if (name->length != 4 || memcmp(name->text, "arg", 3) != 0 || !ktr__is_digit(name->text[3]))
		return n;
	return (unsigned)(name->text[3] - '0') < n ? (unsigned)(name->text[3] - '0') : n;
}

static int expr_parse_name(struct expr_parse *p)
{
	const struct ktr__expr_language *language = p->language;
	struct ktr__expr_value name = p->lex.value;
	unsigned column = p->lex.column, number = expr_parse_arg_number(p, &name);
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), node;

	if (rc)
		return rc;
	if (strcmp(name.text, "arg") == 0 && p->lex.token == KTR__EXPR_TOK_OPEN)
		return expr_parse_quoted_arg(p, column);
	if (strcmp(name.text, "true") == 0 || strcmp(name.text, "false") == 0)
		return expr_parse_number(p, name.text[0] == 't', column);
	for (unsigned i = 0; i < language->n_fields; i++)
		if (strcmp(language->fields[i].name, name.text) == 0)
			return expr_parse_field(p, i, column);
	node = expr_parse_constant(p, &name, column);
	if (node >= 0) {
		struct ktr__expr_node *n = expr_parse_at(p, node);

		n->kind = number < language->n_args ? KTR__EXPR_N_ARG : KTR__EXPR_N_NAMED;
		n->field = (uint16_t)number;
		n->type = KTR__EXPR_T_ANY;
	}
	return node;
}

static int expr_parse_parentheses(struct expr_parse *p)
{
	unsigned column = p->lex.column;
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), node;

	if (rc)
		return rc;
	node = expr_parse_tree(p, EXPR_PARSE_OR);
	if (node >= 0 && p->lex.token != KTR__EXPR_TOK_CLOSE) {
		if (p->lex.token == KTR__EXPR_TOK_END)
			return ktr__expr_wrong(&p->lex, column, "the ) to this ( is missing");
		return ktr__expr_wrong(&p->lex, p->lex.column,
				       "a ) or a sign between two operands is missing");
	}
	rc = node < 0 ? node : ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	return rc ? rc : node;
}

/* - and ~ before a value. */
static int expr_parse_sign(struct expr_parse *p)
{
	unsigned column = p->lex.column, minus = p->lex.token == KTR__EXPR_TOK_ARITH;
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), node, other;
	struct ktr__expr_value ones = { .bits = ~0ull, .kind = KTR__EXPR_INT };

	if (rc)
		return rc;
	node = expr_parse_tree(p, EXPR_PARSE_UNARY);
	if (node < 0)
		return node;
	if (!minus)
		other = expr_parse_constant(p, &ones, column);
	else
		other = expr_parse_number(p, 0, column);
	return expr_parse_arith(p, minus ? KTR__EXPR_SUB : KTR__EXPR_XOR, column, other, node);
}

static int expr_parse_operand(struct expr_parse *p)
{
	struct ktr__expr_lex *lex = &p->lex;
	unsigned column = lex->column;
	int node, rc;

	switch (lex->token) {
	case KTR__EXPR_TOK_NOT:
		rc = ktr__expr_next(lex, KTR__EXPR_LEX_VALUE);
		node = rc ? rc : expr_parse_tree(p, EXPR_PARSE_NOT);
		return node < 0 ? node : expr_parse_not(p, column, node);
	case KTR__EXPR_TOK_OPEN:
		return expr_parse_parentheses(p);
	case KTR__EXPR_TOK_NAME:
		return expr_parse_name(p);
	case KTR__EXPR_TOK_TEXT:
	case KTR__EXPR_TOK_NUMBER:
		node = expr_parse_constant(p, &lex->value, column);
		rc = node < 0 ? node : ktr__expr_next(lex, KTR__EXPR_LEX_VALUE);
		return rc ? rc : node;
	case KTR__EXPR_TOK_TILDE:
		return expr_parse_sign(p);
	case KTR__EXPR_TOK_ARITH:
		if (lex->what == KTR__EXPR_SUB)
			return expr_parse_sign(p);
		/* fall through */
	default:
		return ktr__expr_wrong(lex, column,
				       "a field, an argument or a value is missing here");
	}
}

/* How tightly the current word binds two operands; 0: it does not. */
static unsigned expr_parse_level_of(const struct ktr__expr_lex *lex)
{
	static const uint8_t arith[] = {
		4, 4, 5, 5, 5, 2, 0, 1, 3, 3
	}; /* ADD to SHR, above VALUE */

	switch (lex->token) {
	case KTR__EXPR_TOK_OR:
		return EXPR_PARSE_OR;
	case KTR__EXPR_TOK_AND:
		return EXPR_PARSE_AND;
	case KTR__EXPR_TOK_NOT: /* not in */
	case KTR__EXPR_TOK_IN:
	case KTR__EXPR_TOK_TILDE:
	case KTR__EXPR_TOK_UNLIKE:
	case KTR__EXPR_TOK_COMPARE:
		return EXPR_PARSE_COMPARE;
	case KTR__EXPR_TOK_ARITH:
		return EXPR_PARSE_VALUE + arith[lex->what - KTR__EXPR_ADD];
	default:
		return 0;
	}
}

/* The current word is a sign behind `left`: reads on to the end of its right side. */
static int expr_parse_infix(struct expr_parse *p, int left, unsigned level)
{
	struct ktr__expr_lex *lex = &p->lex;
	enum ktr__expr_token token = lex->token;
	struct expr_parse_compare c = { .code = KTR__EXPR_COMPARE,
					.what = lex->what,
					.column = lex->column };
	int rc;

	if (token == KTR__EXPR_TOK_TILDE || token == KTR__EXPR_TOK_UNLIKE)
		return expr_parse_match(p, left, token == KTR__EXPR_TOK_UNLIKE);
	if (token == KTR__EXPR_TOK_IN)
		return expr_parse_in(p, left);
	if (token == KTR__EXPR_TOK_NOT) {
		rc = ktr__expr_next(lex, KTR__EXPR_LEX_VALUE);
		if (!rc && lex->token != KTR__EXPR_TOK_IN)
			return ktr__expr_wrong(lex, c.column, "\"and\" or \"or\" is missing here");
		rc = rc ? rc : expr_parse_in(p, left);
		return rc < 0 ? rc : expr_parse_not(p, c.column, rc);
	}
	rc = ktr__expr_next(lex, token == KTR__EXPR_TOK_COMPARE && expr_parse_is_name(p, left)
					 ? KTR__EXPR_LEX_WORD
					 : KTR__EXPR_LEX_VALUE);
	if (rc)
		return rc;
	c.right = expr_parse_tree(p, level + 1);
	if (c.right < 0)
		return c.right;
	if (token == KTR__EXPR_TOK_COMPARE)
		return expr_parse_any_test(p, left, &c);
	if (token == KTR__EXPR_TOK_ARITH)
		return expr_parse_arith(p, c.what, c.column, left, c.right);
	return expr_parse_joined(p, token == KTR__EXPR_TOK_AND ? KTR__EXPR_N_AND : KTR__EXPR_N_OR,
				 c.column, left, c.right);
}

/* An operand and all that binds to it at least as tightly as level. */
static int expr_parse_tree(struct expr_parse *p, unsigned level)
{
	unsigned found;
	int node;

	if (p->depth == EXPR_PARSE_DEPTH_MAX)
		return ktr__expr_wrong(&p->lex, p->lex.column, "nested more than %d deep",
				       EXPR_PARSE_DEPTH_MAX);
	p->depth++;
	node = expr_parse_operand(p);
	while (node >= 0 && (found = expr_parse_level_of(&p->lex)) >= level && found)
		node = expr_parse_infix(p, node, found);
	p->depth--;
	return node;
}

static int expr_parse_whole(struct expr_parse *p)
{
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), node;

	if (!rc && p->lex.token == KTR__EXPR_TOK_END)
		return ktr__expr_wrong(&p->lex, 1, "the expression is empty");
	node = rc ? rc : expr_parse_condition(p, expr_parse_tree(p, EXPR_PARSE_OR));
	if (node < 0)
		return node;
	if (p->lex.token != KTR__EXPR_TOK_END)
		return ktr__expr_wrong(&p->lex, p->lex.column,
				       p->lex.token == KTR__EXPR_TOK_CLOSE
					       ? "this ) closes nothing"
					       : "\"and\" or \"or\" is missing before this");
	p->expr->root = (unsigned)node;
	return 0;
}

int ktr__expr_parse(const char *text, const struct ktr__expr_language *language,
		    struct ktr__expr **out, struct ktr_error *err)
{
	struct ktr_error own = KTR_ERROR_NONE;
	struct expr_parse p = { .language = language };
	int rc = -ENOMEM;

	*out = NULL;
	p.lex = (struct ktr__expr_lex){ .source = text, .at = text, .err = err ? err : &own };
	p.expr = calloc(1, sizeof(*p.expr));
	if (p.expr) {
		/* Each word, and the NUL behind it. */
		p.expr->texts = malloc(2 * strlen(text) + 2);
		p.lex.expr = p.expr;
		if (p.expr->texts)
			rc = expr_parse_whole(&p);
	}
	if (rc) {
		ktr_error_set(err, -rc, "no memory");
		ktr__expr_free(p.expr);
		return rc;
	}
	*out = p.expr;
	return 0;
}

void ktr__expr_free(struct ktr__expr *expr)
{
	regex_t *regex = expr ? expr->regex : NULL;

	if (!expr)
		return;
	for (unsigned i = 0; i < expr->n_regex; i++)
		regfree(&regex[i]);
	free(expr->regex);
	free(expr->texts);
	free(expr);
}

int ktr__expr_regex(void *context, uint64_t index, const char *text, size_t length)
{
	const struct ktr__expr *expr = context;
	const regex_t *regex = expr->regex;
	regmatch_t match = { .rm_so = 0, .rm_eo = (regoff_t)length };

	return index < expr->n_regex && regexec(&regex[index], text, 1, &match, REG_STARTEND) == 0;
}
