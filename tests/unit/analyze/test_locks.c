/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of locks of which not all is told. */
#include "analyze/lock/lock_halves.h"
#include "tests/unit/suite.h"

static struct ktr__lock_halves halves;

static struct ktr__lock_event event_of(enum ktr__lock_what what, const struct ktr_event *event)
{
	return (struct ktr__lock_event){ .event = event, .kind = KTR__LOCK_MUTEX, .what = what, .proc = 7 };
}

static int is_half(enum ktr__lock_what what, uint64_t ms)
{
	const struct ktr_event event = { .time_ns = ms * 1000000 };
	struct ktr__lock_event e = event_of(what, &event);

	CU_ASSERT_EQUAL(ktr__lock_halves_event(&halves, &e), 0);
	return ktr__lock_is_half(&halves, &e);
}

/* Where one of two is off the other says nothing; after a moment its events tell that it is on again. */
static void halves_of_locks(void)
{
	const struct ktr_event event = { .time_ns = 10 * 1000000 };
	struct ktr__lock_event e = event_of(KTR__LOCK_OFF, &event), other;

	CU_ASSERT(!is_half(KTR__LOCK_GIVE, 9));
	e.off = KTR__LOCK_TAKE;
	CU_ASSERT_EQUAL(ktr__lock_halves_event(&halves, &e), 0);
	CU_ASSERT(ktr__lock_ends_owners(&e) && !ktr__lock_ends_waits(&e));
	CU_ASSERT(is_half(KTR__LOCK_TAKE, 11) && is_half(KTR__LOCK_GIVE, 11));
	CU_ASSERT(!is_half(KTR__LOCK_BLOCK, 11) && !is_half(KTR__LOCK_BLOCKED, 11));
	other = event_of(KTR__LOCK_TAKE, &event);
	other.proc = 8;
	CU_ASSERT(!ktr__lock_is_half(&halves, &other));
	other = event_of(KTR__LOCK_GIVE, &event);
	other.kind = KTR__LOCK_RW;
	CU_ASSERT(!ktr__lock_is_half(&halves, &other));
	CU_ASSERT(is_half(KTR__LOCK_GIVE, 2000)); /* that it is told says nothing of the other */
	CU_ASSERT(!is_half(KTR__LOCK_TAKE, 2001) && !is_half(KTR__LOCK_GIVE, 2002));
	ktr__lock_halves_free(&halves);
	halves = (struct ktr__lock_halves){ .processes = { 0 } };
}

SUITE(locks, TEST(halves_of_locks));
