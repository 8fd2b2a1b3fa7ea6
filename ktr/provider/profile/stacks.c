/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a thread's stack lies the C library is asked once, when it begins: later it may hold the lock that the
 * library asks under, or be in a sandbox.
 *
 * Of one that was there before, what the C library keeps of it lies at the upper end of its stack (glibc's struct
 * pthread), and a page that cannot be read at the lower one. So the kernel is asked whether all can be read from
 * here to there: then it is this stack, as far as that. Where that is not so, on a coroutine's say, it is not asked
 * for ever.
 */
#include "ktr/provider/profile/stacks.h"

#include "ktr/provider/profile/create.h"
#include "ktr/provider/profile/maps.h"
#include "ktr/provider/registry/rows.h"
#include "ktr/record/own.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define STACKS_ROOM 8192 /* [bytes] that must be left below for more than one frame: it takes half of them */
#define STACKS_PAGE 4096ul
#define STACKS_FAR  (4ul << 20) /* [bytes] that are asked for at most, 64 pages at a time */
#define STACKS_AT_A_TIME 64
#define STACKS_ASKS 16 /* by a thread, that were in vain */

static __thread struct ktr__stack_range stacks_own __attribute__((tls_model("initial-exec"))); /* 0, 0: not known */
static __thread bool stacks_whole __attribute__((tls_model("initial-exec"))); /* the C library has said it */
static __thread uint8_t stacks_in_vain __attribute__((tls_model("initial-exec")));
static uint32_t stacks_strange; /* atomic */
static bool stacks_late;	/* there are threads that we have not seen begin */

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
	stacks_whole = stacks_own.high != 0;
	pthread_attr_destroy(&attr);
}

/* Can all pages of it be read? The kernel says so, and faults for nobody. */
static bool stacks_can_read(uint64_t low, uint64_t high)
{
	struct iovec local, remote[STACKS_AT_A_TIME];
	char bytes[STACKS_AT_A_TIME];

	while (low < high) {
		unsigned long n = (high - low) / STACKS_PAGE;

		n = n > STACKS_AT_A_TIME ? STACKS_AT_A_TIME : n;
		for (unsigned long i = 0; i < n; i++)
			remote[i] = (struct iovec){ (void *)(uintptr_t)(low + i * STACKS_PAGE), 1 }; // NOLINT
		local = (struct iovec){ bytes, n };
		if (syscall(SYS_process_vm_readv, getpid(), &local, 1, remote, n, 0) != (long)n)
			return false;
		low += n * STACKS_PAGE;
	}
	return true;
}

/* A thread that was there before is on its own stack there, with room below? Then that is known from now on. */
static bool stacks_ask(uint64_t sp, uint64_t here)
{
	uint64_t high = (uintptr_t)pthread_self(), low = (here - 2 * STACKS_ROOM) & -STACKS_PAGE;
	uint64_t known = stacks_own.low ? stacks_own.low : (high + STACKS_PAGE - 1) & -STACKS_PAGE;
	int saved = errno;
	bool is_it;

	if (!stacks_late || stacks_whole || stacks_in_vain == STACKS_ASKS || here >= sp || sp >= high ||
	    high - here > STACKS_FAR || ktr__own.sealed)
		return false;
	is_it = stacks_can_read(low, known);
	errno = saved;
	if (is_it)
		stacks_own = (struct ktr__stack_range){ low, high };
	else
		stacks_in_vain++;
	return is_it;
}

void ktr__stacks_want(bool late)
{
	stacks_late = late;
	__atomic_store_n(&ktr__create_asks, stacks_begin, __ATOMIC_RELEASE);
}

/* Is it the thread's own, with room left? */
static bool stacks_has(uint64_t sp, uint64_t here)
{
	return sp >= stacks_own.low && sp < stacks_own.high && here < sp && here > stacks_own.low &&
	       here - stacks_own.low > STACKS_ROOM;
}

/* How far what lies above can be read; 0: it is one that nobody knows, or there is too little room on it. */
static uint64_t stacks_end(uint64_t sp)
{
	uint64_t here = (uintptr_t)__builtin_frame_address(0), end;

	if (stacks_has(sp, here))
		return stacks_own.high;
	end = ktr__unwind_main(sp);
	if (end)
		return end;
	return stacks_ask(sp, here) && stacks_has(sp, here) ? stacks_own.high : 0;
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
