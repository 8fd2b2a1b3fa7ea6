/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/profile/stacks.h"

#include "ktr/provider/profile/maps.h"
#include "ktr/provider/profile/unwind.h"
#include "ktr/provider/registry/rows.h"

#include <signal.h>
#include <string.h>

static __thread struct ktr__stack_range stacks_own __attribute__((tls_model("initial-exec")));
static uint32_t stacks_strange; /* atomic */

void ktr__stacks_from(struct ktr__frames *frames, const struct ktr__here *here)
{
	ucontext_t at; /* what the unwinder reads of it is set */
	bool strange;

	at.uc_mcontext.gregs[REG_RIP] = (greg_t)here->pc - 1; /* of what was interrupted it says the next address */
	at.uc_mcontext.gregs[REG_RSP] = (greg_t)here->sp;
	at.uc_mcontext.gregs[REG_RBP] = (greg_t)here->bp;
	at.uc_stack = (stack_t){ .ss_flags = SS_DISABLE };
	ktr__unwind_range(&stacks_own, here->sp);
	ktr__maps_enter();
	ktr__unwind(frames, &at, &stacks_own, &strange);
	ktr__maps_leave();
	/* Once a second. */
	if (strange && !__atomic_exchange_n(&stacks_strange, 1, __ATOMIC_RELAXED))
		ktr__rows_wake();
}

/* Our own frames come first: they are left out. */
void ktr__stacks_here(struct ktr__frames *frames, const void *caller)
{
	const struct ktr__here here = KTR__HERE();
	unsigned n, of_ours = 0;

	ktr__stacks_from(frames, &here);
	n = (unsigned)(frames->word % KTR_PAYLOAD_CUT) / 8;
	while (of_ours < n && frames->pcs[of_ours] != (uint64_t)(uintptr_t)caller)
		of_ours++;
	if (of_ours == n)
		return;
	memmove(frames->pcs, frames->pcs + of_ours, (n - of_ours) * sizeof(frames->pcs[0]));
	frames->word -= of_ours * 8ull;
	for (unsigned i = n - of_ours; i < 12; i++)
		frames->pcs[i] = 0;
}

void ktr__stacks_look(void)
{
	ktr__maps_look();
	__atomic_store_n(&stacks_strange, 0, __ATOMIC_RELAXED);
}
