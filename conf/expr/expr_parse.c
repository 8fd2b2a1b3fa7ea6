/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads an expression into a tree, by precedence climbing. Loosest first: or, and, not, comparisons,
 * |, ^, &, << >>, + -, * / %, unary - and ~. A value where a condition is meant is compared with 0; a
 * condition is no value.
 */
#include "conf/expr/expr_parse.h"

#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"
#include "conf/expr/expr_name.h"
#include "conf/expr/expr_tree.h"
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

static int expr_parse_tree(struct ktr__tree *p, unsigned level);

/* ---- patterns, lists ---- */

static int expr_parse_regex(struct ktr__tree *p)
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
	return ktr__tree_number(p, expr->n_regex++, p->lex.column);
}

/* Behind ~, =~ and !~: the pattern. */
static int expr_parse_match(struct ktr__tree *p, int left, int unlike)
{
	struct ktr__tree_compare c = { .code = KTR__EXPR_GLOB,
				       .what = KTR__EXPR_EQUAL,
				       .column = p->lex.column };
	const struct ktr__expr_node *l = ktr__tree_at(p, left);
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_PATTERN), node;

	if (rc)
		return rc;
	if (ktr__tree_is_condition(p, left) || (l->type == KTR__EXPR_T_NUMBER))
		return ktr__expr_wrong(&p->lex, c.column, "only texts match patterns");
	if (p->lex.token == KTR__EXPR_TOK_REGEX) {
		c.code = KTR__EXPR_REGEX;
		c.right = expr_parse_regex(p);
	} else if (p->lex.token == KTR__EXPR_TOK_TEXT) {
		c.right = ktr__tree_constant(p, &p->lex.value, p->lex.column);
	} else {
		return ktr__expr_wrong(&p->lex, p->lex.column,
				       "a pattern is missing: \"io_*\" or /^io_/");
	}
	if (c.right < 0)
		return c.right;
	/* For the name's sake: what a pattern looked like. */
	ktr__tree_at(p, c.right)->value.text = p->lex.value.text;
	ktr__tree_at(p, c.right)->value.length = p->lex.value.length;
	node = ktr__tree_is_name(p, left)
		       ? ktr__tree_name_test(p, l->field, c)
		       : ktr__tree_test(p, c.code, c.what, c.column, left, c.right);
	rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	return rc ? rc : unlike ? ktr__tree_not(p, c.column, node) : node;
}

/* One item of a list: a value, or FROM..TO. */
static int expr_parse_item(struct ktr__tree *p, int left, unsigned column)
{
	struct ktr__tree_compare c = { .code = KTR__EXPR_COMPARE,
				       .what = KTR__EXPR_EQUAL,
				       .column = column };
	int from, rc;

	c.right = expr_parse_tree(p, EXPR_PARSE_VALUE);
	if (c.right < 0 || p->lex.token != KTR__EXPR_TOK_RANGE)
		return ktr__tree_compare(p, left, &c);
	c.what = KTR__EXPR_GREATER | KTR__EXPR_EQUAL;
	from = ktr__tree_compare(p, left, &c);
	rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	if (rc || from < 0)
		return rc ? rc : from;
	c.right = expr_parse_tree(p, EXPR_PARSE_VALUE);
	c.what = KTR__EXPR_LESS | KTR__EXPR_EQUAL;
	return ktr__tree_pair(p, KTR__EXPR_N_AND, column, from, ktr__tree_compare(p, left, &c));
}

/* Behind "in". */
static int expr_parse_in(struct ktr__tree *p, int left)
{
	unsigned column = p->lex.column;
	enum ktr__expr_lex_mode mode = ktr__tree_is_name(p, left) ? KTR__EXPR_LEX_WORD
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
					 : ktr__tree_pair(p, KTR__EXPR_N_OR, column, all, one);
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
static int expr_parse_quoted_arg(struct ktr__tree *p, unsigned column)
{
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), node;

	if (!rc && p->lex.token != KTR__EXPR_TOK_TEXT)
		return ktr__expr_wrong(&p->lex, p->lex.column,
				       "an argument's name in quotes is missing");
	if (rc)
		return rc;
	node = ktr__tree_constant(p, &p->lex.value, column);
	if (node < 0)
		return node;
	ktr__tree_at(p, node)->kind = KTR__EXPR_N_NAMED;
	ktr__tree_at(p, node)->type = KTR__EXPR_T_ANY;
	rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	if (!rc && p->lex.token != KTR__EXPR_TOK_CLOSE)
		return ktr__expr_wrong(&p->lex, p->lex.column, "a ) is missing");
	rc = rc ? rc : ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	return rc ? rc : node;
}

/* arg0: its number, or n_args where it is not one. */
static unsigned expr_parse_arg_number(const struct ktr__tree *p, const struct ktr__expr_value *name)
{
	unsigned n = p->language->n_args;

	if (name->length != 4 || memcmp(name->text, "arg", 3) != 0 || !ktr__is_digit(name->text[3]))
		return n;
	return (unsigned)(name->text[3] - '0') < n ? (unsigned)(name->text[3] - '0') : n;
}

