/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack of what a signal has interrupted. */
#ifndef KTR_UNWIND_H
#define KTR_UNWIND_H

#include "ktr/record/record.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Where the calling thread's own stack lies; 0, 0: not known. */
struct ktr__stack_range {
	uint64_t low, high;
};

/*
 * Fills in the frames that led to `at`, innermost first: of what was interrupted the address after its first byte,
 * of callers where they go on, so that one less is always in the right function. What does not end where a thread
 * begins is marked as cut. Reads nothing but the stack. Async-signal-safe, within ktr__maps_enter(); up to two
 * system calls where the thread is on a stack that nobody knows. *strange: an address was in nothing that is
 * known.
 */
void ktr__unwind(struct ktr__frames *frames, const ucontext_t *at, const struct ktr__stack_range *own,
		 bool *strange);

/*
 * Makes *own, of the calling thread (zeroed at first), lead as far down as sp, where sp is on the thread's own
 * stack: that ends where the C library's part of it begins. Asks the kernel, once for each part. Where it is on
 * another one, a coroutine's say, *own stays as it was. Async-signal-safe.
 */
void ktr__unwind_range(struct ktr__stack_range *own, uint64_t sp);

#endif
