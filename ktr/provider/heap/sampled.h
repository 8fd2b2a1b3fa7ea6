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
