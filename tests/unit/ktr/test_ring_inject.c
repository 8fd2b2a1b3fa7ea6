/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading rings while the writer runs on at every place between two steps of the reader: the
 * reader is compiled into this file with its injection points open, and each of them lets the
 * writer commit some events, clear the ring or resize it. One thread, the same in every run.
 */
static void inject(int place);

#define KTR_INJECT(place) inject(place)
#define ktr__ring_read    inject__ring_read
#define ktr__ring_to_head inject__ring_to_head
#define ktr__ring_head    inject__ring_head
#include "ktr/session/ring_read.c"

#include "test_ring.h"

/* What the writer does when the reader lets it. */
static struct {
	struct writer *w;
	unsigned mix;    /* of lengths */
	unsigned pace;   /* [events] at most, per place; 0: nothing */
	unsigned steady; /* [events] each time */
	unsigned place;  /* only here; 0: everywhere */
	unsigned events; /* clears and resizes, one in so many; 0: none */
	unsigned generation;
} plan;

static unsigned n_resizes, n_clears;
static uint32_t leap; /* how the reader goes on when it was overtaken */

static void inject_change(struct writer *w, uint64_t r)
{
	uint64_t geom = image_ring(&w->image, w->ring)->geom, kept;
	unsigned log2 = 8 + (unsigned)(r >> 8) % 3;
	uint64_t least = 1ull << (log2 < KTR_GEOM_LOG2(geom) ? log2 : KTR_GEOM_LOG2(geom));

	if (r & 1) {
		writer_clear(w);
		n_clears++;
		return;
	}
	/* Whole events that are still there and fit; the places alternate. */
	kept = (r >> 16) % (least - KTR_SLOTS_MAX);
	if (kept > w->slots - image_ring(&w->image, w->ring)->first)
		kept = w->slots - image_ring(&w->image, w->ring)->first;
	while (kept && ktr__slot_is_cont(&w->truth[w->slots - kept]))
		kept--;
	plan.generation++;
	n_resizes++;
	writer_resize(w, log2, plan.generation % 2, plan.generation, kept);
}

static void inject(int place)
{
	struct writer *w = plan.w;
	uint64_t r;

	if (!w || !(plan.pace | plan.steady) || (plan.place && plan.place != (unsigned)place))
		return;
	r = image_random(&w->random);
	if (plan.events && r % plan.events == 0)
		inject_change(w, r >> 20);
	for (unsigned n = plan.steady + (unsigned)(r >> 32) % (plan.pace + 1); n; n--)
		writer_event(w, random_length(w, plan.mix));
	writer_scribble(w);
}

struct tally {
	unsigned faults;
	unsigned again;   /* times the reader gave up */
	uint64_t n_slots; /* handed out */
	uint64_t lost;
	uint64_t cleared;
};

static void life_read(struct writer *w, struct ktr__ring_cursor *cursor, int by_file,
		      struct tally *tally)
{
	struct ktr__ring_source source = writer_source(w, by_file);
	struct ktr__ring_cursor before = *cursor;
	struct ktr_entry buffer[600];
	struct ktr__ring_batch batch;
	uint32_t max = KTR__RING_BUFFER_MIN + (uint32_t)(image_random(&w->random) % 500);
	int rc;

	source.leap = leap;
	rc = ktr__ring_read(&source, cursor, UINT64_MAX, buffer, max, &batch);
	tally->faults += read_faults(w, rc, &before, cursor, &batch);
	tally->faults += rc < 0 && rc != -EAGAIN;
	tally->again += rc == -EAGAIN;
	tally->n_slots += batch.n;
	tally->lost += batch.lost;
	tally->cleared += batch.cleared;
}

/* One session from its beginning to the log's end, in which the writer runs `pace` at a time. */
static void life(unsigned mix, unsigned pace, unsigned place, int by_file, unsigned events,
		 struct tally *tally)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);
	struct writer w;

	writer_start(&w, 1, 8, mix * 1000 + pace * 10 + place);
	memset(&plan, 0, sizeof(plan));
	plan.w = &w;
	plan.mix = mix;
	plan.pace = pace;
	plan.place = place;
	plan.events = events;
	plan.generation = 1;
	for (unsigned i = 0; i < 3000 && w.slots < 20000; i++) {
		for (unsigned n = (unsigned)image_random(&w.random) % 50; n; n--)
			writer_event(&w, random_length(&w, mix));
		writer_scribble(&w);
		life_read(&w, &cursor, by_file, tally);
	}
	plan.pace = 0;
	for (unsigned i = 0; i < 100 && cursor.next < w.slots; i++)
		life_read(&w, &cursor, by_file, tally);
	tally->faults += cursor.next != w.slots;
	writer_stop(&w);
}

static void all_lives(int by_file, unsigned events, struct tally *tally)
{
	static const unsigned paces[] = { 1, 2, 5, 30, 200 };

	memset(tally, 0, sizeof(*tally));
	for (unsigned mix = 0; mix < 4; mix++)
		for (unsigned p = 0; p < sizeof(paces) / sizeof(paces[0]); p++)
			for (unsigned place = 0; place <= 6; place++)
				life(mix, paces[p], place, by_file, events, tally);
}

static void the_writer_runs_on_everywhere(void)
{
	struct tally tally;

	for (int by_file = 0; by_file < 2; by_file++) {
		all_lives(by_file, 0, &tally);
		CU_ASSERT_EQUAL(tally.faults, 0);
		CU_ASSERT(tally.n_slots > 100000);
		CU_ASSERT(tally.lost > 1000);
		CU_ASSERT_EQUAL(tally.cleared, 0);
	}
}

