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
#include <string.h>
#include <unistd.h>

static uintptr_t stack_main_top;

/* [bytes] no stack is larger: further away the thread's data belongs to another mapping. */
#define STACK_REACH (64ul << 20)

__attribute__((constructor(101), cold)) static void stack_note_main(void)
{
	stack_main_top = (uintptr_t)environ;
}

__attribute__((cold)) uintptr_t ktr__signal_stack_top(void)
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

/*
 * Returns how many frames were found; *cut is set when the walk ended at something that is not a frame instead of
 * the outermost one.
 */
static inline unsigned stack_walk(uint64_t *pcs, unsigned max, const void *frame, bool *cut)
{
	uintptr_t at = (uintptr_t)frame, top = stack_top(at);
	uintptr_t last = top < 2 * sizeof(uintptr_t) ? 0 : top - 2 * sizeof(uintptr_t);
	unsigned n = 0;

	*cut = true;
	while (n < max) {
		const uintptr_t *words = (const uintptr_t *)at;
		uintptr_t next;

		if (at % sizeof(uintptr_t) || at > last)
			return n;
		next = words[0];
		if (!words[1])
			break;
		pcs[n++] = ktr__return_address(words[1]);
		if (next <= at) {
			*cut = next != 0;
			return n;
		}
		at = next;
	}
	*cut = n == max;
	return n;
}

__attribute__((visibility("default"), noinline)) void ktr_stack_save(struct ktr_stack *stack)
{
	bool cut;

	stack->depth = stack_walk(stack->pcs, KTR_STACK_MAX, __builtin_frame_address(0), &cut);
}

__attribute__((visibility("default"), noinline))
void ktr__record_stack(struct ktr_site *site, const uint64_t *pcs, unsigned depth)
{
	struct ktr__frames stack;
	bool cut = false;

	if (!depth || depth > KTR_STACK_MAX)
		depth = KTR_STACK_MAX;
	if (!pcs)
		depth = stack_walk(stack.pcs, depth, __builtin_frame_address(0), &cut);
	else
		memcpy(stack.pcs, pcs, depth * sizeof(*pcs));
	/* What is written of it without a look at how deep it is. */
	for (unsigned i = depth; i < (depth <= 5 ? 5 : 12); i++)
		__atomic_store_n(&stack.pcs[i], 0, __ATOMIC_RELAXED);
	stack.word = depth * 8 | (cut ? KTR_PAYLOAD_CUT : 0);
	ktr__record1(site, (uintptr_t)&stack);
}
