/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains of a filter against the evaluator that they stand in for. */
#include "tests/unit/suite.h"

#include "analyze/filter/filter_chain.h"

#include <string.h>

static const uint64_t numbers[] = { 0, 1, 2, 3, 8, 63, 64, 65, 1000, UINT32_MAX, (1ull << 32) + 3, INT64_MAX,
				    1ull << 63, (1ull << 63) + 1, (uint64_t)-1, (uint64_t)-2, (uint64_t)-3,
				    (uint64_t)-8, (uint64_t)-1000 };

#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* As filter.c loads a word. */
static void load(void *context, const struct ktr__expr_op *op, const char *name, struct ktr__expr_value *value)
{
	const uint64_t *words = context;

	(void)name;
	value->bits = words[op->field] & ~0ull >> (-op->length & 63);
	value->kind = op->what & KTR__EXPR_UNSIGNED && value->bits >> 63 ? KTR__EXPR_BIG : KTR__EXPR_INT;
}

static struct ktr__expr_op word(uint16_t field, int is_unsigned, uint16_t bits)
{
	uint8_t what = KTR__EXPR_FROM_WORD | (is_unsigned ? KTR__EXPR_UNSIGNED : 0);

	return (struct ktr__expr_op){ .code = KTR__EXPR_LOAD, .what = what, .field = field, .length = bits };
}

static struct ktr__expr_op number(uint64_t value)
{
	return (struct ktr__expr_op){ .code = KTR__EXPR_NUMBER, .what = KTR__EXPR_INT, .value = value };
}

static struct ktr__expr_op compare(uint8_t what)
{
	return (struct ktr__expr_op){ .code = KTR__EXPR_COMPARE, .what = what, .yes = KTR__EXPR_ACCEPT,
				      .no = KTR__EXPR_REJECT };
}

/* The chain says the same as the evaluator, or leaves it to it where a value is above 2^63 - 1. */
static void same(const struct ktr__expr_op *op, uint32_t n_ops, const uint64_t words[2], int may_break)
{
	const struct ktr__expr_program program = { op, n_ops, 0, "", 0 };
	const struct ktr__expr_user user = { load, NULL, (void *)(uintptr_t)words, words, 2 };
	struct ktr__filter_chain chain;
	unsigned went;

	CU_ASSERT_FATAL(ktr__filter_chain_make(&chain, op, n_ops, 0) == 1);
	went = ktr__filter_chain_test(&chain, words);
	if (went == KTR__FILTER_CHAIN_BREAKS) {
		CU_ASSERT(may_break);
		return;
	}
	CU_ASSERT((went == KTR__EXPR_ACCEPT) == ktr__expr_run(&program, &user));
}

static void chains_compute_as_the_evaluator_does(void)
{
	static const uint8_t outcomes[] = { KTR__EXPR_LESS, KTR__EXPR_EQUAL, KTR__EXPR_LESS | KTR__EXPR_GREATER };

	for (unsigned code = KTR__EXPR_ADD; code <= KTR__EXPR_SHR; code++)
		for (unsigned i = 0; i < N_NUMBERS * N_NUMBERS * N_NUMBERS; i++) {
			const uint64_t words[] = { numbers[i % N_NUMBERS], numbers[i / N_NUMBERS % N_NUMBERS] };
			const uint64_t with = numbers[i / N_NUMBERS / N_NUMBERS];
			struct ktr__expr_op op[] = { word(0, i & 1, i % 5 ? 0 : 32),
						     word(1, i & 2, 0),
						     { .code = (uint8_t)code },
						     number(with),
						     compare(outcomes[i % 3]) };

			same(op, 5, words, (i & 1 && words[0] >> 63) || (i & 2 && words[1] >> 63));
			op[1] = number(words[1]);
			same(op, 5, words, i & 1 && words[0] >> 63);
			op[0] = number(words[0]);
			op[1] = word(1, 0, 0);
			same(op, 5, words, 0);
		}
}

/* (w0 * 3 + w1) >> 1 > w0, and what is no chain. */
static void chains_are_as_long_as_they_may_be(void)
{
	const struct ktr__expr_op op[] = { word(0, 0, 0), number(3),     { .code = KTR__EXPR_MUL },
					   word(1, 0, 0), { .code = KTR__EXPR_ADD }, number(1),
					   { .code = KTR__EXPR_SHR }, word(0, 0, 0), compare(KTR__EXPR_GREATER) };
	struct ktr__expr_op other[9];
	struct ktr__filter_chain chain;

	for (unsigned i = 0; i < N_NUMBERS * N_NUMBERS; i++)
		same(op, 9, (const uint64_t[]){ numbers[i % N_NUMBERS], numbers[i / N_NUMBERS] }, 0);
	for (uint32_t n = 0; n < 9; n++)
		CU_ASSERT(ktr__filter_chain_make(&chain, op, n, 0) == 0);
	CU_ASSERT(ktr__filter_chain_make(&chain, op, 9, 1) == 0);
	for (unsigned i = 0; i < 9; i++) {
		memcpy(other, op, sizeof(op));
		other[i].code = KTR__EXPR_STRING;
		CU_ASSERT(ktr__filter_chain_make(&chain, other, 9, 0) == 0);
	}
	memcpy(other, op, sizeof(op));
	other[0].what = 0; /* a field that is not a word */
	CU_ASSERT(ktr__filter_chain_make(&chain, other, 9, 0) == 0);
	memcpy(other, op, sizeof(op));
	other[1].what = KTR__EXPR_REAL;
	CU_ASSERT(ktr__filter_chain_make(&chain, other, 9, 0) == 0);
}

SUITE(filter_chain, TEST(chains_compute_as_the_evaluator_does), TEST(chains_are_as_long_as_they_may_be));
