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

static int hurry_ring_read(const struct ktr__ring_source *source, struct ktr__ring_cursor *cursor, uint64_t stop,
			   struct ktr_entry *buffer, uint32_t max, struct ktr__ring_batch *batch)
{
	struct ktr__ring_source hurried = *source;

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

static void what_is_there_is_read(void)
{
	for (unsigned hurried = 0; hurried < 60; hurried++) {
		uint32_t site, thread;
		struct look look;

		made_open(&made);
		site = number_site();
		thread = made_thread(&made, 4712, 4711, "worker");
		begin(KTR__DRAIN_START);
		CU_ASSERT_EQUAL(again(), 0);
		burst(site, thread, 0, 700);
		made_session(&made);
		n_hurried = hurried;
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

SUITE(hurry, TEST(what_is_there_is_read));
