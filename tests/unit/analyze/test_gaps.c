/* SPDX-License-Identifier: BSD-2-Clause */
/* The longest gaps against a sorted list of all of them. */
#include "tests/unit/suite.h"

#include "analyze/stats/gaps.h"

#include <stdlib.h>
#include <string.h>

#define GAPS_EVENTS  5000
#define GAPS_THREADS 4

static int gaps_longer(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

static void gaps_expect(const struct ktr__gaps_list *list, uint64_t *all, size_t n, unsigned n_kept)
{
	qsort(all, n, sizeof(*all), gaps_longer);
	CU_ASSERT(list->n == (n < n_kept ? n : n_kept));
	for (unsigned i = 0; i < list->n; i++)
		CU_ASSERT(list->gap[i].to_ns - list->gap[i].from_ns == all[i]);
}

static void the_longest_are_kept(void)
{
	static uint64_t all[GAPS_THREADS + 1][GAPS_EVENTS];
	struct ktr_reader_thread thread[GAPS_THREADS];
	struct ktr_reader_site site = { .id = 1, .name = "x" };
	uint64_t last[GAPS_THREADS + 1] = { 0 }, now = 1000;
	size_t n[GAPS_THREADS + 1] = { 0 };
	struct ktr__gaps gaps;

	srandom(3);
	CU_ASSERT_FATAL(ktr__gaps_init(&gaps, 7, GAPS_THREADS) == 0);
	for (unsigned i = 0; i < GAPS_THREADS; i++)
		thread[i] = (struct ktr_reader_thread){ .id = i };
	for (unsigned i = 0; i < GAPS_EVENTS; i++) {
		unsigned id = i < 3 ? 3
				    : (unsigned)random() % 3; /* the last one has three events */
		struct ktr_event event = { .time_ns = now += (uint64_t)(random() % 1000 + 1),
					   .site = &site,
					   .thread = &thread[id] };

		CU_ASSERT(ktr__gaps_event(&gaps, &event) == 0);
		for (unsigned k = id;; k = GAPS_THREADS) {
			if (last[k])
				all[k][n[k]++] = now - last[k];
			last[k] = now;
			if (k == GAPS_THREADS)
				break;
		}
	}
	gaps_expect(&gaps.overall, all[GAPS_THREADS], n[GAPS_THREADS], 7);
	for (unsigned i = 0; i < GAPS_THREADS; i++)
		gaps_expect(&gaps.thread[i], all[i], n[i], 7);
	ktr__gaps_free(&gaps);
}

static void one_with_a_loss_in_it_is_unsure(void)
{
	struct ktr_reader_thread thread[2] = { { .id = 0 }, { .id = 1 } };
	struct ktr_reader_site site = { .id = 1, .name = "x" };
	struct ktr_event event = { .site = &site };
	const struct ktr_loss loss = { .n_events = 1, .from_ns = 11, .to_ns = 14 };
	struct ktr__gaps gaps;

	CU_ASSERT_FATAL(ktr__gaps_init(&gaps, 2, 2) == 0);
	for (unsigned i = 0; i < 4; i++) {
		event.time_ns = 10 + i * i;
		event.thread = &thread[i % 2];
		CU_ASSERT(ktr__gaps_event(&gaps, &event) == 0);
		if (i == 1)
			ktr__gaps_loss(&gaps, &loss);
	}
	/* 10, 11, a loss, 14, 19 */
	CU_ASSERT(gaps.overall.n == 2 && !gaps.overall.gap[0].unsure && gaps.overall.gap[1].unsure);
	CU_ASSERT(gaps.overall.gap[1].from_ns == 11 && gaps.overall.gap[1].to_ns == 14);
	CU_ASSERT(gaps.thread[0].n == 1 && gaps.thread[0].gap[0].unsure);
	ktr__gaps_free(&gaps);
}

/* A thread that records on CPU 1 alone knows what it did while CPU 0, or the other ring of CPU 1, lost events. */
static void losses_of_other_rings_are_not_its_own(void)
{
	struct ktr_reader_thread thread[2] = { { .id = 0 }, { .id = 1 } };
	struct ktr_reader_site site = { .id = 1, .name = "x" };
	struct ktr_event event = { .site = &site };
	const struct ktr_loss loss[] = { { .cpu = 0, .n_events = 1, .from_ns = 10, .to_ns = 14 },
					 { .cpu = 1, .keep = 1, .n_events = 1, .from_ns = 10, .to_ns = 14 } };
	struct ktr__gaps gaps;

	CU_ASSERT_FATAL(ktr__gaps_init(&gaps, 2, 2) == 0);
	for (unsigned i = 0; i < 4; i++) {
		event.time_ns = 10 + i * i;
		event.thread = &thread[i % 2];
		event.cpu = i % 2;
		CU_ASSERT(ktr__gaps_event(&gaps, &event) == 0);
		if (i == 1) {
			ktr__gaps_loss(&gaps, &loss[0]);
			ktr__gaps_loss(&gaps, &loss[1]);
		}
	}
	CU_ASSERT(gaps.thread[0].n == 1 && gaps.thread[0].gap[0].unsure);
	CU_ASSERT(gaps.thread[1].n == 1 && !gaps.thread[1].gap[0].unsure);
	ktr__gaps_free(&gaps);
}

SUITE(gaps, TEST(the_longest_are_kept), TEST(one_with_a_loss_in_it_is_unsure),
      TEST(losses_of_other_rings_are_not_its_own));
