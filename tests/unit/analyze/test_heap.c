/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory by events that are made up: what is in use, what was at the peak, what realloc(3) leaves, processes. */
#include "analyze/heap/heap.h"
#include "analyze/read/tables.h"
#include "tests/unit/suite.h"

#include <string.h>

static struct ktr__heap heap;
static struct ktr__process process[2];
static struct ktr__thread thread[4]; /* the last is of the second process */
static uint64_t now_ns;

static void begin(void)
{
	memset(thread, 0, sizeof(thread));
	memset(process, 0, sizeof(process));
	for (unsigned i = 0; i < 4; i++) {
		thread[i].thread.id = i + 1;
		thread[i].proc = i / 3;
		thread[i].process = &process[i / 3];
	}
	heap = (struct ktr__heap){ .next_end_ns = UINT64_MAX };
	now_ns = 1000;
}

static void tell(unsigned by, enum ktr__heap_what what, uint64_t block, uint64_t size, uint64_t caller)
{
	const struct ktr_event event = { .time_ns = now_ns += 10, .thread = &thread[by].thread };
	const struct ktr__heap_event e = { .event = &event, .what = what, .block = block, .size = size,
					   .caller = caller, .proc = thread[by].proc,
					   .period = what == KTR__HEAP_SAMPLED ? 1000 : 0 };

	CU_ASSERT_EQUAL(ktr__heap_take(&heap, &e), 0);
}

static void got(unsigned by, uint64_t block, uint64_t size, uint64_t caller)
{
	tell(by, KTR__HEAP_GOT, block, size, caller);
}

static void gives(unsigned by, uint64_t block)
{
	tell(by, KTR__HEAP_GIVES, block, 0, 0);
}

static const struct ktr__heap_place *place(uint64_t caller)
{
	for (size_t i = 0; i < heap.places.n; i++)
		if (ktr__heap_place(&heap, i)->stack.pc[0] == caller)
			return ktr__heap_place(&heap, i);
	return NULL;
}

static int is(const struct ktr__heap_sum *sum, double n, double bytes)
{
	return sum->n == n && sum->bytes == bytes;
}

static void end(void)
{
	ktr__heap_free(&heap);
}

static void what_is_in_use(void)
{
	begin();
	got(0, 0x100, 10, 1);
	got(0, 0x200, 20, 1);
	got(1, 0x300, 30, 2);
	gives(0, 0x100);
	gives(1, 0x200); /* another thread's */
	gives(1, 0x900); /* nobody's */
	got(0, 0x300, 40, 1); /* whose end was not seen */
	ktr__heap_finish(&heap);
	CU_ASSERT(is(&heap.got, 4, 100) && is(&heap.gave, 2, 30) && is(&heap.live, 1, 40));
	CU_ASSERT(is(&place(1)->live, 1, 40) && is(&place(2)->live, 0, 0) && is(&place(1)->got, 3, 70));
	CU_ASSERT_EQUAL(place(1)->n_other, 1);
	CU_ASSERT_EQUAL(place(1)->n_brief, 0); /* its thread had got another one, and the other gave it back */
	CU_ASSERT_EQUAL(place(1)->age_ns, 30 + 30);
	CU_ASSERT(heap.n_unknown == 1 && heap.n_unseen == 1);
	end();
}

static void brief_ones(void)
{
	begin();
	got(0, 0x100, 10, 1);
	gives(0, 0x100);
	got(0, 0x100, 10, 1);
	got(0, 0x200, 10, 1);
	gives(0, 0x100);
	gives(0, 0x200);
	CU_ASSERT_EQUAL(place(1)->n_brief, 2);
	end();
}

/* Each place has at the peak what it had then, whether it changed before, after, or never again. */
static void at_the_peak(void)
{
	begin();
	got(0, 0x100, 100, 1);
	got(0, 0x200, 200, 2);
	gives(0, 0x100);
	got(0, 0x300, 300, 3); /* 500: the peak so far */
	gives(0, 0x200);
	got(0, 0x400, 250, 1); /* 550 */
	got(0, 0x500, 1, 4);   /* 551: the peak */
	gives(0, 0x400);
	gives(0, 0x500);
	got(0, 0x600, 7, 5);
	ktr__heap_finish(&heap);
	CU_ASSERT(is(&heap.peak, 3, 551));
	CU_ASSERT_EQUAL(heap.peak_ns, 1070);
	CU_ASSERT(is(&place(1)->peak, 1, 250) && is(&place(2)->peak, 0, 0) && is(&place(3)->peak, 1, 300));
	CU_ASSERT(is(&place(4)->peak, 1, 1) && is(&place(5)->peak, 0, 0));
	end();
}

