/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Emits programs. Conditions become jumps: each is generated for two targets, where to go on when it
 * holds and when it does not. "not" swaps what is asked for, down to the tests, each of which has a
 * negation that still rejects what has no value; so "not x" and "x" may both fail, as they should.
 *
 * Generation runs from the end to the beginning, so that targets are known when they are needed; at last
 * the ops are turned round. Values that do not depend on the event are computed on the way.
 */
#include "conf/expr/expr_emit.h"

#include "conf/eval/expr_eval.h"
#include "conf/expr/expr.h"
#include "conf/expr/expr_parse.h"

#include <errno.h>
#include <string.h>

enum expr_emit_state {
	EXPR_EMIT_NEW,
	EXPR_EMIT_CONSTANT,
	EXPR_EMIT_LOADED,  /* op */
	EXPR_EMIT_COMPUTED /* of left and right */
};

struct expr_emit {
	const struct ktr__expr *expr;
	ktr__expr_known_fn *known;
	void *context;
	struct ktr__expr_emitted *out;
	int failed;
	uint8_t state[KTR__EXPR_NODES_MAX]; /* enum expr_emit_state */
	struct ktr__expr_value value[KTR__EXPR_NODES_MAX];
	struct ktr__expr_op op[KTR__EXPR_NODES_MAX];
};

/* It is a text, whenever it is loaded. */
static int expr_emit_is_text(const struct expr_emit *e, unsigned at)
{
	return e->state[at] != EXPR_EMIT_COMPUTED && e->value[at].kind == KTR__EXPR_TEXT;
}

/* It is a number, if it is anything. */
static int expr_emit_is_number(const struct expr_emit *e, unsigned at)
{
	switch (e->state[at]) {
	case EXPR_EMIT_CONSTANT:
		return e->value[at].kind <= KTR__EXPR_REAL;
	case EXPR_EMIT_LOADED:
		return e->op[at].code == KTR__EXPR_WORD;
	default:
		return 1;
	}
}

/* What is known of a value; arithmetic nests as deeply as signs follow each other, at most. */
static void expr_emit_look(struct expr_emit *e, unsigned at)
{
	const struct ktr__expr_node *node = &e->expr->node[at];

	if (e->state[at] != EXPR_EMIT_NEW)
		return;
	if (node->kind == KTR__EXPR_N_NUMBER || node->kind == KTR__EXPR_N_TEXT) {
		e->value[at] = node->value;
		e->state[at] = EXPR_EMIT_CONSTANT;
	} else if (node->kind != KTR__EXPR_N_ARITH) {
		e->op[at] = (struct ktr__expr_op){ .code = KTR__EXPR_LOAD, .field = node->field };
		e->value[at] = (struct ktr__expr_value){ .kind = KTR__EXPR_NONE };
		e->state[at] = e->known(e->context, node, &e->value[at], &e->op[at])
				       ? EXPR_EMIT_CONSTANT
				       : EXPR_EMIT_LOADED;
	} else {
		expr_emit_look(e, node->left);
		expr_emit_look(e, node->right);
		e->state[at] = EXPR_EMIT_COMPUTED;
		if (expr_emit_is_text(e, node->left) || expr_emit_is_text(e, node->right)) {
			e->state[at] = EXPR_EMIT_CONSTANT;
			e->value[at] = (struct ktr__expr_value){ .kind = KTR__EXPR_NONE };
		} else if (e->state[node->left] == EXPR_EMIT_CONSTANT &&
			   e->state[node->right] == EXPR_EMIT_CONSTANT) {
			e->state[at] = EXPR_EMIT_CONSTANT;
			e->value[at] = ktr__expr_arith(node->code, &e->value[node->left],
						       &e->value[node->right]);
		}
	}
}

/* Appends an op; returns its place, counted from the end of the program. */
static unsigned expr_emit_op(struct expr_emit *e, const struct ktr__expr_op *op)
{
	if (e->out->n_ops == KTR__EXPR_OPS_MAX) {
		e->failed = 1;
		return KTR__EXPR_REJECT;
	}
	e->out->op[e->out->n_ops] = *op;
	return e->out->n_ops++;
}