static void what_is_leapt_over_is_counted(void)
{
	struct tally tally;

	leap = 70;
	for (unsigned events = 0; events <= 20; events += 20) {
		all_lives(0, events, &tally);
		CU_ASSERT_EQUAL(tally.faults, 0);
		CU_ASSERT(tally.n_slots > 100000);
		CU_ASSERT(tally.lost > 1000);
	}
	leap = 0;
}

/* Overtaken, a reader leaps as far as it is told, but not beyond the middle; else it leaps nowhere. */
static void a_leap_leads_into_the_ring(void)
{
	static const uint32_t leaps[] = { 0, 10, 100000 }, left[] = { 512 - KTR_SLOTS_MAX, 502 - KTR_SLOTS_MAX,
								      (512 - KTR_SLOTS_MAX) / 2 };
	struct ktr__ring_source source;
	struct ktr_entry buffer[600];
	struct ktr__ring_batch batch;
	struct writer w;

	for (unsigned i = 0; i < 3; i++) {
		struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);

		writer_start(&w, 1, 9, 5);
		memset(&plan, 0, sizeof(plan));
		source = writer_source(&w, 0);
		source.leap = leaps[i];
		for (unsigned k = 0; k < 300; k++)
			writer_event(&w, 1);
		CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 600, &batch), 1);
		CU_ASSERT_EQUAL(batch.n, 300);
		CU_ASSERT_EQUAL(batch.lost, 0);
		for (unsigned k = 0; k < 2000; k++)
			writer_event(&w, 1);
		CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 600, &batch), 1);
		CU_ASSERT_EQUAL(batch.n, left[i]);
		CU_ASSERT_EQUAL(batch.lost + batch.n, 2000);
		CU_ASSERT_EQUAL(cursor.next, w.slots);
		writer_stop(&w);
	}
}

static void rings_are_cleared_and_resized_meanwhile(void)
{
	struct tally tally;

	for (int by_file = 0; by_file < 2; by_file++) {
		n_resizes = n_clears = 0;
		all_lives(by_file, 20, &tally);
		CU_ASSERT_EQUAL(tally.faults, 0);
		CU_ASSERT(tally.n_slots > 100000);
		CU_ASSERT(tally.cleared > 100);
		CU_ASSERT(n_resizes > 1000);
		CU_ASSERT(n_clears > 1000);
	}
}

/* A ring that turns over several times during a copy: nothing is believed, all is counted later. */
static void a_hopeless_ring_is_given_up(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);
	struct tally tally = { 0 };
	struct writer w;

	writer_start(&w, 1, 8, 5);
	memset(&plan, 0, sizeof(plan));
	for (unsigned i = 0; i < 300; i++)
		writer_event(&w, 1);
	plan.w = &w;
	plan.pace = 2000;
	plan.place = 2;
	w.random = 2000ull << 32; /* the first step is a long one */
	life_read(&w, &cursor, 0, &tally);
	CU_ASSERT_EQUAL(tally.faults, 0);
	plan.pace = 0;
	life_read(&w, &cursor, 0, &tally);
	CU_ASSERT_EQUAL(cursor.next, w.slots);
	CU_ASSERT_EQUAL(tally.n_slots + tally.lost, w.events);
	writer_stop(&w);
}

/* Too slow to keep a place at the oldest slots, the reader goes on at younger ones. */
static void a_slow_reader_hurries(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1), before = cursor;
	struct ktr_entry buffer[KTR__RING_BUFFER_MIN];
	struct ktr__ring_source source;
	struct ktr__ring_batch batch;
	struct writer w;
	int rc;

	writer_start(&w, 1, 8, 5);
	for (unsigned i = 0; i < 300; i++)
		writer_event(&w, 1);
	memset(&plan, 0, sizeof(plan));
	plan.w = &w;
	plan.steady = 98; /* more than the buffer holds; a multiple of 7, see writer_scribble() */
	plan.place = 2;
	source = writer_source(&w, 0);
	rc = ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, KTR__RING_BUFFER_MIN, &batch);
	CU_ASSERT_EQUAL(rc, 1);
	CU_ASSERT(batch.n > 0);
	CU_ASSERT_EQUAL(read_faults(&w, rc, &before, &cursor, &batch), 0);
	writer_stop(&w);
}

static void a_cursor_begins_at_a_moving_head(void)
{
	unsigned faults = 0;

	for (unsigned mix = 0; mix < 4; mix++) {
		for (unsigned pace = 1; pace < 20; pace++) {
			struct ktr__ring_cursor cursor = KTR__RING_FROM_OLDEST(1);
			struct ktr__ring_source source;
			struct tally tally = { 0 };
			uint64_t from;
			struct writer w;

			writer_start(&w, 1, 8, pace);
			writer_event(&w, 3);
			memset(&plan, 0, sizeof(plan));
			plan.w = &w;
			plan.mix = mix;
			plan.pace = pace;
			source = writer_source(&w, pace & 1);
			from = w.slots;
			faults += ktr__ring_to_head(&source, &cursor) != 0;
			faults += cursor.next < from || cursor.next > w.slots;
			faults += cursor.known &&
				  cursor.conts != cursor.next - writer_count(&w, 0, cursor.next);
			life_read(&w, &cursor, pace & 1, &tally);
			faults += tally.faults;
			writer_stop(&w);
		}
	}
	CU_ASSERT_EQUAL(faults, 0);
}

SUITE(ring_inject, TEST(the_writer_runs_on_everywhere), TEST(what_is_leapt_over_is_counted),
      TEST(a_leap_leads_into_the_ring),
      TEST(rings_are_cleared_and_resized_meanwhile), TEST(a_hopeless_ring_is_given_up),
      TEST(a_slow_reader_hurries), TEST(a_cursor_begins_at_a_moving_head));
