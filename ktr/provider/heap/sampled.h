/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that were sampled and are not given back yet. Nothing waits for anybody; all is async-signal-safe.
 */
#ifndef KTR_HEAP_SAMPLED_H
#define KTR_HEAP_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

/* false: there is no room, and its end will not be told. */
bool ktr__sampled_add(uint64_t block);

#define KTR__SAMPLED_FEW 4096u

extern uint8_t ktr__sampled_few[KTR__SAMPLED_FEW]; /* how many there are, by their hash. Atomic, each */

static inline uint64_t ktr__sampled_hash(uint64_t block)
{
	return (block >> 4) * 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio */
}

/* false: it is not there, which is so of most. */
static inline bool ktr__sampled_may(uint64_t block)
{
	return __atomic_load_n(&ktr__sampled_few[ktr__sampled_hash(block) >> 52], __ATOMIC_RELAXED) != 0;
}

/* Was it there? It is not any more. */
bool ktr__sampled_take(uint64_t block);

/* Forgets all. */
void ktr__sampled_clear(void);

/*
 * [bytes] Until the next sample: exponentially distributed, so that each byte is sampled as likely as any other.
 * *state is the thread's own; 0: it has not begun.
 */
uint64_t ktr__sampled_gap(uint64_t *state, uint64_t period);

#endif
