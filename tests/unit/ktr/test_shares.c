/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of a thread's time probes take, by made-up counts. */
#include "tests/unit/suite.h"

/* What is counted here is in libktr-provider alone. */
#include "ktr/provider/registry/shares.c"

#include <stdlib.h>

#define PRICE_PS 20000u
#define MS	 1000000ull

/* Of so many events every n-th is looked at, and stands for n. */
static void add_some(struct ktr__shares *shares, uint32_t thread, uint64_t what, uint64_t n, uint64_t of)
{
	for (uint64_t i = 0; i < n; i += of)
		ktr__shares_add(shares, thread, what, of * KTR__SHARES_ONE);
}

static uint32_t percent_of(const struct ktr__shares *shares, uint32_t thread, uint64_t what)
{
	for (uint32_t i = 0; i < 1u << KTR__SHARES_LOG2; i++)
		if (shares->share[i].what == what && shares->share[i].thread == thread)
			return ktr__shares_percent(shares->share[i].events, PRICE_PS, 100 * MS);
	return 0;
}

static struct ktr__shares *made(void)
{
	struct ktr__shares *shares = malloc(sizeof(*shares));

	CU_ASSERT_PTR_NOT_NULL_FATAL(shares);
	ktr__shares_clear(shares);
	return shares;
}

/* 20 ns each: a million of them in 100 ms are 20 %. */
static void what_so_many_events_take(void)
{
	CU_ASSERT_EQUAL(ktr__shares_percent(1000000 * KTR__SHARES_ONE, PRICE_PS, 100 * MS), 20);
	CU_ASSERT_EQUAL(ktr__shares_percent(1000000 * KTR__SHARES_ONE, PRICE_PS, 200 * MS), 10);
	CU_ASSERT_EQUAL(ktr__shares_percent(499999 * KTR__SHARES_ONE, PRICE_PS, 100 * MS), 9);
	CU_ASSERT_EQUAL(ktr__shares_percent(0, PRICE_PS, 100 * MS), 0);
	/* Never more than all of it, and nothing of no time. */
	CU_ASSERT_EQUAL(ktr__shares_percent(UINT64_MAX, UINT32_MAX, 1), 100);
	CU_ASSERT_EQUAL(ktr__shares_percent(1000000 * KTR__SHARES_ONE, PRICE_PS, 0), 0);
}

static void each_thread_and_function_has_its_own(void)
{
	struct ktr__shares *shares = made();

	add_some(shares, 1, 7, 600000, 1);
	add_some(shares, 2, 7, 300000, 1);
	add_some(shares, 2, 8, 50, 1);
	add_some(shares, 1, 7, 600000, 1);
	CU_ASSERT_EQUAL(percent_of(shares, 1, 7), 24);
	CU_ASSERT_EQUAL(percent_of(shares, 2, 7), 6);
	CU_ASSERT_EQUAL(percent_of(shares, 2, 8), 0);
	CU_ASSERT_EQUAL(percent_of(shares, 1, 8), 0);
	CU_ASSERT_EQUAL(shares->n, 3);
	free(shares);
}

static void some_stand_for_all(void)
{
	struct ktr__shares *shares = made();

	add_some(shares, 1, 7, 1000000, 250);
	add_some(shares, 1, 8, 100000, 250);
	CU_ASSERT_EQUAL(percent_of(shares, 1, 7), 20);
	CU_ASSERT_EQUAL(percent_of(shares, 1, 8), 2);
	free(shares);
}

/* More pairs than there is room for: those that came before are counted on, and nothing turns round for ever. */
static void a_full_table_counts_what_it_has(void)
{
	struct ktr__shares *shares = made();

	for (uint64_t what = 1; what < 3 * KTR__SHARES_MAX; what++)
		add_some(shares, 1, what, 1, 1);
	CU_ASSERT_EQUAL(shares->n, KTR__SHARES_MAX);
	add_some(shares, 1, 1, 999999, 1);
	add_some(shares, 1, 3 * KTR__SHARES_MAX, 1000000, 1);
	CU_ASSERT_EQUAL(percent_of(shares, 1, 1), 20);
	CU_ASSERT_EQUAL(percent_of(shares, 1, 3 * KTR__SHARES_MAX), 0);
	ktr__shares_clear(shares);
	CU_ASSERT_EQUAL(percent_of(shares, 1, 1), 0);
	free(shares);
}

SUITE(shares, TEST(what_so_many_events_take), TEST(each_thread_and_function_has_its_own), TEST(some_stand_for_all),
      TEST(a_full_table_counts_what_it_has));
