/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the time of a thread went, from switches of which some are lost. */
#include "tests/unit/suite.h"

#include "analyze/stats/oncpu.h"
#include "analyze/read/tables.h"
#include "ktr/session/kernel_event.h"

#include <string.h>

#define MS 1000000u

static struct ktr__oncpu oncpu;
static struct ktr__oncpu_thread oncpu_threads[2];
static struct ktr_reader_site oncpu_site[KTR__KERNEL_SITES_END];
static struct ktr__thread oncpu_reader_row = { .thread = { .id = 1, .tid = 10, .pid = 10, .start_ns = MS } };

static uint8_t oncpu_kinds[KTR__KERNEL_SITES_END];

static void oncpu_begin(void)
{
	memset(&oncpu, 0, sizeof(oncpu));
	memset(oncpu_threads, 0, sizeof(oncpu_threads));
	for (unsigned i = 0; i < KTR__KERNEL_SITES_END; i++) {
		oncpu_site[i].id = i;
		oncpu_kinds[i] = (uint8_t)i;
	}
	oncpu.thread = oncpu_threads;
	oncpu.n_threads = 2;
	oncpu.kind = oncpu_kinds;
	oncpu.n_sites = KTR__KERNEL_SITES_END;
}

static void oncpu_at(unsigned ms, unsigned kind)
{
	struct ktr_event event = { .time_ns = (uint64_t)ms * MS,
				   .site = &oncpu_site[kind],
				   .thread = &oncpu_reader_row.thread };

	ktr__oncpu_see(&oncpu, &event);
}

static void an_absence_has_the_event_before_it(void)
{
	oncpu_begin();
	oncpu_at(1, KTR__KERNEL_IN);
	oncpu_at(10, KTR__KERNEL_NONE);
	oncpu_at(20, KTR__KERNEL_BLOCKED);
	oncpu_at(50, KTR__KERNEL_IN);
	oncpu_at(60, KTR__KERNEL_NONE);
	ktr__oncpu_finish(&oncpu);
	CU_ASSERT_EQUAL_FATAL(oncpu.n_absences, 1);
	CU_ASSERT_EQUAL(oncpu.absence[0].from_ns, 20 * MS);
	CU_ASSERT_EQUAL(oncpu.absence[0].ns, 30 * MS);
	CU_ASSERT_EQUAL(oncpu.absence[0].last.time_ns, 10 * MS);
}

/* The switch back was lost: what was recorded meanwhile is not before the absence, whose length nobody knows. */
static void who_records_is_not_away(void)
{
	oncpu_begin();
	oncpu_at(1, KTR__KERNEL_IN);
	oncpu_at(10, KTR__KERNEL_NONE);
	oncpu_at(20, KTR__KERNEL_BLOCKED);
	oncpu_at(60, KTR__KERNEL_NONE);
	oncpu_at(70, KTR__KERNEL_IN);
	oncpu_at(75, KTR__KERNEL_PREEMPTED);
	oncpu_at(80, KTR__KERNEL_NONE);
	ktr__oncpu_finish(&oncpu);
	for (unsigned i = 0; i < oncpu.n_absences; i++)
		CU_ASSERT_TRUE(!oncpu.absence[i].last.site ||
			       oncpu.absence[i].last.time_ns <= oncpu.absence[i].from_ns);
	CU_ASSERT_EQUAL(oncpu.n_absences, 0);
	CU_ASSERT_EQUAL(oncpu_threads[1].total_ns[KTR__ONCPU_OFF], 0);
	CU_ASSERT_EQUAL(oncpu_threads[1].total_ns[KTR__ONCPU_UNKNOWN], (40 + 10 + 5) * MS);
}

/* Clocks that differ by a little make nobody come back. */
static void a_skew_is_no_return(void)
{
	struct ktr_event event = { .time_ns = 20 * MS + 5000,
				   .site = &oncpu_site[KTR__KERNEL_NONE],
				   .thread = &oncpu_reader_row.thread };

	oncpu_begin();
	oncpu_at(1, KTR__KERNEL_IN);
	oncpu_at(20, KTR__KERNEL_BLOCKED);
	ktr__oncpu_see(&oncpu, &event);
	oncpu_at(50, KTR__KERNEL_IN);
	ktr__oncpu_finish(&oncpu);
	CU_ASSERT_EQUAL_FATAL(oncpu.n_absences, 1);
	CU_ASSERT_EQUAL(oncpu.absence[0].ns, 30 * MS);
}

SUITE(oncpu, TEST(an_absence_has_the_event_before_it), TEST(who_records_is_not_away), TEST(a_skew_is_no_return));
