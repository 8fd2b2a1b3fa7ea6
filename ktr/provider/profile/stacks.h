/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of threads that call a provider's function, for providers that tell of such calls.
 *
 *	operation x operation	here	look
 *	here			safe	safe
 *	look			safe	one at a time
 */
#ifndef KTR_PROFILE_STACKS_H
#define KTR_PROFILE_STACKS_H

#include "ktr/record/record.h"

#include <stdint.h>

/* Where the program called: where that goes on, and what the registers are there. */
struct ktr__here {
	uint64_t pc, sp, bp;
};

/* Within the function that the program called. It keeps a frame pointer for it. */
#define KTR__HERE()                                                                              \
	{                                                                                        \
		(uint64_t)(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)), \
			(uint64_t)(uintptr_t)__builtin_frame_address(0) + 16,                    \
			*(const uint64_t *)__builtin_frame_address(0)                            \
	}

/*
 * The stack from there on, as an event's argument of KTR_ARG_STACK. Asks the loader for nothing, allocates nothing;
 * asks the kernel where a thread's stack is not known yet. Code that is not known makes the registry's thread look.
 * Async-signal-safe.
 */
void ktr__stacks_from(struct ktr__frames *frames, const struct ktr__here *here);

/* The same within a function that has such a function's return address. */
void ktr__stacks_here(struct ktr__frames *frames, const void *caller);

/* Takes in what has been loaded: before the first stack, and from an operation `look`. May wait for the loader. */
void ktr__stacks_look(void);

#endif
