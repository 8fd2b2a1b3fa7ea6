/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of threads that call a provider's function, for providers that tell of such calls.
 *
 *	operation x operation	from, here	look, want
 *	from, here		safe		safe
 *	look, want		safe		one at a time
 */
#ifndef KTR_PROFILE_STACKS_H
#define KTR_PROFILE_STACKS_H

#include "ktr/provider/profile/unwind.h"

#include <stdbool.h>
#include <stdint.h>

/* Within the function that the program called. It keeps a frame pointer for it. */
#define KTR__HERE()                                                                              \
	{                                                                                        \
		(uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)), \
			(uint64_t)(uintptr_t)__builtin_frame_address(0) + 16,                    \
			*(const uint64_t *)__builtin_frame_address(0)                            \
	}

/* A stack of one frame, marked as cut, which takes little room itself: an event's argument, too. */
struct ktr__frame {
	uint64_t word, pcs[12];
};

void ktr__stacks_one(struct ktr__frame *frame, uint64_t pc);

/*
 * Is that where more frames can be had? Not of a thread whose stack is not known, or has little room left, nor on
 * another stack than the thread's own: a coroutine's, that of signals. Async-signal-safe.
 */
bool ktr__stacks_known(uint64_t sp);

/*
 * Fills in the stack from there on, as an event's argument of KTR_ARG_STACK; of one that is not known one frame.
 * Asks neither the loader nor the kernel, allocates nothing. Code that is not known makes the registry's thread
 * look. Async-signal-safe.
 */
void ktr__stacks_from(struct ktr__frames *frames, const struct ktr__here *here);

/* The same within a function that has such a function's return address. Takes a kilobyte. */
void ktr__stacks_here(struct ktr__frames *frames, const void *caller);

/* From now on threads take down where their stacks lie when they begin. */
void ktr__stacks_want(void);

/*
 * Takes in what has been loaded, and stacks of threads that were there before: before the first stack, and from an
 * operation `look`. May wait for the loader.
 */
void ktr__stacks_look(void);

#endif
