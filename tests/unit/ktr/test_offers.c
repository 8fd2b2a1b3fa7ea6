/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a process is waited for that offers what it was asked for, by made-up times. */
#include "tests/unit/suite.h"

/* It is in no library that tests have. */
#include "ktr/provider/session/offers.c"

#define WAIT 2000u

static bool patient(struct offers_patience *patience, unsigned at, uint32_t n)
{
	return offers_patient(patience, 5000 + at, n, WAIT);
}

static void who_offers_nothing_is_given_up(void)
{
	struct offers_patience patience = { .end_ns = 0 };

	CU_ASSERT_TRUE(patient(&patience, 0, 7));
	CU_ASSERT_TRUE(patient(&patience, WAIT - 1, 7));
	CU_ASSERT_FALSE(patient(&patience, WAIT, 7));
}

static void who_goes_on_offering_is_waited_for(void)
{
	struct offers_patience patience = { .end_ns = 0 };

	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT_TRUE(patient(&patience, i * (WAIT - 1), 7 + i));
	CU_ASSERT_TRUE(patient(&patience, 20 * (WAIT - 1) - 1, 26));
	CU_ASSERT_FALSE(patient(&patience, 20 * (WAIT - 1) + 1, 26));
}

/* The number is what others have written. */
static void nobody_is_waited_for_without_an_end(void)
{
	struct offers_patience patience = { .end_ns = 0 };
	unsigned n = 0;

	while (n < 1000000 && patient(&patience, 10 * n, n))
		n++;
	CU_ASSERT_EQUAL(10 * n, OFFERS_PATIENCE * WAIT);
	patience = (struct offers_patience){ .end_ns = 0 };
	for (n = 0; n < 1000000 && patient(&patience, 10 * n, n % 2 ? 9 : 5); n++)
		;
	CU_ASSERT_TRUE(10 * n <= WAIT + 10);
}

SUITE(offers, TEST(who_offers_nothing_is_given_up), TEST(who_goes_on_offering_is_waited_for),
      TEST(nobody_is_waited_for_without_an_end));
