/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading rings: of all mixes of lengths, lapped or not, cleared, resized, through both doors, into
 * buffers of any size; while a thread writes; and rings that nobody honest wrote. What happens
 * between two instructions of a reader is test_ring_inject.c's.
 */
#include "test_ring.h"

#include <pthread.h>

/* Reads once and checks everything. Returns the number of faults. */
static unsigned read_checked(struct writer *w, struct ktr__ring_cursor *cursor, int by_file,
			     uint64_t stop, uint32_t max, struct ktr__ring_batch *batch)
{
	static struct ktr_entry buffer[4096];
	struct ktr__ring_source source = writer_source(w, by_file);
	struct ktr__ring_cursor before = *cursor;
	int rc = ktr__ring_read(&source, cursor, stop, buffer, max, batch);
	unsigned faults = read_faults(w, rc, &before, cursor, batch);

	if (rc < 0)
		faults += rc != -ENOBUFS || max >= KTR__RING_BUFFER_MIN;
	else
		faults += batch->n && batch->first + batch->n > stop;
	return faults;
}

/* A session's life with a drain that is sometimes fast and sometimes slow. */
static unsigned live(unsigned mix, int by_file, unsigned log2, uint64_t seed)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);
	struct ktr__ring_batch batch;
	unsigned faults = 0;
	struct writer w;

	writer_start(&w, 1, log2, seed);
	if (image_random(&w.random) & 1)
		cursor.known = 0;
	for (unsigned round = 0; round < 60; round++) {
		unsigned n = (unsigned)(image_random(&w.random) % (round % 5 ? 100 : 900));

		for (unsigned i = 0; i < n; i++)
			writer_event(&w, random_length(&w, mix));
		writer_scribble(&w);
		for (unsigned reads = (unsigned)image_random(&w.random) % 4; reads; reads--) {
			uint64_t r = image_random(&w.random);
			uint64_t stop = r & 1 ? UINT64_MAX
					      : w.slots - (r >> 8) % 200 % (w.slots + 1);
			uint32_t max = 1 + (uint32_t)(r >> 32) % (r & 2 ? 100 : 2000);

			faults += read_checked(&w, &cursor, by_file, stop, max, &batch);
		}
	}
	/* From here to the end nothing is written: all that is left comes out. */
	for (unsigned i = 0; i < 100 && cursor.next < w.slots; i++)
		faults += read_checked(&w, &cursor, by_file, UINT64_MAX, 4096, &batch);
	faults += cursor.next != w.slots;
	writer_stop(&w);
	return faults;
}

static void accounts_for_every_event(void)
{
	for (unsigned mix = 0; mix < 4; mix++)
		for (uint64_t seed = 1; seed <= 40; seed++)
			CU_ASSERT_EQUAL(live(mix, 0, 8 + (unsigned)seed % 4, seed), 0);
}

static void accounts_for_every_event_in_files(void)
{
	for (unsigned mix = 0; mix < 4; mix++)
		for (uint64_t seed = 1; seed <= 3; seed++)
			CU_ASSERT_EQUAL(live(mix, 1, 8 + (unsigned)seed % 3, seed + 100), 0);
}

static void empty_and_missing_rings(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1), other = KTR__RING_FROM_START(0);
	struct ktr__ring_cursor none = KTR__RING_FROM_START(2 * IMAGE_RINGS);
	struct ktr__ring_source source;
	struct ktr__ring_batch batch;
	struct ktr_entry buffer[KTR__RING_BUFFER_MIN];
	struct writer w;
	uint64_t geom;

	writer_start(&w, 1, 8, 1);
	source = writer_source(&w, 0);
	CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 65, &batch), 0);
	CU_ASSERT_EQUAL(ktr__ring_read(&source, &other, UINT64_MAX, buffer, 65, &batch), 0);
	CU_ASSERT_EQUAL(ktr__ring_read(&source, &none, UINT64_MAX, buffer, 65, &batch), -ERANGE);
	CU_ASSERT_EQUAL(ktr__ring_head(&source, 0, &geom), 0);
	CU_ASSERT_EQUAL(geom, 0);
	CU_ASSERT_EQUAL(ktr__ring_head(&source, 1, &geom), 0);
	CU_ASSERT_EQUAL(geom, image_ring(&w.image, 1)->geom);
	CU_ASSERT_EQUAL(ktr__ring_head(&source, 99, &geom), 0);
	writer_event(&w, 3);
	writer_event(&w, 1);
	CU_ASSERT_EQUAL(ktr__ring_head(&source, 1, NULL), 4);
	/* Memory that was taken away again: what it held is lost, to the event. */
	image_ring(&w.image, 1)->geom = 0;
	CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 65, &batch), 1);
	CU_ASSERT_EQUAL(batch.n, 0);
	CU_ASSERT_EQUAL(batch.lost, 2);
	CU_ASSERT_EQUAL(cursor.next, 4);
	writer_stop(&w);
}

