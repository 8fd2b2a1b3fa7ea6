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

/* A constant has no mask; nothing is divided by one that is 0. */
static uint8_t filter_chain_is_usual(const struct ktr__filter_chain *chain)
{
	const struct ktr__filter_link *link = chain->link;

	return chain->n_links == 3 && link[0].mask && !link[1].mask && !link[2].mask && link[1].value;
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
			chain->is_usual = filter_chain_is_usual(chain);
			return 1;
		}
		if (link->code < KTR__EXPR_ADD || link->code > KTR__EXPR_SHR)
			return 0;
	}
	return 0;
}

unsigned ktr__filter_chain_test(const struct ktr__filter_chain *chain, const uint64_t *words)
{
	const struct ktr__filter_link *link = chain->link, *last = link + chain->n_links - 1;
	uint64_t a = (words[link->word] & link->mask) | link->value, b;

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
		a = ktr__filter_chain_arith(link->code, a, b);
	}
	return ktr__filter_chain_compare(chain, a, b);
}
