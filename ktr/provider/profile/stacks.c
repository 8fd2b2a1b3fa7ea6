/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a thread's stack lies it is asked for once, when it begins: later it may hold the lock that the C library
 * asks under, or be in a sandbox.
 */
#include "ktr/provider/profile/stacks.h"

#include "ktr/provider/profile/create.h"
#include "ktr/provider/profile/maps.h"
#include "ktr/provider/registry/rows.h"
#include "ktr/record/own.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#define STACKS_ROOM 8192 /* [bytes] that must be left below for more than one frame: it takes half of them */

static __thread struct ktr__stack_range stacks_own __attribute__((tls_model("initial-exec"))); /* 0, 0: not known */
static uint32_t stacks_strange; /* atomic */

/* ---- threads ---- */

static void stacks_begin(void)
{
	pthread_attr_t attr;
	size_t bytes;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (pthread_attr_getstack(&attr, &low, &bytes) == 0)
		stacks_own = (struct ktr__stack_range){ (uintptr_t)low, (uintptr_t)low + bytes };
	pthread_attr_destroy(&attr);
}

void ktr__stacks_want(void)
{
	__atomic_store_n(&ktr__create_asks, stacks_begin, __ATOMIC_RELEASE);
}

/* How far what lies above can be read; 0: it is one that nobody knows, or there is too little room on it. */
static uint64_t stacks_end(uint64_t sp)
{
	uint64_t here = (uintptr_t)__builtin_frame_address(0);

	if (sp >= stacks_own.low && sp < stacks_own.high)
		return here - stacks_own.low > STACKS_ROOM && here < sp ? stacks_own.high : 0;
	return ktr__unwind_main(sp);
}

/* ---- stacks ---- */

_Static_assert(offsetof(struct ktr__frame, pcs) == offsetof(struct ktr__frames, pcs), "the recorder reads both");

void ktr__stacks_one(struct ktr__frame *frame, uint64_t pc)
{
	*frame = (struct ktr__frame){ 8 | KTR_PAYLOAD_CUT, { pc } };
}

bool ktr__stacks_known(uint64_t sp)
{
	return stacks_end(sp) != 0;
}

void ktr__stacks_from(struct ktr__frames *frames, const struct ktr__here *here)
{
	uint64_t end = stacks_end(here->sp);
	bool strange;

	if (!end) {
		ktr__stacks_one((struct ktr__frame *)(void *)frames, here->pc);
		return;
	}
	ktr__maps_enter();
	ktr__unwind_from(frames, here, end, &strange);
	ktr__maps_leave();
	/* Once a second. */
	if (strange && !ktr__own.sealed && !__atomic_exchange_n(&stacks_strange, 1, __ATOMIC_RELAXED))
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
	if (of_ours == n) {
		ktr__stacks_one((struct ktr__frame *)(void *)frames, (uintptr_t)caller);
		return;
	}
	memmove(frames->pcs, frames->pcs + of_ours, (n - of_ours) * sizeof(frames->pcs[0]));
	frames->word -= of_ours * 8ull;
	for (unsigned i = n - of_ours; i < 12; i++)
		frames->pcs[i] = 0;
}

void ktr__stacks_look(void)
{
	static time_t looked; /* by one thread at a time */
	struct timespec now;

	ktr__maps_look();
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec != looked)
		__atomic_store_n(&stacks_strange, 0, __ATOMIC_RELAXED);
	looked = now.tv_sec;
}
