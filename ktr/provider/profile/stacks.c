/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a thread's stack lies the C library is asked once, when it begins: later it may hold the lock that the
 * library asks under, or be in a sandbox.
 *
 * Of one that was there before, what the C library keeps of it lies at the upper end of its stack (glibc's struct
 * pthread), and a page that nobody may read below the lower one. Such ranges are taken down by the thread that
 * looks, once a second while some thread misses its own; the thread asks nobody. A coroutine's stack is in none
 * which has what belongs to its thread.
 */
#include "ktr/provider/profile/stacks.h"

#include "ktr/provider/profile/code.h"
#include "ktr/provider/profile/create.h"
#include "ktr/provider/profile/maps.h"
#include "ktr/provider/registry/rows.h"
#include "ktr/record/own.h"
#include "ktr/record/thread.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STACKS_ROOM 8192 /* [bytes] that must be left below for more than one frame: it takes half of them */
#define STACKS_MAX 4096 /* stacks that are known; two tables, of which one is read */

static __thread struct ktr__stack_range stacks_own __attribute__((tls_model("initial-exec"))); /* 0, 0: not known */
static __thread bool stacks_asked __attribute__((tls_model("initial-exec"))); /* the C library has said it */
static uint32_t stacks_strange; /* atomic */
static uint32_t stacks_missed;	/* some thread has not found its own; atomic */

static struct stacks_table {
	uint32_t n;
	struct ktr__stack_range at[STACKS_MAX]; /* in the order of their places */
} stacks_table[2];
static uint32_t stacks_turn; /* atomic: the lowest bit is the table that may be read */

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
	stacks_asked = stacks_own.high != 0;
	pthread_attr_destroy(&attr);
}

/* Of the table that may be read: false: it is in none, or another table came meanwhile. */
static bool stacks_look_up(uint64_t at, struct ktr__stack_range *range)
{
	uint32_t turn = __atomic_load_n(&stacks_turn, __ATOMIC_ACQUIRE);
	const struct stacks_table *table = &stacks_table[turn & 1];
	uint32_t low = 0, high = __atomic_load_n(&table->n, __ATOMIC_RELAXED);

	while (low < high && high <= STACKS_MAX) {
		uint32_t middle = (low + high) / 2;

		range->low = __atomic_load_n(&table->at[middle].low, __ATOMIC_RELAXED);
		range->high = __atomic_load_n(&table->at[middle].high, __ATOMIC_RELAXED);
		if (at >= range->high)
			low = middle + 1;
		else if (at < range->low)
			high = middle;
		else
			break;
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return low < high && __atomic_load_n(&stacks_turn, __ATOMIC_RELAXED) == turn;
}

/* Is it the stack of this thread, which was there before? Then that is known from now on. */
static bool stacks_find(uint64_t sp)
{
	uint64_t self = (uintptr_t)pthread_self();
	struct ktr__stack_range range = { 0, 0 };
	uint32_t tid;

	if (stacks_asked || sp >= self)
		return false;
	/* What belongs to the main thread lies elsewhere, among other things. */
	tid = ktr__thread_unasked();
	if (!tid || tid == ktr__rec.pid)
		return false;
	if (stacks_look_up(sp, &range) && self >= range.low && self < range.high) {
		stacks_own = (struct ktr__stack_range){ range.low, self };
		return true;
	}
	if (!__atomic_load_n(&stacks_missed, __ATOMIC_RELAXED))
		__atomic_store_n(&stacks_missed, 1, __ATOMIC_RELAXED);
	return false;
}

/* Memory that can be written to, of no file, above a page that cannot be read: as stacks of threads lie. */
static void stacks_take(struct stacks_table *table)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t guard = 0, low, high, inode;
	char line[4352], access[5];
	uint32_t n = 0;

	while (maps && n < STACKS_MAX && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %" SCNu64, &low, &high, access, &inode) != 4)
			continue;
		if (access[0] == 'r' && access[1] == 'w' && !inode && low == guard && guard) {
			__atomic_store_n(&table->at[n].low, low, __ATOMIC_RELAXED);
			__atomic_store_n(&table->at[n++].high, high, __ATOMIC_RELAXED);
		}
		guard = access[0] == '-' && access[1] == '-' ? high : 0;
	}
	if (maps)
		fclose(maps);
	__atomic_store_n(&table->n, n, __ATOMIC_RELAXED);
}

/* By one thread at a time. */
static void stacks_scan(void)
{
	uint32_t turn = stacks_turn;

	if (!ktr__own.map || ktr__own.sealed || !ktr__rec.proc)
		return;
	stacks_take(&stacks_table[~turn & 1]);
	__atomic_store_n(&stacks_turn, turn + 1, __ATOMIC_RELEASE);
}

void ktr__stacks_want(void)
{
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
	return stacks_find(sp) && stacks_has(sp, here) ? stacks_own.high : 0;
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
	if (now.tv_sec != looked) {
		if (__atomic_exchange_n(&stacks_strange, 0, __ATOMIC_RELAXED))
			ktr__code_look();
		if (!looked || __atomic_exchange_n(&stacks_missed, 0, __ATOMIC_RELAXED))
			stacks_scan();
	}
	looked = now.tv_sec;
}
