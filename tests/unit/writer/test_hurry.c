/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drain whose reading of a ring was disturbed so often that it left the oldest slots behind, though they are
 * still there: what it would count as overwritten is read after all. Were the program killed then, the ring would
 * have what its trace counts as lost.
 *
 * The drain's part that fills packets is compiled into this file, with a reader of rings that hurries.
 */
#include "writer/fill.h"
#include "ktr/session/ring_read.h"
#include "writer/drain.h"

static unsigned n_hurried; /* readings to come that leave something behind */
static unsigned n_readings;

static int hurry_ring_read(const struct ktr__ring_source *source, struct ktr__ring_cursor *cursor, uint64_t stop,
			   struct ktr_entry *buffer, uint32_t max, struct ktr__ring_batch *batch)
{
	struct ktr__ring_source hurried = *source;

	n_readings++;
	if (n_hurried) {
		n_hurried--;
		hurried.leap = 100;
	}
	return ktr__ring_read(&hurried, cursor, stop, buffer, max, batch);
}

int hurry_fill_ring(struct ktr__drain *drain, uint32_t row, uint64_t stop, int final);

#define ktr__ring_read hurry_ring_read
#define ktr__fill_ring hurry_fill_ring
#include "writer/fill.c"
#undef ktr__ring_read
#undef ktr__fill_ring

#include "drained.h"

static uint32_t site, thread;

static void open_made(void)
{
	made_open(&made);
	site = number_site();
	thread = made_thread(&made, 4712, 4711, "worker");
	begin(KTR__DRAIN_START);
	CU_ASSERT_EQUAL(again(), 0);
	drain->all = 0; /* as in any round but the last */
	n_readings = 0;
}

static void what_is_there_is_read(void)
{
	for (unsigned hurried = 0; hurried < 200; hurried++) {
		struct look look;

		open_made();
		burst(site, thread, 0, 700);
		made_session(&made);
		n_hurried = hurried;
		for (int rounds = 0; rounds < 100 && drain->ring[1].cursor.next < 700; rounds++)
			CU_ASSERT_EQUAL(hurry_fill_ring(drain, 1, 700, 0), 0);
		CU_ASSERT_EQUAL(n_hurried, 0);
		end();
		look = look_stream(&made, made.trace, "cpu_1");
		CU_ASSERT_EQUAL(look.n_wrong, 0);
		CU_ASSERT_EQUAL(look.n_events, 512 - KTR_SLOTS_MAX);
		CU_ASSERT_EQUAL(look.n_events + look.discarded, 700);
		made_close(&made);
	}
}

/* Disturbed for ever, nothing is written while there is a next round; where there is none, all that was read. */
static void a_disturbed_round_is_put_back(void)
{
	open_made();
	burst(site, thread, 0, 700);
	made_session(&made);
	n_hurried = UINT32_MAX;
	CU_ASSERT_EQUAL(hurry_fill_ring(drain, 1, 700, 0), 0);
	CU_ASSERT_EQUAL(drain->ring[1].cursor.next, 0);
	CU_ASSERT_EQUAL(drain->stats.lost, 0);
	drain->all = 1;
	CU_ASSERT_EQUAL(hurry_fill_ring(drain, 1, 700, 0), 0);
	CU_ASSERT_EQUAL(drain->ring[1].cursor.next, 700);
	n_hurried = 0;
	end();
	made_close(&made);
}

/*
 * An event whose beginning is overwritten is gone: what is left of it is not waited for, and the rest of the ring
 * is read but once.
 */
static void a_rest_of_an_event_is_not_left_behind(void)
{
	static const char text[] = "a text that takes an event of three slots, since a slot has room for some fifty of "
				   "its letters only";
	uint32_t texts;

	for (unsigned n = 300; n < 303; n++) {
		open_made();
		texts = made_site(&made, KTR_NET, "net.c", 43, "%d %s", "n,s", 2, KTR_ARG_I64,
				  KTR_ARG_STR);
		for (unsigned i = 0; i < n; i++)
			made_event(&made, 1, 1000 + i, texts, thread, i, text);
		made_session(&made);
		CU_ASSERT_EQUAL(hurry_fill_ring(drain, 1, UINT64_MAX, 0), 0);
		CU_ASSERT_EQUAL(n_readings, 2);
		CU_ASSERT(drain->stats.events > 100);
		end();
		made_close(&made);
	}
}

SUITE(hurry, TEST(what_is_there_is_read), TEST(a_disturbed_round_is_put_back),
      TEST(a_rest_of_an_event_is_not_left_behind));
