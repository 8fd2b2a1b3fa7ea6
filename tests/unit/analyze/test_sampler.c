/* SPDX-License-Identifier: BSD-2-Clause */
/* What samples stand for: what was due to a thread is shared by stacks that follow each other. */
#include "analyze/stats/sampler.h"
#include "ktr/session/kernel_event.h"
#include "tests/unit/suite.h"

#include <string.h>

#define TICK_NS 200u

static const struct ktr_reader_site site = {
	.class_name = "profile",
	.file = "profile",
	.func = "profile-4999",
	.n_args = 4,
	.arg = { { "ticks", KTR_ARG_U32 },
		 { "ns", KTR_ARG_I64 },
		 { "how", KTR_ARG_STR },
		 { "stack", KTR_ARG_STACK } },
};
static const struct ktr_reader_thread threads[2] = { { .id = 1, .name = "one" }, { .id = 2, .name = "two" } };

struct told {
	unsigned n;
	uint64_t at_ns[40], n_ticks[40], ns[40], pc[40];
	const struct ktr_reader_thread *thread[40];
	enum ktr__sample_how how[40];
};

static int found(void *context, const struct ktr_event *event, const struct ktr__sample *sample)
{
	struct told *told = context;

	told->at_ns[told->n] = event->time_ns;
	told->thread[told->n] = event->thread;
	told->n_ticks[told->n] = sample->n_ticks;
	told->ns[told->n] = sample->ns;
	told->how[told->n] = sample->how;
	if (sample->stack && sample->stack->n_bytes)
		memcpy(&told->pc[told->n], sample->stack->bytes, sizeof(told->pc[0]));
	told->n++;
	return 0;
}

/* The bytes of its stack are gone after the call, as a reader's are. */
static void sampled(struct ktr__sampler *sampler, unsigned thread, uint64_t ns, uint64_t n_ticks, const char *how)
{
	struct ktr_event event = { .time_ns = ns,
				   .site = &site,
				   .thread = &threads[thread],
				   .arg = { n_ticks, n_ticks * TICK_NS } };
	uint64_t pc = ns;

	event.str[2] = (struct ktr_event_bytes){ how, (uint32_t)strlen(how), 0, 0 };
	event.str[3].bytes = (const char *)&pc;
	event.str[3].n_bytes = strcmp(how, "user") == 0 ? sizeof(pc) : 0;
	CU_ASSERT_EQUAL(ktr__sampler_event(sampler, &event), 1);
}

static void ends(struct ktr__sampler *sampler, const struct told *told, uint64_t n_ticks)
{
	uint64_t ns = n_ticks * TICK_NS;

	CU_ASSERT_EQUAL(ktr__sampler_finish(sampler), 0);
	for (unsigned i = 0; i < told->n; i++) {
		CU_ASSERT(!told->pc[i] || told->pc[i] == told->at_ns[i]);
		n_ticks -= told->n_ticks[i];
		ns -= told->ns[i];
	}
	CU_ASSERT(n_ticks == 0 && ns == 0);
	ktr__sampler_free(sampler);
}

static void stacks_of_a_thread_share_alike(void)
{
	struct told told = { 0 };
	struct ktr__sampler sampler = { .found = found, .context = &told };

	sampled(&sampler, 0, 1000, 1, "user");
	sampled(&sampler, 1, 1001, 1, "user");
	sampled(&sampler, 0, 1002, 20, "user");
	sampled(&sampler, 1, 1003, 2, "user");
	sampled(&sampler, 0, 1004, 4, "user");
	CU_ASSERT_EQUAL(told.n, 0);
	ends(&sampler, &told, 1 + 1 + 20 + 2 + 4);
	CU_ASSERT_EQUAL(told.n, 5);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT(told.at_ns[i] == 1000 + 2 * i && told.thread[i] == &threads[0] &&
			  told.ns[i] / 2 == 25 * TICK_NS / 6 && told.n_ticks[i] >= 8 && told.n_ticks[i] <= 9);
	for (unsigned i = 3; i < 5; i++)
		CU_ASSERT(told.at_ns[i] == 1001 + 2 * (i - 3) && told.thread[i] == &threads[1] &&
			  told.ns[i] == 3 * TICK_NS / 2);
}

/* Those of a moment do: what comes much later has what it brings. */
static void only_those_that_follow_each_other_share(void)
{
	struct told told = { 0 };
	struct ktr__sampler sampler = { .found = found, .context = &told };

	for (unsigned i = 0; i < 31; i++)
		sampled(&sampler, 0, 1000 + i, 1, "user");
	CU_ASSERT_EQUAL(told.n, 0);
	sampled(&sampler, 0, 1031, 33, "user");
	CU_ASSERT_EQUAL(told.n, 32);
	sampled(&sampler, 0, 1032, 5, "user");
	ends(&sampler, &told, 31 + 33 + 5);
	CU_ASSERT(told.n == 33 && told.ns[0] == 2 * TICK_NS && told.ns[31] == 2 * TICK_NS);
	CU_ASSERT_EQUAL(told.ns[32], 5 * TICK_NS);
}

