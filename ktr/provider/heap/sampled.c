/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of eight blocks, a line of the cache each, found by the block's hash; and a byte beside for each of so many
 * other hashes, how many blocks it stands for: most calls of free(3) are for blocks that nobody sampled, and read
 * that byte alone.
 */
#include "ktr/provider/heap/sampled.h"

#include <stdatomic.h>

#define SAMPLED_LINES  16384u /* 131,072 blocks, a megabyte of which nothing is touched before it is used */
#define SAMPLED_LINE   8u
#define SAMPLED_HASHES 65536u
#define SAMPLED_FULL   255u /* stays: it stands for an unknown number */

static _Alignas(64) _Atomic uint64_t sampled_block[SAMPLED_LINES][SAMPLED_LINE];
static _Atomic uint8_t sampled_n[SAMPLED_HASHES];

static uint64_t sampled_hash(uint64_t block)
{
	return (block >> 4) * 0x9e3779b97f4a7c15ull;
}

static void sampled_count(_Atomic uint8_t *n, int by)
{
	uint8_t was = atomic_load_explicit(n, memory_order_relaxed);

	while (was != SAMPLED_FULL && !atomic_compare_exchange_weak(n, &was, (uint8_t)(was + by)))
		;
}

bool ktr__sampled_add(uint64_t block)
{
	uint64_t hash = sampled_hash(block), none;
	_Atomic uint64_t *line = sampled_block[hash >> 50];

	/* Before it is there: who takes it reads the count first. */
	sampled_count(&sampled_n[hash >> 32 & (SAMPLED_HASHES - 1)], 1);
	for (unsigned i = 0; i < SAMPLED_LINE; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&line[i], &none, block))
			return true;
	}
	sampled_count(&sampled_n[hash >> 32 & (SAMPLED_HASHES - 1)], -1);
	return false;
}

bool ktr__sampled_take(uint64_t block)
{
	uint64_t hash = sampled_hash(block), it;
	_Atomic uint64_t *line = sampled_block[hash >> 50];

	if (!atomic_load_explicit(&sampled_n[hash >> 32 & (SAMPLED_HASHES - 1)], memory_order_relaxed))
		return false;
	for (unsigned i = 0; i < SAMPLED_LINE; i++) {
		it = block;
		if (atomic_compare_exchange_strong(&line[i], &it, 0)) {
			sampled_count(&sampled_n[hash >> 32 & (SAMPLED_HASHES - 1)], -1);
			return true;
		}
	}
	return false;
}

void ktr__sampled_clear(void)
{
	for (unsigned i = 0; i < SAMPLED_LINES * SAMPLED_LINE; i++)
		if (atomic_load_explicit(&sampled_block[i / SAMPLED_LINE][i % SAMPLED_LINE], memory_order_relaxed))
			ktr__sampled_take(sampled_block[i / SAMPLED_LINE][i % SAMPLED_LINE]);
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
