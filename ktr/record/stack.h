/* SPDX-License-Identifier: BSD-2-Clause */
/* The caller's stack, by frame pointers. */
#ifndef KTR_STACK_H
#define KTR_STACK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns how many frames were found; *cut is set when the walk ended at something that is not a frame instead of
 * the outermost one. Async-signal-safe.
 */
__attribute__((noinline)) unsigned ktr__stack_walk(uint64_t *pcs, unsigned max, const void *frame, bool *cut);

/* The top of the signal stack that we are on; 0: we are on none; 1: not known. Keeps errno. */
uintptr_t ktr__signal_stack_top(void);

#endif
