/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks that were sampled: both tables beside a list, what has no room, by several threads; and the gaps. */
#include "tests/unit/suite.h"

#ifdef __x86_64__
/* In the agent alone; what each call of the program's reads is that one's, too. */
#include "ktr/provider/heap/sampled.c"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ktr__heap_near ktr__heap_near;

#define BLOCKS	5000u
#define THREADS 4u

static uint64_t sampled_any(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 20;
}

/* As an allocator's: sixteen bytes apart, or some times as many. */
static uint64_t sampled_some(uint64_t *state)
{
	return 0x7f0000000000ull + (sampled_any(state) % (1u << 28) << 4);
}

static unsigned sampled_left(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(ktr__heap_near.few); i++)
		n += ktr__heap_near.few[i];
	for (unsigned i = 0; i < SAMPLED_MANY; i++)
		n += sampled_many[i];
	for (unsigned i = 0; i < SAMPLED_LINES * SAMPLED_LINE; i++)
		n += sampled_block[i / SAMPLED_LINE][i % SAMPLED_LINE] != 0;
	for (unsigned i = 0; i < SAMPLED_NEAR * SAMPLED_LINE; i++)
		n += sampled_near[i / SAMPLED_LINE][i % SAMPLED_LINE] != 0;
	return n;
}

/* Many that come and go, more than the near table holds. */
static void what_is_there_is_what_was_added(void)
{
	static uint64_t block[BLOCKS];
	static bool is_there[BLOCKS];
	uint64_t state = 1;
	unsigned n = 0, most = 0;

	for (unsigned i = 0; i < BLOCKS; i++)
		block[i] = 0x7f0000000000ull + (uint64_t)i * 16 * 37;
	memset(is_there, 0, sizeof(is_there));
	for (unsigned i = 0; i < 40 * BLOCKS; i++) {
		unsigned at = (unsigned)(sampled_any(&state) % BLOCKS);
		bool adds = !is_there[at] && sampled_any(&state) % 4 < 3;

		if (is_there[at])
			CU_ASSERT_TRUE(ktr__sampled_may(block[at]));
		if (adds) {
			CU_ASSERT_TRUE_FATAL(ktr__sampled_add(block[at]));
		} else {
			CU_ASSERT_EQUAL_FATAL(ktr__sampled_take(block[at]), is_there[at]);
		}
		n += adds;
		n -= !adds && is_there[at];
		is_there[at] = adds;
		most = n > most ? n : most;
	}
	CU_ASSERT_TRUE(most > SAMPLED_NEAR * SAMPLED_LINE);
	for (unsigned i = 0; i < BLOCKS; i++)
		CU_ASSERT_EQUAL(ktr__sampled_take(block[i]), is_there[i]);
	CU_ASSERT_EQUAL(sampled_left(), 0);
	CU_ASSERT_FALSE(ktr__sampled_take(0));
}

/* Eight of a line near, eight of one among the many: the next one has no place until one is given back. */
static void what_has_no_room_is_not_there(void)
{
	uint64_t block[2 * SAMPLED_LINE + 1], at = 16, line = sampled_hash(16) >> 50;
	unsigned n = 0;

	/* A line among the many is a part of one near. */
	for (; n < 2 * SAMPLED_LINE + 1; at += 16)
		if (sampled_hash(at) >> 50 == line)
			block[n++] = at;
	for (unsigned i = 0; i < n - 1; i++)
		CU_ASSERT_TRUE(ktr__sampled_add(block[i]));
	CU_ASSERT_FALSE(ktr__sampled_add(block[n - 1]));
	CU_ASSERT_FALSE(ktr__sampled_take(block[n - 1]));
	/* Of both tables. */
	CU_ASSERT_TRUE(ktr__sampled_take(block[0]));
	CU_ASSERT_TRUE(ktr__sampled_add(block[n - 1]));
	CU_ASSERT_TRUE(ktr__sampled_take(block[n - 2]));
	CU_ASSERT_TRUE(ktr__sampled_add(block[0]));
	CU_ASSERT_FALSE(ktr__sampled_add(block[n - 2]));
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_EQUAL(ktr__sampled_take(block[i]), i != n - 2);
	CU_ASSERT_EQUAL(sampled_left(), 0);
}