static void stops_where_told(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);
	struct ktr__ring_batch batch;
	struct writer w;

	writer_start(&w, 1, 9, 1);
	writer_event(&w, 1);
	writer_event(&w, 4);
	writer_event(&w, 2);
	/* Inside the second event: only the first comes out. */
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, 3, 100, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 1);
	CU_ASSERT_EQUAL(batch.more, 1);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, 3, 100, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 0);
	/* At its end: it comes out. */
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, 5, 100, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 4);
	CU_ASSERT_EQUAL(batch.more, 0);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, 5, 100, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 0);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, UINT64_MAX, 100, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 2);
	writer_stop(&w);
}

static void says_when_the_buffer_is_too_small(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);
	struct ktr_entry buffer[KTR__RING_BUFFER_MIN];
	struct ktr__ring_source source;
	struct ktr__ring_batch batch;
	struct writer w;

	writer_start(&w, 1, 9, 1);
	source = writer_source(&w, 0);
	writer_event(&w, KTR_SLOTS_MAX);
	writer_event(&w, 1);
	for (uint32_t max = 0; max < KTR_SLOTS_MAX; max++)
		CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, max, &batch),
				-ENOBUFS);
	CU_ASSERT_EQUAL(cursor.next, 0);
	CU_ASSERT_EQUAL(
		ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, KTR__RING_BUFFER_MIN, &batch),
		1);
	CU_ASSERT_EQUAL(batch.n, KTR_SLOTS_MAX + 1);
	writer_stop(&w);
}