/* A text that the user knows stays where it is: it is loaded when it is wanted. */
static void expr_emit_constant(struct expr_emit *e, unsigned at)
{
	const struct ktr__expr_value *value = &e->value[at];
	struct ktr__expr_op op = { .code = KTR__EXPR_NUMBER,
				   .what = (uint8_t)value->kind,
				   .value = value->bits };

	if (value->kind == KTR__EXPR_TEXT && e->expr->node[at].kind != KTR__EXPR_N_TEXT) {
		op = e->op[at];
	} else if (value->kind == KTR__EXPR_TEXT) {
		e->failed |= value->length > UINT16_MAX;
		op.code = KTR__EXPR_STRING;
		op.what = 0;
		op.length = (uint16_t)value->length;
		op.value = (uint64_t)(value->text - e->out->texts);
	}
	expr_emit_op(e, &op);
}

/* The ops of a value, last one first; depth is how many values lie below it on the stack. */
static void expr_emit_value(struct expr_emit *e, unsigned at, unsigned depth)
{
	const struct ktr__expr_node *node = &e->expr->node[at];
	struct ktr__expr_op op = { .code = node->code };

	if (depth >= KTR__EXPR_DEPTH_MAX) {
		e->failed = 1;
	} else if (e->state[at] == EXPR_EMIT_CONSTANT) {
		expr_emit_constant(e, at);
	} else if (e->state[at] == EXPR_EMIT_LOADED) {
		op = e->op[at];
		if (op.code == KTR__EXPR_WORD)
			op.what |= KTR__EXPR_FROM_WORD;
		op.code = KTR__EXPR_LOAD;
		expr_emit_op(e, &op);
	} else {
		expr_emit_op(e, &op);
		expr_emit_value(e, node->right, depth + 1);
		expr_emit_value(e, node->left, depth);
	}
}

/* LESS and GREATER change places with the sides of a comparison. */
static uint8_t expr_emit_mirror(uint8_t what)
{
	uint8_t rest = what & (uint8_t) ~(KTR__EXPR_LESS | KTR__EXPR_GREATER);

	return (uint8_t)(rest | (what & KTR__EXPR_LESS ? KTR__EXPR_GREATER : 0) |
			 (what & KTR__EXPR_GREATER ? KTR__EXPR_LESS : 0));
}

/*
 * A word of the user's against a constant integer, as one op. 1: *op is it; 0: no such case. Where the
 * constant is beyond what the word can be, the outcome is known: what is tested is chosen so.
 */
static int expr_emit_word(const struct expr_emit *e, const struct ktr__expr_node *node,
			  uint8_t what, struct ktr__expr_op *op)
{
	int swap = e->state[node->left] == EXPR_EMIT_CONSTANT;
	unsigned word = swap ? node->right : node->left, number = swap ? node->left : node->right;
	const struct ktr__expr_value *value = &e->value[number];

	if (node->code != KTR__EXPR_COMPARE || e->state[word] != EXPR_EMIT_LOADED ||
	    e->state[number] != EXPR_EMIT_CONSTANT || e->op[word].code != KTR__EXPR_WORD ||
	    (value->kind != KTR__EXPR_INT && value->kind != KTR__EXPR_BIG))
		return 0;
	*op = e->op[word];
	if (op->what & KTR__EXPR_UNSIGNED ? value->kind == KTR__EXPR_INT && value->bits >> 63
					  : value->kind == KTR__EXPR_BIG)
		return 0;
	op->what |= swap ? expr_emit_mirror(what) : what;
	op->value = value->bits;
	return 1;
}

/* Below: yes and no are targets, as places from the end; so is what is returned. */