/* Of any blocks so many find a place as man/ktr-heap.1 says, or nearly: 133,120. */
static void all_are_forgotten(void)
{
	uint64_t state = 2, block[3];
	unsigned n = 0;

	for (unsigned i = 0; i < 20 * SAMPLED_LINES * SAMPLED_LINE; i++)
		n += ktr__sampled_add(sampled_some(&state));
	CU_ASSERT_TRUE(n <= (SAMPLED_LINES + SAMPLED_NEAR) * SAMPLED_LINE);
	CU_ASSERT_TRUE(n > (SAMPLED_LINES + SAMPLED_NEAR) * SAMPLED_LINE * 99 / 100);
	ktr__sampled_clear();
	for (unsigned i = 0; i < SAMPLED_LINES * SAMPLED_LINE; i++)
		CU_ASSERT_EQUAL_FATAL(sampled_block[i / SAMPLED_LINE][i % SAMPLED_LINE], 0);
	for (unsigned i = 0; i < SAMPLED_NEAR * SAMPLED_LINE; i++)
		CU_ASSERT_EQUAL_FATAL(sampled_near[i / SAMPLED_LINE][i % SAMPLED_LINE], 0);
	/* Counts that were full stay so: some may be there, for all that is known. What is there is known still. */
	for (unsigned i = 0; i < 3; i++)
		block[i] = sampled_some(&state);
	CU_ASSERT_TRUE(ktr__sampled_add(block[0]) && ktr__sampled_add(block[1]));
	CU_ASSERT_FALSE(ktr__sampled_take(block[2]));
	CU_ASSERT_TRUE(ktr__sampled_take(block[1]) && ktr__sampled_take(block[0]));
	CU_ASSERT_FALSE(ktr__sampled_take(block[0]));
	memset(ktr__heap_near.few, 0, sizeof(ktr__heap_near.few));
	CU_ASSERT_EQUAL(sampled_left(), 0);
	/* The room's pieces are looked at more closely, and are no samples. */
	CU_ASSERT_FALSE(ktr__sampled_may(block[0]));
	ktr__sampled_always(block[0]);
	CU_ASSERT_TRUE(ktr__sampled_may(block[0]));
	CU_ASSERT_TRUE(ktr__sampled_add(block[0]) && ktr__sampled_take(block[0]));
	CU_ASSERT_TRUE(ktr__sampled_may(block[0]));
	CU_ASSERT_FALSE(ktr__sampled_take(block[0]));
	memset(ktr__heap_near.few, 0, sizeof(ktr__heap_near.few));
}

/* ---- threads ---- */

static pthread_barrier_t sampled_all_here;
static uint64_t sampled_common[BLOCKS];

struct sampled_thread {
	unsigned id, n_taken, n_wrong;
};

/* Each adds some, and all take all of them, which each is got by one of; meanwhile each has some of its own. */
static void *sampled_thread(void *context)
{
	struct sampled_thread *self = context;

	for (unsigned i = self->id; i < BLOCKS; i += THREADS)
		self->n_wrong += !ktr__sampled_add(sampled_common[i]);
	pthread_barrier_wait(&sampled_all_here);
	for (unsigned i = 0; i < BLOCKS; i++) {
		unsigned at = (i + self->id * BLOCKS / THREADS) % BLOCKS;
		uint64_t own = 0x100000000000ull * (self->id + 1) + i * 48ull;

		self->n_wrong += !ktr__sampled_add(own);
		self->n_taken += ktr__sampled_take(sampled_common[at]);
		self->n_wrong += !ktr__sampled_take(own);
	}
	return NULL;
}

static void each_is_taken_once(void)
{
	struct sampled_thread self[THREADS];
	pthread_t thread[THREADS];
	unsigned n_taken = 0, n_wrong = 0;

	CU_ASSERT_FATAL(pthread_barrier_init(&sampled_all_here, NULL, THREADS) == 0);
	for (unsigned round = 0; round < 20; round++) {
		n_taken = n_wrong = 0;
		for (unsigned i = 0; i < BLOCKS; i++)
			sampled_common[i] = 0x7f0000000000ull + (uint64_t)(i + round) * 16 * 53;
		for (unsigned i = 0; i < THREADS; i++) {
			self[i] = (struct sampled_thread){ .id = i };
			CU_ASSERT_FATAL(pthread_create(&thread[i], NULL, sampled_thread, &self[i]) == 0);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			pthread_join(thread[i], NULL);
			n_taken += self[i].n_taken;
			n_wrong += self[i].n_wrong;
		}
		CU_ASSERT_EQUAL(n_taken, BLOCKS);
		CU_ASSERT_EQUAL(n_wrong, 0);
	}
	CU_ASSERT_EQUAL(sampled_left(), 0);
	pthread_barrier_destroy(&sampled_all_here);
}

/* ---- gaps ---- */

/* Exponentially distributed: of a million the mean, and how many are longer than one, two and three periods. */
static void gaps_are_as_long_as_they_should_be(void)
{
	static const double longer[] = { 1, 0.36787944, 0.13533528, 0.04978707 };
	const double n = 1e6, period = 524288;
	double sum = 0, more[4] = { 0 };
	uint64_t state = 88172645463325252ull;

	for (unsigned i = 0; i < (unsigned)n; i++) {
		uint64_t gap = ktr__sampled_gap(&state, (uint64_t)period);

		CU_ASSERT_TRUE_FATAL(gap > 0);
		sum += (double)gap;
		for (unsigned k = 0; k < 4; k++)
			more[k] += (double)gap > k * period;
	}
	/* Five standard errors: that of the mean is a thousandth, that of a share sqrt(p (1 - p) / n). */
	CU_ASSERT_DOUBLE_EQUAL(sum / n / period, 1, 0.005);
	for (unsigned k = 0; k < 4; k++)
		CU_ASSERT_DOUBLE_EQUAL(more[k] / n, longer[k], 0.0025);
	/* Two threads draw others, and one that has not begun begins. */
	state = 0;
	CU_ASSERT_TRUE(ktr__sampled_gap(&state, 1) > 0);
	CU_ASSERT_NOT_EQUAL(state, 0);
}

SUITE(sampled, TEST(what_is_there_is_what_was_added), TEST(what_has_no_room_is_not_there), TEST(all_are_forgotten),
      TEST(each_is_taken_once), TEST(gaps_are_as_long_as_they_should_be));
#endif
