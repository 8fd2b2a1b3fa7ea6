/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that have perf events: followed.c, with an opener that does its work when it is told to. */
#include "ktr/provider/profile/followed.c"
#include "tests/unit/suite.h"

#include <sys/wait.h>

#define PERIOD_NS 1000000

static struct ktr__opener_work work;
static unsigned n_opened;
static int answer;	     /* of the kernel, to who opens */
static uint64_t once_ns;     /* until the first sample, of what was opened last */
static struct perf_event_mmap_page page;

int ktr__opener_start(const struct ktr__opener_work *asked, struct ktr_error *why)
{
	(void)why;
	work = *asked;
	return 0;
}

void ktr__opener_stop(void)
{
}

void ktr__opener_wake(void)
{
}

void ktr__opener_wait(uint64_t ns)
{
	(void)ns;
	work.serve();
}

bool ktr__opener_runs(void)
{
	return true;
}

bool ktr__opener_may(void)
{
	return true;
}

void ktr__opener_forked(void)
{
}

int ktr__task_event_open(struct ktr__task_event *event, const struct ktr__task_event_ask *ask)
{
	n_opened++;
	*event = (struct ktr__task_event){ .map = answer ? NULL : &page };
	if (ask->once)
		once_ns = ask->period_ns;
	return answer;
}

void ktr__task_event_close(struct ktr__task_event *event)
{
	event->map = NULL;
}

void ktr__task_event_forked(void)
{
}

static unsigned n_seen;
static uint32_t seen_state;

static void see(struct ktr__followed *thread, uint32_t state)
{
	(void)thread;
	n_seen++;
	seen_state = state;
}

static struct ktr__followed *begin(void)
{
	const struct ktr__followed_ask ask = { .period_ns = PERIOD_NS, .clock = CLOCK_MONOTONIC };

	answer = 0;
	n_opened = n_seen = 0;
	CU_ASSERT_EQUAL(ktr__followed_start(&ask, NULL), 0);
	return followed_place((uint32_t)gettid());
}

static void end(void)
{
	ktr__followed_stop();
	CU_ASSERT_FALSE(ktr__followed_has((uint32_t)gettid()));
	ktr__followed_each(see);
}

static void a_thread_that_begins_waits_for_nobody(void)
{
	struct ktr__followed *own = begin();

	CU_ASSERT_EQUAL(ktr__followed_arm(), 0);
	CU_ASSERT_EQUAL(n_opened, 0);
	CU_ASSERT_EQUAL(ktr__followed_arm(), -EEXIST);
	ktr__followed_settle();
	CU_ASSERT_EQUAL(n_opened, 2);
	CU_ASSERT_EQUAL(ktr__followed_adopt(own), 0);
	CU_ASSERT(own->event.map && own->first.map && !own->next.map);
	end();
	CU_ASSERT_EQUAL(n_seen, 0);
}

/* What it ran until then was due, and the next sample comes when that is. */
static void what_was_due_before_the_event_is_known(void)
{
	struct ktr__followed *own = begin();
	uint64_t before, after;

	CU_ASSERT_EQUAL(ktr__followed_arm(), 0);
	while (followed_clock(CLOCK_THREAD_CPUTIME_ID) < own->first_ns + 3 * PERIOD_NS)
		;
	before = ktr__followed_due(own, followed_clock(CLOCK_THREAD_CPUTIME_ID));
	ktr__followed_settle();
	after = ktr__followed_due(own, followed_clock(CLOCK_THREAD_CPUTIME_ID));
	CU_ASSERT(before >= 4);
	CU_ASSERT(own->n_late >= before && own->n_late <= after);
	CU_ASSERT(once_ns > 0 && once_ns <= PERIOD_NS);
	end();
}

static void one_that_ends_before_its_event_stays_until_that_is_told(void)
{
	struct ktr__followed *own = begin();
	struct ktr__ticks_told told;

	CU_ASSERT_EQUAL(ktr__followed_arm(), 0);
	CU_ASSERT_EQUAL(ktr__followed_disarm(&told), KTR__FOLLOWED_IS_TOLD);
	answer = -ESRCH;
	ktr__followed_settle();
	CU_ASSERT_EQUAL(ktr__followed_adopt(own), -ESRCH);
	ktr__followed_gone(own);
	ktr__followed_each(see);
	CU_ASSERT(n_seen == 1 && seen_state == KTR__FOLLOWED_ENDED);
	CU_ASSERT(own->end_cpu_ns > 0 && own->end_ns > 0);
	ktr__followed_let_go(own);
	/* One that says nothing is let go. */
	answer = 0;
	CU_ASSERT_EQUAL(ktr__followed_arm(), 0);
	ktr__followed_gone(own);
	CU_ASSERT_FALSE(ktr__followed_has((uint32_t)gettid()));
	end();
}