static void the_oldest_slots_are_left_alone(void)
{
	struct ktr__ring_cursor start = KTR__RING_FROM_START(1), oldest = KTR__RING_FROM_OLDEST(1);
	struct ktr__ring_batch batch;
	struct writer w;

	writer_start(&w, 1, 8, 1);
	for (unsigned i = 0; i < 1000; i++)
		writer_event(&w, 1);
	writer_scribble(&w);
	CU_ASSERT_EQUAL(read_checked(&w, &start, 0, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT_EQUAL(batch.first, 1000 - (256 - KTR_SLOTS_MAX));
	CU_ASSERT_EQUAL(batch.lost, batch.first);
	CU_ASSERT_EQUAL(batch.n, 256 - KTR_SLOTS_MAX);
	CU_ASSERT_EQUAL(read_checked(&w, &oldest, 0, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 256 - KTR_SLOTS_MAX);
	CU_ASSERT_EQUAL(batch.lost, 0);
	/* From then on this one counts as well. */
	for (unsigned i = 0; i < 1000; i++)
		writer_event(&w, 1 + i % 2);
	CU_ASSERT_EQUAL(read_checked(&w, &oldest, 0, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT(batch.lost > 500);
	writer_stop(&w);
}

static void a_cursor_can_begin_at_the_head(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1), bad = KTR__RING_FROM_START(77);
	struct ktr__ring_source source;
	struct ktr__ring_batch batch;
	struct writer w;

	writer_start(&w, 1, 8, 1);
	for (unsigned i = 0; i < 500; i++)
		writer_event(&w, 1 + i % 3);
	for (int by_file = 0; by_file < 2; by_file++) {
		source = writer_source(&w, by_file);
		CU_ASSERT_EQUAL(ktr__ring_to_head(&source, &cursor), 0);
		CU_ASSERT_EQUAL(cursor.next, w.slots);
		CU_ASSERT_EQUAL(cursor.conts, w.conts);
		CU_ASSERT_EQUAL(read_checked(&w, &cursor, by_file, UINT64_MAX, 100, &batch), 0);
		CU_ASSERT_EQUAL(batch.n + batch.lost, 0);
		writer_event(&w, 5);
		CU_ASSERT_EQUAL(read_checked(&w, &cursor, by_file, UINT64_MAX, 100, &batch), 0);
		CU_ASSERT_EQUAL(batch.n, 5);
		CU_ASSERT_EQUAL(batch.lost, 0);
		CU_ASSERT_EQUAL(ktr__ring_to_head(&source, &bad), -ERANGE);
	}
	writer_stop(&w);
}

static void cleared_events_are_not_lost_ones(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1), late = cursor, later = cursor;
	struct ktr__ring_batch batch;
	struct writer w;

	writer_start(&w, 1, 9, 1);
	for (unsigned i = 0; i < 20; i++)
		writer_event(&w, 1 + i % 4);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, 4, 100, &batch), 0);
	writer_clear(&w);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, UINT64_MAX, 100, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 0);
	CU_ASSERT_EQUAL(batch.lost, 0);
	CU_ASSERT_EQUAL(batch.cleared, 18);
	writer_event(&w, 2);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, UINT64_MAX, 100, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 2);
	CU_ASSERT_EQUAL(batch.cleared, 0);
	/* Overwritten after the clear: lost. */
	for (unsigned i = 0; i < 1000; i++)
		writer_event(&w, 1);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT_EQUAL(batch.cleared, 0);
	CU_ASSERT_EQUAL(batch.lost, 1000 - (512 - KTR_SLOTS_MAX));
	/* A drain that comes only now tells what was cleared, 20 events, from what was lost then. */
	CU_ASSERT_EQUAL(read_checked(&w, &late, 1, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT_EQUAL(batch.cleared, 20);
	CU_ASSERT_EQUAL(batch.lost, 1001 - (512 - KTR_SLOTS_MAX));
	/* Nor does a change of size make cleared events lost ones. */
	writer_clear(&w);
	writer_resize(&w, 10, 2, 2, 0);
	writer_event(&w, 1);
	CU_ASSERT_EQUAL(read_checked(&w, &later, 0, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT_EQUAL(batch.cleared, 1021);
	CU_ASSERT_EQUAL(batch.lost, 0);
	writer_stop(&w);
}

static void a_resized_ring_goes_on(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1), whole = KTR__RING_FROM_START(1);
	struct ktr__ring_batch batch;
	struct writer w;

	writer_start(&w, 1, 10, 1);
	for (unsigned i = 0; i < 300; i++)
		writer_event(&w, 1 + i % 3);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, UINT64_MAX, 200, &batch), 0);
	/* Smaller: 100 slots move along, the rest is lost. */
	writer_resize(&w, 8, 2, 2, 100);
	for (unsigned i = 0; i < 10; i++)
		writer_event(&w, 2);
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT(batch.lost > 100);
	CU_ASSERT_EQUAL(batch.cleared, 0);
	CU_ASSERT_EQUAL(cursor.next, w.slots);
	/* A drain that comes only now learns the same. */
	CU_ASSERT_EQUAL(read_checked(&w, &whole, 0, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT(batch.lost > 200);
	/* Larger, with everything moved: nothing is lost. The closed bit changes nothing. */
	writer_event(&w, 1);
	writer_resize(&w, 11, 3, 3, 50);
	image_ring(&w.image, 1)->geom |= KTR_GEOM_CLOSED;
	CU_ASSERT_EQUAL(read_checked(&w, &cursor, 0, UINT64_MAX, 4096, &batch), 0);
	CU_ASSERT_EQUAL(batch.n, 1);
	CU_ASSERT_EQUAL(batch.lost, 0);
	writer_stop(&w);
}

static void geometry_is_not_believed(void)
{
	static const uint64_t geoms[] = { 1,
					  8ull << 32,
					  8ull << 32 | 1,
					  8ull << 32 | 0xffffffff,
					  63ull << 32 | 0xffffffff,
					  33ull << 32 | 16,
					  7ull << 32 | 16,
					  ~0ull,
					  KTR_GEOM_CLOSED | 1,
					  13ull << 32 | 17 };
	struct ktr__ring_source source;
	struct ktr__ring_batch batch;
	struct ktr_entry buffer[KTR__RING_BUFFER_MIN];
	struct writer w;
	uint64_t data;

	writer_start(&w, 1, 8, 1);
	source = writer_source(&w, 0);
	writer_event(&w, 1);
	data = w.image.header->region[KTR_REGION_data].offset >> 16;
	for (unsigned i = 0; i < sizeof(geoms) / sizeof(geoms[0]); i++) {
		struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);

		image_ring(&w.image, 1)->geom = geoms[i];
		CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 65, &batch),
				-EPROTO);
		CU_ASSERT_EQUAL(cursor.next, 0);
	}
	/* The whole data region fits, an entry more does not. */
	image_ring(&w.image, 1)->geom = data | (uint64_t)IMAGE_DATA_LOG2 << 32;
	{
		struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);

		CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 65, &batch),
				1);
		/* A head that went back. */
		image_ring(&w.image, 1)->head = 0;
		CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 65, &batch),
				-EPROTO);
	}
	image_ring(&w.image, 1)->geom = (data + 1) | (uint64_t)IMAGE_DATA_LOG2 << 32;
	{
		struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);

		CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 65, &batch),
				-EPROTO);
	}
	writer_stop(&w);
}

