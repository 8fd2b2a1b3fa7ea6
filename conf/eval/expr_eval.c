/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evaluates programs of expressions. In libktr, where they come out of shared memory: each op is copied
 * once and checked before it is used, targets lead forward only, and what makes no sense rejects.
 *
 * Where values are unknown both targets of a test are marked, and evaluation goes on at the next marked
 * op: since targets lead forward, one pass sees every op that any values could lead to.
 */
#include "conf/eval/expr_eval.h"

#include "conf/eval/glob.h"

#include <string.h>

static int expr_eval_sign(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static double expr_eval_real(const struct ktr__expr_value *value)
{
	double real;

	if (value->kind == KTR__EXPR_INT)
		return (double)(int64_t)value->bits;
	if (value->kind == KTR__EXPR_BIG)
		return (double)value->bits;
	memcpy(&real, &value->bits, sizeof(real));
	return real;
}

static int expr_eval_is_number(const struct ktr__expr_value *a, const struct ktr__expr_value *b)
{
	return a->kind - 1u < KTR__EXPR_REAL && b->kind - 1u < KTR__EXPR_REAL;
}

static struct ktr__expr_value expr_eval_arith_real(unsigned code, double a, double b)
{
	struct ktr__expr_value value = { .kind = KTR__EXPR_REAL };
	double r = 0;

	if (code == KTR__EXPR_ADD)
		r = a + b;
	else if (code == KTR__EXPR_SUB)
		r = a - b;
	else if (code == KTR__EXPR_MUL)
		r = a * b;
	else if (code == KTR__EXPR_DIV)
		r = a / b;
	else
		value.kind = KTR__EXPR_NONE;
	memcpy(&value.bits, &r, sizeof(r));
	return value;
}

/* big: the quotient or remainder is unsigned. */
static uint64_t expr_eval_divide(uint64_t a, uint64_t b, int big, int rest)
{
	if (big)
		return rest ? a % b : a / b;
	if (b == ~0ull) /* INT64_MIN / -1 would trap */
		return rest ? 0 : 0 - a;
	return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static uint64_t expr_eval_shift_right(uint64_t a, uint64_t b, int big)
{
	if (big)
		return b > 63 ? 0 : a >> b;
	return (uint64_t)((int64_t)a >> (b > 63 ? 63 : b));
}

struct ktr__expr_value ktr__expr_arith(unsigned code, const struct ktr__expr_value *a,
				       const struct ktr__expr_value *b)
{
	struct ktr__expr_value value = { .kind = KTR__EXPR_NONE };
	int big = a->kind == KTR__EXPR_BIG || b->kind == KTR__EXPR_BIG;
	uint64_t x = a->bits, y = b->bits;

	if (!expr_eval_is_number(a, b))
		return value;
	if (a->kind == KTR__EXPR_REAL || b->kind == KTR__EXPR_REAL)
		return expr_eval_arith_real(code, expr_eval_real(a), expr_eval_real(b));
	switch (code) {
	case KTR__EXPR_ADD:
		x += y;
		break;
	case KTR__EXPR_SUB:
		x -= y;
		break;
	case KTR__EXPR_MUL:
		x *= y;
		break;
	case KTR__EXPR_AND:
		x &= y;
		break;
	case KTR__EXPR_OR:
		x |= y;
		break;
	case KTR__EXPR_XOR:
		x ^= y;
		break;
	case KTR__EXPR_SHL:
		x = y > 63 ? 0 : x << y;
		break;
	case KTR__EXPR_SHR:
		x = expr_eval_shift_right(x, y, a->kind == KTR__EXPR_BIG);
		break;
	default:
		if (!y)
			return value;
		x = expr_eval_divide(x, y, big, code == KTR__EXPR_MOD);
	}
	value.bits = x;
	value.kind = big && x >> 63 ? KTR__EXPR_BIG : KTR__EXPR_INT;
	return value;
}

/* The order of two values: -1, 0, 1, or -2 for a NaN; -3: there is none. */
static int expr_eval_order(const struct ktr__expr_value *a, const struct ktr__expr_value *b)
{
	double x, y;
	int order;

	if (a->kind == KTR__EXPR_TEXT && b->kind == KTR__EXPR_TEXT) {
		order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
		return expr_eval_sign(order ? order : (int64_t)a->length - b->length, 0);
	}
	if (!expr_eval_is_number(a, b))
		return -3;
	if (a->kind == KTR__EXPR_REAL || b->kind == KTR__EXPR_REAL) {
		x = expr_eval_real(a);
		y = expr_eval_real(b);
		return x < y ? -1 : x > y ? 1 : x == y ? 0 : -2;
	}
	/* BIG is above INT; two BIG ones compare as their differences from 2^64 do. */
	if (a->kind != b->kind)
		return a->kind == KTR__EXPR_BIG ? 1 : -1;
	return expr_eval_sign((int64_t)a->bits, (int64_t)b->bits);
}

static unsigned expr_eval_match(const struct ktr__expr_op *op, const struct ktr__expr_value *a,
				const struct ktr__expr_value *b, const struct ktr__expr_user *user)
{
	int order = -1;

	if (op->code == KTR__EXPR_COMPARE)
		order = expr_eval_order(a, b);
	else if (a->kind != KTR__EXPR_TEXT)
		order = -3;
	else if (op->code == KTR__EXPR_GLOB && b->kind == KTR__EXPR_TEXT)
		order += ktr__glob(b->text, b->length, a->text, a->length);
	else if (user->regex)
		order += user->regex(user->context, b->bits, a->text, a->length);
	return order == -3 ? 0 : order == -2 ? KTR__EXPR_UNORDERED : 1u << (order + 1);
}

unsigned ktr__expr_outcome(const struct ktr__expr_op *op, const struct ktr__expr_value *a,
			   const struct ktr__expr_value *b, const struct ktr__expr_user *user)
{
	unsigned outcome = expr_eval_match(op, a, b, user);

	if (op->what & KTR__EXPR_PATH && a->kind == KTR__EXPR_TEXT && outcome != KTR__EXPR_EQUAL)
		for (uint32_t i = 0; i < a->length; i++) {
			struct ktr__expr_value tail = ktr__expr_text(a->text + i + 1,
								     a->length - i - 1);

			if (a->text[i] == '/' &&
			    expr_eval_match(op, &tail, b, user) == KTR__EXPR_EQUAL)
				return KTR__EXPR_EQUAL;
		}
	return outcome;
}

/* WORD: both numbers moved so that an unsigned comparison is the one that was meant. */
static unsigned expr_eval_word(const struct ktr__expr_op *op, const struct ktr__expr_user *user)
{
	uint64_t flip = op->what & KTR__EXPR_UNSIGNED ? 0 : 1ull << 63, a, b;

	if (op->field >= user->n_words)
		return 0;
	a = (user->words[op->field] & ~0ull >> (-op->length & 63)) ^ flip;
	b = op->value ^ flip;
	return a < b ? KTR__EXPR_LESS : a > b ? KTR__EXPR_GREATER : KTR__EXPR_EQUAL;
}

/* Where evaluation stands. */
struct expr_eval {
	const struct ktr__expr_program *program;
	const struct ktr__expr_user *user;
	unsigned depth;
	int unknown; /* a value of this test is */
	struct ktr__expr_value stack[KTR__EXPR_DEPTH_MAX];
};

/* An op that pushes. 0 where it makes no sense. */
static int expr_eval_push(struct expr_eval *e, const struct ktr__expr_op *op)
{
	struct ktr__expr_value *top = &e->stack[e->depth];
	uint64_t at = 0, length = 0; /* of its text */
	const char *text;

	if (op->code != KTR__EXPR_NUMBER && !(op->what & KTR__EXPR_FROM_WORD) && op->length) {
		at = op->value;
		length = op->length;
	}
	if (e->depth == KTR__EXPR_DEPTH_MAX || at > e->program->n_texts ||
	    length > e->program->n_texts - at)
		return 0;
	text = e->program->texts + at;
	e->depth++;
	*top = (struct ktr__expr_value){ .bits = 0 };
	if (op->code == KTR__EXPR_LOAD) {
		e->user->load(e->user->context, op, text, top);
		e->unknown |= top->kind == KTR__EXPR_UNKNOWN;
	} else if (op->code == KTR__EXPR_NUMBER) {
		top->bits = op->value;
		top->kind = op->what <= KTR__EXPR_REAL ? op->what : KTR__EXPR_NONE;
	} else {
		*top = ktr__expr_text(text, length);
	}
	return 1;
}

/* One op. -1: it makes no sense; 0: no test; else what the test may come to, KTR__EXPR_OUTCOMES | ... */
static int expr_eval_step(struct expr_eval *e, const struct ktr__expr_op *op)
{
	struct ktr__expr_value *a = &e->stack[e->depth] - 2;

	if (op->code <= KTR__EXPR_STRING)
		return expr_eval_push(e, op) - 1;
	if (op->code == KTR__EXPR_WORD)
		return op->what & expr_eval_word(op, e->user) & KTR__EXPR_OUTCOMES ? 1 : 2;
	if (op->code > KTR__EXPR_WORD || e->depth < 2)
		return -1;
	e->depth--;
	if (op->code <= KTR__EXPR_SHR) {
		*a = ktr__expr_arith(op->code, a, a + 1);
		return 0;
	}
	e->depth = 0;
	if (e->unknown) {
		e->unknown = 0;
		return 3;
	}
	return op->what & ktr__expr_outcome(op, a, a + 1, e->user) & KTR__EXPR_OUTCOMES ? 1 : 2;
}

/* Targets lead forward; everything else is as good as REJECT. */
static void expr_eval_mark(uint64_t marks[4], unsigned at, unsigned target)
{
	if (target > at)
		marks[target / 64] |= 1ull << target % 64;
}

int ktr__expr_run(const struct ktr__expr_program *program, const struct ktr__expr_user *user)
{
	struct expr_eval e; /* the stack is not cleared: that took longer than most programs */
	uint64_t marks[4] = { 0 };
	uint32_t n_ops = program->n_ops < KTR__EXPR_OPS_MAX ? program->n_ops : KTR__EXPR_OPS_MAX;

	e.program = program;
	e.user = user;
	e.depth = 0;
	e.unknown = 0;

	for (unsigned at = program->first; at < n_ops;) {
		const uint64_t *from = (const uint64_t *)(const void *)&program->op[at];
		uint64_t words[2] = { __atomic_load_n(from, __ATOMIC_RELAXED),
				      __atomic_load_n(from + 1, __ATOMIC_RELAXED) };
		struct ktr__expr_op op;
		int went;

		memcpy(&op, words, sizeof(op));
		went = expr_eval_step(&e, &op);
		if (went < 0)
			return 0;
		if (!went) {
			at++;
			continue;
		}
		if (went & 1)
			expr_eval_mark(marks, at, op.yes);
		if (went & 2)
			expr_eval_mark(marks, at, op.no);
		if (marks[3] >> (KTR__EXPR_ACCEPT % 64) & 1)
			return 1;
		do
			at++;
		while (at < n_ops && !(marks[at / 64] >> at % 64 & 1));
	}
	return 0;
}