/* By another thread, which has not come further than to its place. */
static void one_that_ends_while_it_is_taken_in_has_ended(void)
{
	struct ktr__followed *own = begin();
	struct ktr__ticks_told told;
	uint32_t whose = 0;

	CU_ASSERT_PTR_EQUAL(followed_take((uint32_t)gettid(), &whose), own);
	CU_ASSERT_EQUAL(ktr__followed_arm(), -EEXIST);
	CU_ASSERT_EQUAL(ktr__followed_disarm(&told), KTR__FOLLOWED_IS_TOLD);
	ktr__followed_each(see);
	CU_ASSERT_EQUAL(n_seen, 0);
	followed_begin(own, false);
	ktr__followed_each(see);
	CU_ASSERT(n_seen == 1 && seen_state == KTR__FOLLOWED_ENDED);
	CU_ASSERT(own->end_ns > 0);
	end();
}

static void where_one_is_refused_others_do_not_try(void)
{
	struct ktr__followed *own = begin();
	struct ktr__ticks_told told;

	CU_ASSERT_EQUAL(ktr__followed_arm(), 0);
	answer = -EMFILE;
	ktr__followed_settle();
	CU_ASSERT_EQUAL(ktr__followed_adopt(own), -EMFILE);
	own->n_told = 7;
	CU_ASSERT_FALSE(ktr__followed_told(own, own->tid, &told));
	CU_ASSERT(ktr__followed_refuse(own));
	CU_ASSERT(ktr__followed_told(own, own->tid, &told));
	CU_ASSERT_FALSE(ktr__followed_told(own, own->tid + 1, &told));
	told.n = 0;
	CU_ASSERT_EQUAL(ktr__followed_disarm(&told), KTR__FOLLOWED_WAS_REFUSED);
	CU_ASSERT(told.n == 7 && told.first_ns == own->first_ns);
	CU_ASSERT_EQUAL(ktr__followed_disarm(&told), KTR__FOLLOWED_STRANGER);
	CU_ASSERT_FALSE(ktr__followed_has((uint32_t)gettid()));
	CU_ASSERT_EQUAL(ktr__followed_arm(), -EMFILE);
	ktr__followed_retry();
	CU_ASSERT_EQUAL(ktr__followed_arm(), 0);
	end();
}

/* What it had is its parent's; a place that was taken there is nobody's here, and it may begin anew. */
static void in_the_child_of_a_fork_nobody_is_there(void)
{
	const struct ktr__followed_ask ask = { .period_ns = PERIOD_NS, .clock = CLOCK_MONOTONIC };
	struct ktr__followed *own = begin();
	int status = 0;
	pid_t pid;

	CU_ASSERT_EQUAL(ktr__followed_arm(), 0);
	ktr__followed_settle();
	CU_ASSERT_EQUAL(ktr__followed_adopt(own), 0);
	pid = fork();
	if (pid == 0) {
		uint32_t parent = (uint32_t)getppid();
		struct ktr__ticks_told told;

		ktr__followed_forked();
		ktr__followed_each(see);
		if (n_seen || ktr__followed_has(parent) || ktr__followed_has((uint32_t)gettid()))
			_exit(1);
		if (ktr__followed_disarm(&told) || ktr__followed_arm() != -ESRCH ||
		    ktr__followed_add(parent, false))
			_exit(2);
		if (ktr__followed_start(&ask, NULL) || ktr__followed_arm())
			_exit(3);
		n_opened = 0;
		ktr__followed_settle();
		ktr__followed_each(see);
		_exit(n_seen == 1 && n_opened == 2 ? 0 : 4);
	}
	CU_ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(own->event.map && ktr__followed_has((uint32_t)gettid()));
	end();
}

SUITE(followed, TEST(a_thread_that_begins_waits_for_nobody), TEST(what_was_due_before_the_event_is_known),
      TEST(one_that_ends_before_its_event_stays_until_that_is_told),
      TEST(one_that_ends_while_it_is_taken_in_has_ended), TEST(where_one_is_refused_others_do_not_try),
      TEST(in_the_child_of_a_fork_nobody_is_there));