/* A field whose type is OF, and the name after it, which is the current word. */
static int expr_parse_of(struct ktr__tree *p, unsigned field, unsigned column)
{
	struct ktr__expr_value name = p->lex.value;
	int node = ktr__tree_field(p, field, column), rc;

	if (node < 0)
		return node;
	ktr__tree_at(p, node)->type = KTR__EXPR_T_NUMBER;
	ktr__tree_at(p, node)->value = name;
	ktr__tree_at(p, node)->column = p->lex.column;
	rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE);
	return rc ? rc : node;
}

static int expr_parse_name(struct ktr__tree *p)
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
		return ktr__tree_number(p, name.text[0] == 't', column);
	for (unsigned i = 0; i < language->n_fields; i++) {
		if (strcmp(language->fields[i].name, name.text) != 0)
			continue;
		if (language->fields[i].type != KTR__EXPR_T_OF)
			return ktr__tree_field(p, i, column);
		if (p->lex.token == KTR__EXPR_TOK_NAME || p->lex.token == KTR__EXPR_TOK_TEXT)
			return expr_parse_of(p, i, column);
	}
	node = ktr__tree_constant(p, &name, column);
	if (node >= 0) {
		struct ktr__expr_node *n = ktr__tree_at(p, node);

		n->kind = number < language->n_args ? KTR__EXPR_N_ARG : KTR__EXPR_N_NAMED;
		n->field = (uint16_t)number;
		n->type = KTR__EXPR_T_ANY;
	}
	return node;
}

static int expr_parse_parentheses(struct ktr__tree *p)
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
static int expr_parse_sign(struct ktr__tree *p)
{
	unsigned column = p->lex.column, minus = p->lex.token == KTR__EXPR_TOK_ARITH;
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), node, other;
	struct ktr__expr_value ones = { .bits = ~0ull, .kind = KTR__EXPR_INT };

	if (rc)
		return rc;
	/* -2^63 is a number, though 2^63 is one of the unsigned. */
	if (minus && p->lex.token == KTR__EXPR_TOK_NUMBER && p->lex.value.kind == KTR__EXPR_BIG &&
	    p->lex.value.bits == 1ull << 63)
		p->lex.value.kind = KTR__EXPR_INT;
	node = expr_parse_tree(p, EXPR_PARSE_UNARY);
	if (node < 0)
		return node;
	if (!minus)
		other = ktr__tree_constant(p, &ones, column);
	else
		other = ktr__tree_number(p, 0, column);
	return ktr__tree_arith(p, minus ? KTR__EXPR_SUB : KTR__EXPR_XOR, column, other, node);
}

static int expr_parse_operand(struct ktr__tree *p)
{
	struct ktr__expr_lex *lex = &p->lex;
	unsigned column = lex->column;
	int node, rc;

	switch (lex->token) {
	case KTR__EXPR_TOK_NOT:
		rc = ktr__expr_next(lex, KTR__EXPR_LEX_VALUE);
		node = rc ? rc : expr_parse_tree(p, EXPR_PARSE_NOT);
		return node < 0 ? node : ktr__tree_not(p, column, node);
	case KTR__EXPR_TOK_OPEN:
		return expr_parse_parentheses(p);
	case KTR__EXPR_TOK_NAME:
		return expr_parse_name(p);
	case KTR__EXPR_TOK_TEXT:
	case KTR__EXPR_TOK_NUMBER:
		node = ktr__tree_constant(p, &lex->value, column);
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

/* The current word is a sign after `left`: reads on to the end of its right side. */
static int expr_parse_infix(struct ktr__tree *p, int left, unsigned level)
{
	struct ktr__expr_lex *lex = &p->lex;
	enum ktr__expr_token token = lex->token;
	struct ktr__tree_compare c = { .code = KTR__EXPR_COMPARE,
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
		return rc < 0 ? rc : ktr__tree_not(p, c.column, rc);
	}
	rc = ktr__expr_next(lex, token == KTR__EXPR_TOK_COMPARE && ktr__tree_is_name(p, left)
					 ? KTR__EXPR_LEX_WORD
					 : KTR__EXPR_LEX_VALUE);
	if (rc)
		return rc;
	c.right = expr_parse_tree(p, level + 1);
	if (c.right < 0)
		return c.right;
	if (token == KTR__EXPR_TOK_COMPARE)
		return ktr__tree_compare(p, left, &c);
	if (token == KTR__EXPR_TOK_ARITH)
		return ktr__tree_arith(p, c.what, c.column, left, c.right);
	return ktr__tree_joined(p, token == KTR__EXPR_TOK_AND ? KTR__EXPR_N_AND : KTR__EXPR_N_OR,
				c.column, left, c.right);
}

/* An operand and all that binds to it at least as tightly as level. */
static int expr_parse_tree(struct ktr__tree *p, unsigned level)
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

static int expr_parse_whole(struct ktr__tree *p)
{
	int rc = ktr__expr_next(&p->lex, KTR__EXPR_LEX_VALUE), node;

	if (!rc && p->lex.token == KTR__EXPR_TOK_END)
		return ktr__expr_wrong(&p->lex, 1, "the expression is empty");
	node = rc ? rc : ktr__tree_condition(p, expr_parse_tree(p, EXPR_PARSE_OR));
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
	struct ktr__tree p = { .language = language };
	int rc = -ENOMEM;

	*out = NULL;
	p.lex = (struct ktr__expr_lex){ .source = text, .at = text, .err = err ? err : &own };
	p.expr = calloc(1, sizeof(*p.expr));
	if (p.expr) {
		/* Each word, and the NUL after it. */
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