/* Entries, counters and heads of arbitrary content: any answer, but within the buffer. */
static void any_content_is_survived(void)
{
	struct ktr_entry *buffer = malloc(300 * sizeof(*buffer));
	unsigned faults = 0;
	struct writer w;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct ktr__ring_cursor cursor = { 1, seed & 1, 0, 0, 0, 0 };
		struct ktr__ring_source source;
		struct ktr__ring_batch batch;
		struct ktr_ring *ring;
		uint64_t *words;

		writer_start(&w, 1, 9, seed);
		source = writer_source(&w, 0);
		ring = image_ring(&w.image, 1);
		words = (uint64_t *)(void *)writer_slot(&w, 0);
		for (unsigned i = 0; i < 512 * 8; i++)
			words[i] = image_random(&w.random) | (seed % 5 ? 0 : KTR_CONT_MARK);
		for (unsigned reads = 0; reads < 20; reads++) {
			uint64_t r = image_random(&w.random);
			uint32_t max = 1 + (uint32_t)(r % 300);
			int rc;

			ring->head = r & 4 ? image_random(&w.random) : ring->head + (r >> 50);
			ring->first = r & 8 ? image_random(&w.random) : 0;
			ring->cleared = r & 16 ? ring->first : image_random(&w.random) >> (r >> 32 & 63);
			ring->cleared_conts = image_random(&w.random) >> (r >> 40 & 63);
			ring->cont[r & 1] = image_random(&w.random);
			rc = ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, max, &batch);
			faults += rc > 1 || (rc >= 0 && batch.n > max);
			faults += rc == 1 && batch.n &&
				  (batch.entry < buffer || batch.entry + batch.n > buffer + max);
		}
		writer_stop(&w);
	}
	CU_ASSERT_EQUAL(faults, 0);
	free(buffer);
}

static void a_file_cut_short_is_an_error(void)
{
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);
	struct ktr_entry buffer[KTR__RING_BUFFER_MIN];
	struct ktr__ring_source source;
	struct ktr__ring_batch batch;
	struct writer w;

	writer_start(&w, 1, 9, 1);
	writer_event(&w, 1);
	source = writer_source(&w, 1);
	CU_ASSERT_EQUAL(ftruncate(w.fd, (off_t)w.image.header->region[KTR_REGION_data].offset), 0);
	CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 65, &batch), -EIO);
	CU_ASSERT_EQUAL(ftruncate(w.fd, 10), 0);
	CU_ASSERT_EQUAL(ktr__ring_read(&source, &cursor, UINT64_MAX, buffer, 65, &batch), -EIO);
	CU_ASSERT_EQUAL(cursor.next, 0);
	writer_stop(&w);
}

/*
 * A writer at full speed on a ring of the smallest size, as the thread path has it, and readers
 * behind both doors. Word k of event i is i * 7 + k, in its continuations as well.
 */
#define RACE_EVENTS 400000u

