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
	struct ktr__filter_link link[KTR__FILTER_LINKS];
};

/* Makes one of the ops from `at` on. 1, or 0: they are no chain. The ops are those of ktr__expr_emit(). */
int ktr__filter_chain_make(struct ktr__filter_chain *chain, const struct ktr__expr_op *op, uint32_t n_ops,
			   uint32_t at);

#define KTR__FILTER_CHAIN_BREAKS 256

/* Where to go on: a target, or KTR__FILTER_CHAIN_BREAKS: the evaluator has to do it. */
unsigned ktr__filter_chain_test(const struct ktr__filter_chain *chain, const uint64_t *words);

#endif