static void moved(void)
{
	begin();
	got(0, 0x100, 100, 1);
	tell(0, KTR__HEAP_MOVES, 0x100, 200, 2);
	got(1, 0x100, 5, 3); /* the address has gone to another already */
	got(0, 0x200, 200, 2);
	CU_ASSERT(is(&place(1)->live, 0, 0) && is(&place(2)->live, 1, 200) && is(&place(3)->live, 1, 5));
	CU_ASSERT(heap.n_moved == 1 && heap.n_unseen == 0 && is(&heap.gave, 1, 100));
	/* It could not be moved. */
	tell(0, KTR__HEAP_MOVES, 0x200, 1000, 2);
	tell(0, KTR__HEAP_FAILED, 0, 1000, 2);
	CU_ASSERT(is(&place(2)->live, 1, 200) && is(&heap.gave, 1, 100) && heap.n_failed == 1);
	CU_ASSERT_EQUAL(place(2)->n_brief, 0);
	/* It was to be given back, which has no answer but none. */
	tell(0, KTR__HEAP_MOVES, 0x200, 0, 2);
	tell(0, KTR__HEAP_FAILED, 0, 0, 2);
	CU_ASSERT(is(&place(2)->live, 0, 0) && heap.n_failed == 1);
	/* A failure that is none of a block's. */
	tell(0, KTR__HEAP_FAILED, 0, 77, 2);
	CU_ASSERT(is(&place(2)->live, 0, 0) && heap.n_failed == 2);
	end();
}

/* What the answer to a move was is not known where events are lost: nothing comes back to life. */
static void moved_and_lost(void)
{
	const struct ktr_loss loss = { .n_events = 3, .from_ns = 1030, .to_ns = 1040 };
	struct ktr__heap sink;

	begin();
	CU_ASSERT_EQUAL(ktr__heap_init(&sink, NULL), 0);
	heap.sink = sink.sink;
	got(0, 0x100, 100, 1);
	tell(0, KTR__HEAP_MOVES, 0x100, 200, 1);
	heap.sink.loss(&heap.sink, &loss);
	tell(0, KTR__HEAP_FAILED, 0, 77, 2);
	CU_ASSERT(is(&heap.live, 0, 0) && heap.n_lost == 3);
	ktr__heap_free(&sink);
	end();
}

/* Of a trace of all blocks and of samples one kind counts. */
static void two_kinds(void)
{
	begin();
	got(0, 0x100, 100, 1);
	tell(0, KTR__HEAP_SAMPLED, 0x100, 100, 1);
	tell(0, KTR__HEAP_GAVE, 0x100, 0, 0);
	CU_ASSERT(is(&heap.got, 1, 100) && is(&heap.live, 1, 100) && heap.n_other == 2);
	end();
}

/* A sample of s bytes, one in p, is for 1 / (1 - e^(-s/p)) blocks. */
static void samples(void)
{
	begin();
	tell(0, KTR__HEAP_SAMPLED, 0x100, 1, 1);
	CU_ASSERT_DOUBLE_EQUAL(heap.got.bytes, 1000.5, 0.01);
	tell(0, KTR__HEAP_SAMPLED, 0x200, 100000, 1);
	CU_ASSERT_DOUBLE_EQUAL(heap.got.bytes, 101000.5, 0.01);
	tell(0, KTR__HEAP_GAVE, 0x100, 0, 0);
	CU_ASSERT_DOUBLE_EQUAL(heap.live.bytes, 100000, 0.01);
	end();
}

/* What a process had when it ended is told, and is no part of later peaks. */
static void processes(void)
{
	begin();
	process[0].end.exit_ns = 1025;
	got(0, 0x100, 100, 1);
	got(0, 0x200, 100, 1); /* at 1,020 */
	got(3, 0x100, 150, 2); /* of the other one */
	got(3, 0x300, 49, 3);
	ktr__heap_finish(&heap);
	CU_ASSERT(is(&heap.live, 4, 399) && is(&heap.peak, 2, 200) && heap.peak_ns == 1020);
	CU_ASSERT(is(&place(1)->live, 2, 200) && is(&place(1)->peak, 2, 200) && is(&place(2)->peak, 0, 0));
	got(3, 0x400, 2, 3);
	ktr__heap_finish(&heap);
	CU_ASSERT(is(&heap.peak, 3, 201) && is(&place(1)->peak, 0, 0) && is(&place(2)->peak, 1, 150));
	end();
}

