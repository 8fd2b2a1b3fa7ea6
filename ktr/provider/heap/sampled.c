/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of eight blocks, a line of the cache each, found by the block's hash; and two tables of how many blocks
 * there are of a hash. Most calls of free(3) are for blocks that nobody sampled: while there are few samples they
 * read a byte of the first, which is small, and where there are many one of the second, too.
 */
#include "ktr/provider/heap/sampled.h"

#define SAMPLED_LINES 16384u /* 131,072 blocks, a megabyte of which nothing is touched before it is used */
#define SAMPLED_LINE  8u
#define SAMPLED_MANY  65536u
#define SAMPLED_FULL  255u /* stays: it stands for an unknown number */

static _Alignas(64) uint64_t sampled_block[SAMPLED_LINES][SAMPLED_LINE]; /* 0: free. Atomic, each */
static uint8_t sampled_many[SAMPLED_MANY];
uint8_t ktr__sampled_few[KTR__SAMPLED_FEW];

static void sampled_add_to(uint8_t *n, int by)
{
	uint8_t was = __atomic_load_n(n, __ATOMIC_RELAXED);

	while (was != SAMPLED_FULL && !__atomic_compare_exchange_n(n, &was, (uint8_t)(was + by), true,
								   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

static uint8_t *sampled_of_many(uint64_t hash)
{
	return &sampled_many[hash >> 32 & (SAMPLED_MANY - 1)];
}

static uint64_t sampled_hash(uint64_t block)
{
	return (block >> 4) * 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio */
}

static void sampled_count(uint64_t block, int by)
{
	sampled_add_to(&ktr__sampled_few[ktr__sampled_few_hash(block)], by);
	sampled_add_to(sampled_of_many(sampled_hash(block)), by);
}

void ktr__sampled_always(uint64_t block)
{
	__atomic_store_n(&ktr__sampled_few[ktr__sampled_few_hash(block)], SAMPLED_FULL, __ATOMIC_RELAXED);
}

/* From one to the other, in a block's line. */
static bool sampled_exchange(uint64_t hash, uint64_t from, uint64_t to)
{
	uint64_t *line = sampled_block[hash >> 50], was;

	for (unsigned i = 0; i < SAMPLED_LINE; i++) {
		was = from;
		if (__atomic_load_n(&line[i], __ATOMIC_RELAXED) == from &&
		    __atomic_compare_exchange_n(&line[i], &was, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool ktr__sampled_add(uint64_t block)
{
	/* Before it is there: who takes it reads the count first. */
	sampled_count(block, 1);
	if (sampled_exchange(sampled_hash(block), 0, block))
		return true;
	sampled_count(block, -1);
	return false;
}

bool ktr__sampled_take(uint64_t block)
{
	uint64_t hash = sampled_hash(block);

	if (!block || !ktr__sampled_may(block) || !__atomic_load_n(sampled_of_many(hash), __ATOMIC_RELAXED) ||
	    !sampled_exchange(hash, block, 0))
		return false;
	sampled_count(block, -1);
	return true;
}

void ktr__sampled_clear(void)
{
	for (unsigned i = 0; i < SAMPLED_LINES * SAMPLED_LINE; i++) {
		uint64_t block = __atomic_load_n(&sampled_block[i / SAMPLED_LINE][i % SAMPLED_LINE],
						 __ATOMIC_RELAXED);

		if (block)
			ktr__sampled_take(block);
	}
}

/* Marsaglia, Xorshift RNGs, J. Stat. Softw. 8 (2003): 13, 7, 17. The upper half of its bits. */
static uint32_t sampled_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (uint32_t)(x >> 32);
}

/*
 * Without a logarithm, by comparisons alone: von Neumann, Various techniques used in connection with random digits,
 * 1951. Runs of falling numbers; the first one whose length is odd has the fraction in its first number, and the
 * runs before it are the whole part.
 */
uint64_t ktr__sampled_gap(uint64_t *state, uint64_t period)
{
	uint32_t first, last, next;
	uint64_t whole = 0;
	unsigned n;

	if (!*state)
		*state = (uintptr_t)state ^ __builtin_ia32_rdtsc() ^ 0x9e3779b97f4a7c15ull;
	for (;; whole++) {
		first = last = sampled_random(state);
		for (n = 1; (next = sampled_random(state)) < last; n++)
			last = next;
		if (n & 1)
			break;
	}
	return whole * period + (uint64_t)((unsigned __int128)first * period >> 32) + 1;
}
