/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack of what a signal has interrupted. */
#ifndef KTR_UNWIND_H
#define KTR_UNWIND_H

#include "ktr/provider/timer/threads.h"
#include "ktr/record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/*
 * Fills in the frames that led to `at`, innermost first: of what was interrupted the address after its first byte,
 * of callers where they go on, so that one less is always in the right function. What does not end where a thread
 * begins is marked as cut. Reads nothing but the stack. Async-signal-safe, within ktr__maps_enter(); up to two
 * system calls where the thread is on a stack that nobody knows. *strange: an address was in nothing that is
 * known.
 */
void ktr__unwind(struct ktr__frames *frames, const ucontext_t *at, const struct ktr__stack_range *own,
		 bool *strange);

/* Where a call goes on, and what the registers are there. */
struct ktr__here {
	uint64_t pc, sp, bp;
};

/*
 * The same of a call from there, on a stack that can be read from here->sp to end. Asks the kernel only where it
 * comes through the frame of a handler of a signal, on a stack that nobody knows.
 */
void ktr__unwind_from(struct ktr__frames *frames, const struct ktr__here *here, uint64_t end, bool *strange);

/*
 * The same of what was interrupted there, by n bytes from `at->sp` on that somebody has copied meanwhile: nothing
 * else is read, so what goes on beyond them, or on another stack, is cut.
 */
void ktr__unwind_copy(struct ktr__frames *frames, const struct ktr__here *at, const void *bytes, size_t n,
		      bool *strange);

/* Where the main thread's stack ends, if sp lies on that; else 0. Async-signal-safe. */
uint64_t ktr__unwind_main(uint64_t sp);

#endif
