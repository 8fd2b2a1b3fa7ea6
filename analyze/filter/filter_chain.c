/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chain's values are all INT, as of conf/expr/expr.h, and so is what is computed of them: sums wrap, a quotient
 * is rounded towards zero. What is divided by zero has no value, and no test of it holds.
 */
#include "analyze/filter/filter_chain.h"

/* A value that can be a link's. 1 or 0. */
static int filter_chain_value(struct ktr__filter_link *link, const struct ktr__expr_op *op)
{
	*link = (struct ktr__filter_link){ .code = KTR__EXPR_LOAD };
	if (op->code == KTR__EXPR_NUMBER && op->what == KTR__EXPR_INT) {
		link->value = op->value;
		return 1;
	}
	if (op->code != KTR__EXPR_LOAD || !(op->what & KTR__EXPR_FROM_WORD))
		return 0;
	link->mask = ~0ull >> (-op->length & 63);
	link->word = op->field;
	link->is_unsigned = (op->what & KTR__EXPR_UNSIGNED) != 0;
	return 1;
}

int ktr__filter_chain_make(struct ktr__filter_chain *chain, const struct ktr__expr_op *op, uint32_t n_ops,
			   uint32_t at)
{
	unsigned n = 0;

	if (at >= n_ops || !filter_chain_value(&chain->link[n++], &op[at++]))
		return 0;
	for (; n < KTR__FILTER_LINKS && n_ops - at >= 2; at += 2) {
		struct ktr__filter_link *link = &chain->link[n++];

		if (!filter_chain_value(link, &op[at]))
			return 0;
		link->code = op[at + 1].code;
		if (link->code == KTR__EXPR_COMPARE) {
			chain->n_links = (uint8_t)n;
			chain->what = op[at + 1].what;
			chain->yes = op[at + 1].yes;
			chain->no = op[at + 1].no;
			return 1;
		}
		if (link->code < KTR__EXPR_ADD || link->code > KTR__EXPR_SHR)
			return 0;
	}
	return 0;
}

/* b is not 0. */
static uint64_t filter_chain_divide(uint64_t a, uint64_t b, int rest)
{
	if (b == ~0ull) /* INT64_MIN / -1 would trap */
		return rest ? 0 : 0 - a;
	/* Half of all numbers are short, for which the processor takes half as long. */
	if (!((a | b) >> 32))
		return rest ? (uint32_t)a % (uint32_t)b : (uint32_t)a / (uint32_t)b;
	return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static uint64_t filter_chain_arith(unsigned code, uint64_t a, uint64_t b)
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
		return filter_chain_divide(a, b, code == KTR__EXPR_MOD);
	}
}

unsigned ktr__filter_chain_test(const struct ktr__filter_chain *chain, const uint64_t *words)
{
	const struct ktr__filter_link *link = chain->link, *last = link + chain->n_links - 1;
	uint64_t a = (words[link->word] & link->mask) | link->value, b;
	unsigned outcome;

	if (a >> 63 & link->is_unsigned)
		return KTR__FILTER_CHAIN_BREAKS;
	for (;;) {
		link++;
		b = (words[link->word] & link->mask) | link->value;
		if (b >> 63 & link->is_unsigned)
			return KTR__FILTER_CHAIN_BREAKS;
		if (link == last)
			break;
		if (!b && (link->code == KTR__EXPR_DIV || link->code == KTR__EXPR_MOD))
			return chain->no;
		a = filter_chain_arith(link->code, a, b);
	}
	outcome = 1u << (((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b) + 1);
	return chain->what & outcome ? chain->yes : chain->no;
}