/* What has no stack shares nothing, and parts those before it from those after it. */
static void what_has_no_stack_is_as_it_came(void)
{
	struct told told = { 0 };
	struct ktr__sampler sampler = { .found = found, .context = &told };

	sampled(&sampler, 0, 1000, 4, "user");
	sampled(&sampler, 0, 1001, 10, "blocked");
	sampled(&sampler, 0, 1002, 3, "user");
	sampled(&sampler, 0, 1003, 7, "missed");
	CU_ASSERT(told.n == 4 && told.n_ticks[0] == 4 && told.n_ticks[1] == 10 && told.n_ticks[2] == 3 &&
		  told.n_ticks[3] == 7);
	ends(&sampler, &told, 24);
}

/* One is held when it ends before its time. */
static void what_is_held_is_given_back(void)
{
	struct told told = { 0 };
	struct ktr__sampler sampler = { .found = found, .context = &told };

	sampled(&sampler, 0, 1000, 4, "user");
	ktr__sampler_free(&sampler);
	CU_ASSERT_EQUAL(told.n, 0);
}

static void kernel(struct ktr__sampler *sampler, enum ktr__kernel_site kind, uint64_t ns)
{
	const struct ktr_reader_site of = { .file = KTR_KERNEL_FILE,
					    .line = (uint32_t)kind,
					    .func = "",
					    .class_name = kind >= KTR__KERNEL_MINOR ? KTR_KERNEL_FAULT_CLASS :
										      KTR_KERNEL_SWITCH_CLASS };
	struct ktr_event event = { .time_ns = ns, .site = &of, .thread = &threads[0], .arg = { 0, 0, 0, 4096 } };

	CU_ASSERT_EQUAL(ktr__sampler_event(sampler, &event), 1);
}

/* How a wait, which is not the first, counts where the kernel tells of a fault so long after it. */
static enum ktr__sample_how waited(enum ktr__kernel_site fault, uint64_t late_ns)
{
	struct told told = { 0 };
	struct ktr__sampler sampler = { .found = found, .context = &told, .wants_off = 1 };

	kernel(&sampler, KTR__KERNEL_IN, 1000);
	kernel(&sampler, KTR__KERNEL_BLOCKED, 2000);
	kernel(&sampler, KTR__KERNEL_IN, 3000);
	kernel(&sampler, KTR__KERNEL_BLOCKED, 103000);
	kernel(&sampler, KTR__KERNEL_IN, 104000);
	kernel(&sampler, fault, 104000 + late_ns);
	kernel(&sampler, KTR__KERNEL_EXIT, 200000000);
	CU_ASSERT(told.n == 2 && told.ns[0] == 1000 && told.ns[1] == 1000 && told.how[0] == KTR__SAMPLE_ASLEEP);
	ktr__sampler_free(&sampler);
	return told.how[1];
}

static void a_fault_is_what_was_waited_for_before_it(void)
{
	CU_ASSERT_EQUAL(waited(KTR__KERNEL_MINOR, 10000), KTR__SAMPLE_FAULT);
	CU_ASSERT_EQUAL(waited(KTR__KERNEL_MINOR, 150000), KTR__SAMPLE_FAULT);
	CU_ASSERT_EQUAL(waited(KTR__KERNEL_MINOR, 1000000), KTR__SAMPLE_ASLEEP);
	CU_ASSERT_EQUAL(waited(KTR__KERNEL_MAJOR, 1000000), KTR__SAMPLE_FAULT);
	CU_ASSERT_EQUAL(waited(KTR__KERNEL_MAJOR, 50000000), KTR__SAMPLE_ASLEEP);
}

/* Who waited for a page, and then for a CPU, waited for the page first; a fault soon after takes nothing more. */
static void a_fault_is_not_the_wait_for_a_cpu_after_it(void)
{
	struct told told = { 0 };
	struct ktr__sampler sampler = { .found = found, .context = &told, .wants_off = 1 };

	kernel(&sampler, KTR__KERNEL_IN, 1000);
	kernel(&sampler, KTR__KERNEL_BLOCKED, 300000);
	kernel(&sampler, KTR__KERNEL_IN, 302000);
	kernel(&sampler, KTR__KERNEL_BLOCKED, 400000);
	kernel(&sampler, KTR__KERNEL_IN, 500000);
	kernel(&sampler, KTR__KERNEL_PREEMPTED, 600000);
	kernel(&sampler, KTR__KERNEL_IN, 700000);
	kernel(&sampler, KTR__KERNEL_MINOR, 800000);
	kernel(&sampler, KTR__KERNEL_MINOR, 810000);
	kernel(&sampler, KTR__KERNEL_EXIT, 900000);
	CU_ASSERT_FATAL(told.n == 3);
	CU_ASSERT(told.how[0] == KTR__SAMPLE_ASLEEP && told.how[1] == KTR__SAMPLE_FAULT);
	CU_ASSERT_EQUAL(told.how[2], KTR__SAMPLE_READY);
	CU_ASSERT(told.ns[0] == 2000 && told.ns[1] == 100000 && told.ns[2] == 100000);
	ktr__sampler_free(&sampler);
}

SUITE(sampler, TEST(stacks_of_a_thread_share_alike), TEST(only_those_that_follow_each_other_share),
      TEST(what_has_no_stack_is_as_it_came), TEST(what_is_held_is_given_back),
      TEST(a_fault_is_what_was_waited_for_before_it), TEST(a_fault_is_not_the_wait_for_a_cpu_after_it));