struct race {
	struct ktr__ring_source source;
	unsigned torn;
	unsigned miscounted;
	uint64_t seen;
	uint64_t lost;
};

static void race_store(struct ktr_entry *slot, uint64_t head, uint64_t event)
{
	uint64_t *word = (uint64_t *)(void *)slot;

	__atomic_store_n(&word[0], head, __ATOMIC_RELAXED);
	for (unsigned k = 1; k < 8; k++)
		__atomic_store_n(&word[k], event * 7 + k, __ATOMIC_RELAXED);
}

static void *race_write(void *context)
{
	struct writer *w = context;
	struct ktr_ring *ring = image_ring(&w->image, 1);

	for (uint64_t i = 0; i < RACE_EVENTS; i++) {
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		uint64_t slots = head >> 1, t = head & 1, conts = ring->cont[t];
		unsigned n = i / 4096 % 2 ? 1 : 1 + (unsigned)(i % 5 == 0) * (unsigned)(i % 64);

		race_store(writer_slot(w, slots), i, i);
		for (unsigned k = 1; k < n; k++)
			race_store(writer_slot(w, slots + k), KTR_CONT_MARK | (conts + k - 1), i);
		if (n > 1) {
			t = !t;
			__atomic_store_n(&ring->cont[t], conts + n - 1, __ATOMIC_RELAXED);
		}
		__atomic_store_n(&ring->head, (slots + n) << 1 | t, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Whole, in order, and as many missing as were said to be? */
static void race_check(struct race *race, const struct ktr__ring_batch *batch, uint64_t *next)
{
	*next += batch->lost;
	race->lost += batch->lost;
	for (uint32_t i = 0; i < batch->n; i++) {
		const uint64_t *word = (const uint64_t *)(const void *)&batch->entry[i];
		int cont = ktr__slot_is_cont(&batch->entry[i]);

		if (!cont) {
			race->miscounted += word[0] != *next;
			*next = word[0] + 1;
			race->seen++;
		}
		for (unsigned k = 1; k < 8; k++)
			race->torn += word[k] != (*next - 1) * 7 + k;
	}
}

static void *race_read(void *context)
{
	struct race *race = context;
	struct ktr__ring_cursor cursor = KTR__RING_FROM_START(1);
	struct ktr__ring_batch batch;
	struct ktr_entry buffer[512];
	uint64_t next = 0;
	int rc;

	while (next < RACE_EVENTS) {
		rc = ktr__ring_read(&race->source, &cursor, UINT64_MAX, buffer, 512, &batch);
		if (rc == 1)
			race_check(race, &batch, &next);
		else if (rc < 0 && rc != -EAGAIN)
			break;
	}
	return NULL;
}

static void a_running_writer_is_read_exactly(void)
{
	pthread_t writer, reader[3];
	struct race race[3];
	struct writer w;

	writer_start(&w, 1, 8, 1);
	memset(race, 0, sizeof(race));
	for (unsigned i = 0; i < 3; i++)
		race[i].source = writer_source(&w, i == 2);
	for (unsigned i = 0; i < 3; i++)
		pthread_create(&reader[i], NULL, race_read, &race[i]);
	pthread_create(&writer, NULL, race_write, &w);
	pthread_join(writer, NULL);
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(reader[i], NULL);
		CU_ASSERT_EQUAL(race[i].torn, 0);
		CU_ASSERT_EQUAL(race[i].miscounted, 0);
		CU_ASSERT_EQUAL(race[i].seen + race[i].lost, RACE_EVENTS);
		CU_ASSERT(race[i].seen > 0);
	}
	writer_stop(&w);
}

SUITE(ring_read, TEST(empty_and_missing_rings), TEST(stops_where_told),
      TEST(says_when_the_buffer_is_too_small), TEST(the_oldest_slots_are_left_alone),
      TEST(a_cursor_can_begin_at_the_head), TEST(cleared_events_are_not_lost_ones),
      TEST(a_resized_ring_goes_on), TEST(geometry_is_not_believed), TEST(any_content_is_survived),
      TEST(a_file_cut_short_is_an_error), TEST(accounts_for_every_event),
      TEST(accounts_for_every_event_in_files), TEST(a_running_writer_is_read_exactly));
