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

/* How many there are, by their hash. Atomic, each. Each call of free(3) reads one. */
extern __attribute__((visibility("hidden"))) uint8_t ktr__sampled_few[KTR__SAMPLED_FEW];

/* Of the lower half of its address, which takes an instruction less: 2^32 / golden ratio. */
static inline uint32_t ktr__sampled_few_hash(uint64_t block)
{
	return ((uint32_t)block * 0x9e3779b1u) >> 20;
}

/* false: it is not there, which is so of most. */
static inline bool ktr__sampled_may(uint64_t block)
{
	return __atomic_load_n(&ktr__sampled_few[ktr__sampled_few_hash(block)], __ATOMIC_RELAXED) != 0;
}

/* It may be there from now on, for ktr__sampled_may(). */
void ktr__sampled_always(uint64_t block);

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
