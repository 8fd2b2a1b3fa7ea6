/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers of threads: what is due to one that nobody's signal has told of is known as it ends. */
#include "ktr/provider/timer/threads.c"
#include "tests/unit/suite.h"

#include <signal.h>

#define PERIOD_NS 1000000

/* The signal is blocked: none comes before the thread ends. */
static void begin(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	pthread_sigmask(SIG_BLOCK, &set, before);
	CU_ASSERT_EQUAL(ktr__profile_start(SIGRTMAX, PERIOD_NS), 0);
}

/* What came anyway is thrown away. */
static void end(const sigset_t *before)
{
	const struct timespec none = { 0, 0 };
	sigset_t set;

	ktr__profile_stop();
	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	while (sigtimedwait(&set, NULL, &none) > 0)
		;
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static uint64_t burn(uint64_t until_ns)
{
	uint64_t now;

	while ((now = threads_ns(CLOCK_THREAD_CPUTIME_ID)) < until_ns)
		;
	return now;
}

static void all_that_was_due_is_missing_where_nothing_came(void)
{
	uint32_t tid = (uint32_t)gettid();
	uint64_t first_ns, n, after;
	sigset_t before;

	begin(&before);
	CU_ASSERT_EQUAL(ktr__profile_arm(NULL), 0);
	CU_ASSERT(ktr__profile_has(tid));
	first_ns = threads_own()->first_ns;
	burn(first_ns + 3 * PERIOD_NS);
	n = ktr__profile_disarm(NULL);
	after = threads_due(threads_ns(CLOCK_THREAD_CPUTIME_ID), first_ns, PERIOD_NS);
	CU_ASSERT(n >= 4 && n <= after);
	CU_ASSERT_FALSE(ktr__profile_has(tid));
	CU_ASSERT_EQUAL(ktr__profile_disarm(NULL), 0);
	end(&before);
}

/* Somebody else has told five of it, and it ends: without a timer, with one, and where it was to have none. */
static void what_follows_that_somebody_else_told_is_missing(void)
{
	uint32_t tid = (uint32_t)gettid();

	for (unsigned way = 0; way < 3; way++) {
		struct ktr__ticks_told told;
		uint64_t n, least, most;
		sigset_t before;

		begin(&before);
		told = (struct ktr__ticks_told){ threads_ns(CLOCK_THREAD_CPUTIME_ID), 5 };
		burn(told.first_ns + 6 * PERIOD_NS);
		if (way == 1)
			CU_ASSERT_EQUAL(ktr__profile_go_on(tid, &told), 0);
		if (way == 2)
			ktr__profile_refuse(tid);
		least = threads_due(burn(told.first_ns + 8 * PERIOD_NS), told.first_ns, PERIOD_NS);
		n = 5 + ktr__profile_disarm(&told);
		most = threads_due(threads_ns(CLOCK_THREAD_CPUTIME_ID), told.first_ns, PERIOD_NS);
		CU_ASSERT(least >= 9 && n >= least && n <= most);
		CU_ASSERT_FALSE(ktr__profile_has(tid));
		end(&before);
	}
}

SUITE(threads, TEST(all_that_was_due_is_missing_where_nothing_came),
      TEST(what_follows_that_somebody_else_told_is_missing));