/* ---- what is mapped ---- */

static const struct ktr__heap_place *mapper(uint64_t caller)
{
	for (size_t i = 0; i < heap.mapped.places.n; i++) {
		const struct ktr__heap_place *at =
			(const struct ktr__heap_place *)(const void *)heap.mapped.places.row[i];

		if (at->stack.pc[0] == caller)
			return at;
	}
	return NULL;
}

/* Pages from the middle leave two pieces, which are one again where it failed; not with another call's. */
static void mapped_by_parts(void)
{
	begin();
	tell(0, KTR__HEAP_MAPPED, 0x10000, 5 * 4096, 1);
	tell(0, KTR__HEAP_MAPPED, 0x15000, 4096, 1);
	tell(0, KTR__HEAP_UNMAPS, 0x11000, 4096, 2);
	tell(0, KTR__HEAP_MAP_FAILED, 0, 4096, 2);
	CU_ASSERT(is(&heap.mapped.live, 2, 6 * 4096) && is(&mapper(1)->live, 2, 6 * 4096));
	tell(0, KTR__HEAP_UNMAPS, 0x11000, 2 * 4096, 2);
	tell(0, KTR__HEAP_MAPPED, 0x20000, 1, 3);
	CU_ASSERT(is(&mapper(1)->live, 3, 4 * 4096) && is(&mapper(3)->live, 1, 4096));
	CU_ASSERT(is(&heap.mapped.live, 4, 5 * 4096) && is(&heap.mapped.peak, 2, 6 * 4096));
	/* Both pieces, and a hole between them that nobody has. */
	tell(0, KTR__HEAP_UNMAPS, 0x10000, 5 * 4096, 2);
	CU_ASSERT_EQUAL(heap.mapped.unknown_bytes, 2 * 4096);
	tell(0, KTR__HEAP_MAP_FAILED, 0, 5 * 4096, 2);
	CU_ASSERT(is(&mapper(1)->live, 3, 4 * 4096));
	tell(0, KTR__HEAP_UNMAPS, 0x10000, 6 * 4096, 2);
	CU_ASSERT(is(&heap.mapped.live, 1, 4096) && is(&mapper(1)->live, 0, 0) && heap.mapped.n_failed == 2);
	end();
}

/* A place for which there was memory, but none for whose it is, after which nothing more is told. */
static void without_memory(void)
{
	begin();
	got(0, 0x100, 10, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(ktr__framed_get(&heap.places, 0, NULL, 2, sizeof(struct ktr__heap_place)));
	ktr__heap_finish(&heap);
	CU_ASSERT(is(&place(1)->peak, 1, 10) && is(&place(2)->got, 0, 0) && is(&place(2)->peak, 0, 0));
	end();
}

/* What a process had mapped when it ended is told, and is no part of later peaks. */
static void mapped_of_processes(void)
{
	begin();
	process[0].end.exit_ns = 1015;
	tell(0, KTR__HEAP_MAPPED, 0x10000, 3 * 4096, 1); /* at 1,010 */
	tell(3, KTR__HEAP_MAPPED, 0x10000, 2 * 4096, 2); /* of the other one */
	CU_ASSERT(is(&heap.mapped.live, 2, 5 * 4096) && is(&heap.mapped.now, 1, 2 * 4096));
	CU_ASSERT(is(&heap.mapped.peak, 1, 3 * 4096) && heap.mapped.peak_ns == 1010);
	tell(0, KTR__HEAP_UNMAPS, 0x10000, 4096, 1); /* told late */
	CU_ASSERT(is(&heap.mapped.now, 1, 2 * 4096));
	tell(3, KTR__HEAP_MAPPED, 0x20000, 2 * 4096, 2);
	CU_ASSERT(is(&heap.mapped.peak, 2, 4 * 4096));
	end();
}

SUITE(heap, TEST(what_is_in_use), TEST(brief_ones), TEST(at_the_peak), TEST(moved), TEST(moved_and_lost),
      TEST(two_kinds), TEST(samples), TEST(processes), TEST(mapped_by_parts), TEST(mapped_of_processes),
      TEST(without_memory));
