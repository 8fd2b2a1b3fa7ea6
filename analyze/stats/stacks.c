/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/stacks.h"

#include "conf/kit/hash.h"

#include <stdlib.h>
#include <string.h>

static struct ktr__framed *stacks_fill(struct ktr__framed *stack, uint32_t proc, const uint64_t *pc, uint32_t n,
				      int is_cut)
{
	stack->pc = malloc((n + 1) * sizeof(*pc));
	if (!stack->pc)
		return NULL;
	memcpy(stack->pc, pc, n * sizeof(*pc));
	stack->n = n;
	stack->proc = proc;
	stack->is_cut = is_cut;
	return stack;
}

void *ktr__framed_get(struct ktr__keyed *stacks, uint32_t proc, const struct ktr_event_bytes *bytes,
		      uint64_t caller, size_t row_bytes)
{
	uint32_t n = bytes ? bytes->n_bytes / 8 : caller != 0;
	int is_cut = bytes && bytes->cut;
	uint64_t pc[KTR_STACK_MAX], key[4];
	struct ktr__framed *stack;

	if (n > KTR_STACK_MAX)
		n = KTR_STACK_MAX;
	pc[0] = caller;
	if (bytes && n)
		memcpy(pc, bytes->bytes, n * sizeof(*pc));
	key[0] = proc;
	key[1] = (uint64_t)n << 1 | (uint64_t)is_cut;
	key[2] = ktr__hash_bytes(1, (const char *)pc, n * sizeof(*pc));
	key[3] = ktr__hash_bytes(0x9e3779b97f4a7c15ull, (const char *)pc, n * sizeof(*pc));
	stack = ktr__keyed_get(stacks, key, row_bytes);
	return stack && !stack->pc ? stacks_fill(stack, proc, pc, n, is_cut) : stack;
}

void ktr__framed_free(struct ktr__keyed *stacks)
{
	for (size_t i = 0; i < stacks->n; i++)
		free(((struct ktr__framed *)(void *)stacks->row[i])->pc);
	ktr__keyed_free(stacks);
}
