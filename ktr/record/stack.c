/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frame pointers: each frame holds the address of its caller's frame and the return address after it.
 * The walk stays within the stack it starts on and goes upwards only, so it ends, and touches no page
 * that is not part of that stack. It is honest: where the chain does not end in the outermost frame
 * (which has a null frame pointer) the stack is marked as cut. Code compiled without frame pointers
 * leaves anything in the register; such a value is used only if it looks like a frame of this stack.
 *
 * Where a stack ends: a thread's own data lies above it, in the same mapping (glibc and musl put the
 * thread control block at the top of the stack); the main thread's ends below its environment, whose
 * place is taken down before main(); a signal stack is asked of the kernel.
 */
#include "ktr/record/stack.h"

#include "ktr/arch/arch.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static uintptr_t stack_main_top;

/* [bytes] no stack is larger: further away the thread's data belongs to another mapping. */
#define STACK_REACH (64ul << 20)

__attribute__((constructor(101))) static void stack_note_main(void)
{
	stack_main_top = (uintptr_t)environ;
}

uintptr_t ktr__signal_stack_top(void)
{
	stack_t stack = { .ss_flags = 0 };
	int saved = errno;

	if (ktr__own.sealed)
		return 1;
	if (sigaltstack(NULL, &stack) != 0) {
		errno = saved;
		return 1; /* a filter of system calls: nobody knows, and nothing ends so low */
	}
	return stack.ss_flags & SS_ONSTACK ? (uintptr_t)stack.ss_sp + stack.ss_size : 0;
}

static uintptr_t stack_top(uintptr_t here)
{
	uintptr_t own = (uintptr_t)&ktr__self, top = UINTPTR_MAX, signal_top;

	/* The nearer one: other mappings, with holes between, may lie above the main thread's stack. */
	if (here < own)
		top = own;
	if (here < stack_main_top && stack_main_top < top)
		top = stack_main_top;
	if (top - here < STACK_REACH)
		return top;
	signal_top = ktr__signal_stack_top();
	return signal_top ? signal_top : here; /* a coroutine's stack: nobody says where it ends */
}

unsigned ktr__stack_walk(uint64_t *pcs, unsigned max, const void *frame, bool *cut)
{
	uintptr_t at = (uintptr_t)frame, top = stack_top(at);
	unsigned n = 0;

	*cut = false;
	while (at && n < max) {
		const uintptr_t *words = (const uintptr_t *)at;

		if (at % sizeof(uintptr_t) || top < 2 * sizeof(uintptr_t) ||
		    at > top - 2 * sizeof(uintptr_t)) {
			*cut = true;
			return n;
		}
		if (!words[1])
			return n;
		pcs[n++] = ktr__return_address(words[1]);
		if (words[0] && words[0] <= at) {
			*cut = true;
			return n;
		}
		at = words[0];
	}
	*cut = at != 0;
	return n;
}