static unsigned expr_emit_test(struct expr_emit *e, const struct ktr__expr_node *node, int wanted,
			       unsigned yes, unsigned no)
{
	struct ktr__expr_user user = { .regex = ktr__expr_regex,
				       .context = (void *)(uintptr_t)e->expr };
	const struct ktr__expr_value *left = &e->value[node->left], *right = &e->value[node->right];
	struct ktr__expr_op op = { .code = node->code, .what = node->what }, word;
	unsigned outcome;

	expr_emit_look(e, node->left);
	expr_emit_look(e, node->right);
	if (!wanted)
		op.what ^= KTR__EXPR_OUTCOMES;
	if (e->state[node->left] == EXPR_EMIT_CONSTANT &&
	    e->state[node->right] == EXPR_EMIT_CONSTANT) {
		outcome = ktr__expr_outcome(&op, left, right, &user);
		return op.what & outcome & KTR__EXPR_OUTCOMES ? yes : no;
	}
	if ((e->state[node->left] == EXPR_EMIT_CONSTANT && left->kind == KTR__EXPR_NONE) ||
	    (e->state[node->right] == EXPR_EMIT_CONSTANT && right->kind == KTR__EXPR_NONE))
		return no;
	if (node->code == KTR__EXPR_COMPARE &&
	    ((expr_emit_is_text(e, node->left) && expr_emit_is_number(e, node->right)) ||
	     (expr_emit_is_number(e, node->left) && expr_emit_is_text(e, node->right))))
		return no;
	if (expr_emit_word(e, node, op.what, &word)) {
		word.yes = (uint8_t)yes;
		word.no = (uint8_t)no;
		return expr_emit_op(e, &word);
	}
	op.yes = (uint8_t)yes;
	op.no = (uint8_t)no;
	expr_emit_op(e, &op);
	expr_emit_value(e, node->right, 1);
	expr_emit_value(e, node->left, 0);
	return e->out->n_ops - 1;
}

static unsigned expr_emit_condition(struct expr_emit *e, unsigned at, int wanted, unsigned yes,
				    unsigned no);

static unsigned expr_emit_jumps(struct expr_emit *e, unsigned at, int wanted, unsigned yes,
				unsigned no)
{
	while (!e->failed && yes != no) {
		const struct ktr__expr_node *node = &e->expr->node[at];

		if (node->kind == KTR__EXPR_N_TEST)
			return expr_emit_test(e, node, wanted, yes, no);
		at = node->left;
		if (node->kind == KTR__EXPR_N_NOT)
			wanted = !wanted;
		else if ((node->kind == KTR__EXPR_N_AND) == wanted)
			yes = expr_emit_condition(e, node->right, wanted, yes, no);
		else
			no = expr_emit_condition(e, node->right, wanted, yes, no);
	}
	return no;
}

/*
 * wanted: 1, go to yes where the condition holds; 0: where its negation does. What was emitted before
 * the entry turned out to lie elsewhere is taken back.
 */
static unsigned expr_emit_condition(struct expr_emit *e, unsigned at, int wanted, unsigned yes,
				    unsigned no)
{
	unsigned n_ops = e->out->n_ops, entry = expr_emit_jumps(e, at, wanted, yes, no);

	if (entry < KTR__EXPR_ACCEPT && entry >= n_ops)
		n_ops = entry + 1;
	e->out->n_ops = n_ops;
	return entry;
}

static uint8_t expr_emit_turned(unsigned target, unsigned n_ops)
{
	return (uint8_t)(target >= KTR__EXPR_ACCEPT ? target : n_ops - 1 - target);
}

/* Turns the program round. */
static void expr_emit_turn(struct ktr__expr_emitted *out)
{
	unsigned n = out->n_ops;

	for (unsigned i = 0, j = n; i < j--; i++) {
		struct ktr__expr_op op = out->op[i];

		out->op[i] = out->op[j];
		out->op[j] = op;
	}
	for (unsigned i = 0; i < n; i++)
		if (out->op[i].code >= KTR__EXPR_COMPARE) {
			out->op[i].yes = expr_emit_turned(out->op[i].yes, n);
			out->op[i].no = expr_emit_turned(out->op[i].no, n);
		}
}

int ktr__expr_emit(const struct ktr__expr *expr, unsigned node, ktr__expr_known_fn *known,
		   void *context, struct ktr__expr_emitted *emitted, struct ktr_error *err)
{
	struct expr_emit e;

	e.expr = expr;
	e.known = known;
	e.context = context;
	e.out = emitted;
	e.failed = 0;
	memset(e.state, EXPR_EMIT_NEW, expr->n_nodes);
	emitted->n_ops = 0;
	emitted->texts = expr->texts;
	emitted->n_texts = (uint32_t)expr->n_texts;
	emitted->always = expr_emit_condition(&e, node, 1, KTR__EXPR_ACCEPT, KTR__EXPR_REJECT) ==
			  KTR__EXPR_ACCEPT;
	if (e.failed)
		return ktr_error_at(
			err, NULL, 0, expr->node[node].column, E2BIG,
			"the expression is too long: it comes to more than %d steps, or computes "
			"more than %d values at once",
			KTR__EXPR_OPS_MAX, KTR__EXPR_DEPTH_MAX);
	expr_emit_turn(emitted);
	return 0;
}
