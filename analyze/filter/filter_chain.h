/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests of what is computed from left to right out of integers of an event and constants, as `arg0 % 8 == 3` is,
 * prepared: a step for each value, where the evaluator (conf/eval/expr_eval.h) takes one for each value and one for
 * each operation. What needs more than a signed integer is left to it.
 */
#ifndef ANALYZE_FILTER_CHAIN_H
#define ANALYZE_FILTER_CHAIN_H

#include "conf/eval/expr_eval.h"

#define KTR__FILTER_LINKS 6

/* A value, and what is done with it and what was computed before; of the first one, nothing. */
struct ktr__filter_link {
	uint64_t mask, value; /* word & mask | value: one of them is 0 */
	uint16_t word;
	uint8_t code; /* KTR__EXPR_ADD to _SHR; of the last one _COMPARE */
	uint8_t is_unsigned;
};

struct ktr__filter_chain {
	uint8_t n_links, what, yes, no; /* as of the op that compares */
	uint8_t is_usual;		/* one operation of a word and a constant, compared with a constant */
	struct ktr__filter_link link[KTR__FILTER_LINKS];
};

/* Makes one of the ops from `at` on. 1, or 0: they are no chain. The ops are those of ktr__expr_emit(). */
int ktr__filter_chain_make(struct ktr__filter_chain *chain, const struct ktr__expr_op *op, uint32_t n_ops,
			   uint32_t at);

#define KTR__FILTER_CHAIN_BREAKS 256

/* Where to go on: a target, or KTR__FILTER_CHAIN_BREAKS: the evaluator has to do it. */
unsigned ktr__filter_chain_test(const struct ktr__filter_chain *chain, const uint64_t *words);

/* b is not 0. */
static inline uint64_t ktr__filter_chain_divide(uint64_t a, uint64_t b, int rest)
{
	if (b == ~0ull) /* INT64_MIN / -1 would trap */
		return rest ? 0 : 0 - a;
	/* Half of all numbers are short, for which the processor takes half as long. */
	if (!((a | b) >> 32))
		return rest ? (uint32_t)a % (uint32_t)b : (uint32_t)a / (uint32_t)b;
	return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static inline uint64_t ktr__filter_chain_arith(unsigned code, uint64_t a, uint64_t b)
{
	switch (code) {
	case KTR__EXPR_ADD:
		return a + b;
	case KTR__EXPR_SUB:
		return a - b;
	case KTR__EXPR_MUL:
		return a * b;
	case KTR__EXPR_AND:
		return a & b;
	case KTR__EXPR_OR:
		return a | b;
	case KTR__EXPR_XOR:
		return a ^ b;
	case KTR__EXPR_SHL:
		return b > 63 ? 0 : a << b;
	case KTR__EXPR_SHR:
		return (uint64_t)((int64_t)a >> (b > 63 ? 63 : b));
	default:
		return ktr__filter_chain_divide(a, b, code == KTR__EXPR_MOD);
	}
}

static inline unsigned ktr__filter_chain_compare(const struct ktr__filter_chain *chain, uint64_t a, uint64_t b)
{
	unsigned outcome = 1u << (((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b) + 1);

	return chain->what & outcome ? chain->yes : chain->no;
}

/* The same where the chain is a usual one. */
static inline unsigned ktr__filter_chain_usual(const struct ktr__filter_chain *chain, const uint64_t *words)
{
	const struct ktr__filter_link *link = chain->link;
	uint64_t a = words[link[0].word] & link[0].mask;

	if (a >> 63 & link[0].is_unsigned)
		return KTR__FILTER_CHAIN_BREAKS;
	return ktr__filter_chain_compare(chain, ktr__filter_chain_arith(link[1].code, a, link[1].value),
					 link[2].value);
}

#endif
