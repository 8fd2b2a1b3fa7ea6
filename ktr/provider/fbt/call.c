/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where calls have to take a time to be recorded, a call's beginning waits until it has: then those around it have,
 * too, so they are told of first, from outside in, each with how long ago it began. What a thread has told of nests
 * as its calls did, and a ring never goes back in time. That is done when a call ends that took so long, or one
 * within it. uftrace(1) goes by the same rule for its -t, but writes the times of the past.
 *
 * A thread's first event takes longer than all others, and the clock has been read by then. So the first call of a
 * thread tells what the filter is.
 *
 * Compiled for general registers, as fire.c is.
 */
#include "ktr/provider/fbt/call.h"

#include "ktr/provider/fbt/filter.h"
#include "ktr/provider/fbt/fire.h"
#include "ktr/session/clock.h"

#define CALL_NEAR 4096 /* [bytes] two places so near each other are of one stack */

/* struct ktr__fbt_call.flags */
#define CALL_WITHIN  1u /* it is a caller's, or within one */
#define CALL_CHOSEN  2u /* it is not too deep, and where it has to be */
#define CALL_WAITS   4u /* its beginning has not been told */
#define CALL_IS_SPAN 8u /* its beginning is to be told at all */

struct ktr__fbt_function ktr__fbt_filtered = { .probe = { &ktr__fbt_none, &ktr__fbt_none } };

static __thread struct {
	uint64_t number; /* of the thread, as nobody had it before; 0: not yet */
	struct ktr__fbt_call *inner; /* that began last */
} call_self;

static uint64_t call_threads; /* atomic */

/*
 * The innermost call that is around a place. One that was left lies below it, or another return address is in its
 * place: that is looked at where there is a stack for sure.
 */
static struct ktr__fbt_call *call_around(struct ktr__fbt_call *at, const uint64_t *place)
{
	while (at && (at->place <= place || ((uintptr_t)at->place - (uintptr_t)place < CALL_NEAR &&
					     !ktr__fbt_is_returned(*at->place))))
		at = at->outer;
	return at;
}

/* What is left of another thread, which had the stack before, is none of ours. */
static struct ktr__fbt_call *call_outer(const struct ktr__fbt_calls *calls, const uint64_t *place)
{
	struct ktr__fbt_call *outer = NULL;

	if (!call_self.number) {
		call_self.number = __atomic_add_fetch(&call_threads, 1, __ATOMIC_RELAXED);
		ktr__fbt_fire_note();
	}
	if (calls && calls->thread == call_self.number)
		outer = call_around(calls->inner, place);
	return outer ? outer : call_around(call_self.inner, place);
}

/* Handlers of signals that come in between leave both as they were. */
static void call_push(struct ktr__fbt_calls *calls, struct ktr__fbt_call *call)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	calls->thread = call_self.number;
	calls->inner = call_self.inner = call;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static bool call_same_area(const struct ktr__fbt_call *one, const struct ktr__fbt_call *two)
{
	return one && !(((uintptr_t)one->place ^ (uintptr_t)two->place) >> KTR__FBT_STACK);
}

static bool call_is_chosen(uint32_t flags, uint32_t depth)
{
	uint32_t most = __atomic_load_n(&ktr__fbt_filter.depth, __ATOMIC_RELAXED);

	return flags & CALL_WITHIN && (!most || depth <= most);
}

static uint32_t call_within(const struct ktr__fbt_function *function, const struct ktr__fbt_call *outer)
{
	bool all = !__atomic_load_n(&ktr__fbt_filter.within, __ATOMIC_RELAXED);

	return all || (outer && outer->flags & CALL_WITHIN) ||
	       __atomic_load_n(&function->wanted, __ATOMIC_RELAXED) & KTR__FBT_CALLER ? CALL_WITHIN : 0;
}

bool ktr__fbt_call_begun(struct ktr__fbt_function *function, struct ktr__fbt_record *record, const uint64_t *place,
			 bool jumps, struct ktr__fbt_record **told)
{
	bool waits = __atomic_load_n(&ktr__fbt_filter.longer, __ATOMIC_RELAXED);
	bool counts = __atomic_load_n(&function->wanted, __ATOMIC_RELAXED) & 3;
	struct ktr__fbt_calls *calls = ktr__fbt_calls(place, record);
	struct ktr__fbt_call *outer = call_outer(calls, place), *call;
	uint32_t flags = call_within(function, outer), depth = outer ? outer->depth : 0;

	if (jumps && calls)
		flags |= ktr__fbt_call_at(calls, place)->flags & CALL_WITHIN;
	depth += counts && flags;
	if (counts && call_is_chosen(flags, depth))
		flags |= CALL_CHOSEN;
	*told = NULL;
	if (!record)
		return flags & CALL_CHOSEN && !waits;
	record->function = &ktr__fbt_filtered;
	record->began = 0;
	if (!calls)
		return false;
	call = ktr__fbt_call_at(calls, place);
	*call = (struct ktr__fbt_call){ .place = place, .outer = outer, .depth = depth,
					.told = { .function = function } };
	if (waits && flags & CALL_CHOSEN) {
		flags |= CALL_WAITS | (ktr__fbt_fire_held(function, &call->told, place) ? CALL_IS_SPAN : 0);
		call->began = ktr__clock_now(ktr__fbt_filter.clock);
	}
	call->flags = flags;
	record->began = (uint64_t)(uintptr_t)place;
	call_push(calls, call);
	*told = &call->told;
	return (flags & (CALL_CHOSEN | CALL_WAITS)) == CALL_CHOSEN;
}

/* One that was told of has only such around it. */
static void call_tell(struct ktr__fbt_call *call)
{
	struct ktr__fbt_call *list = NULL;

	for (; call && (call->flags & (CALL_CHOSEN | CALL_WAITS)) != CALL_CHOSEN; call = call->outer) {
		call->inner = list;
		list = call;
	}
	for (; list; list = list->inner) {
		if (!(list->flags & CALL_WAITS))
			continue;
		list->flags &= ~CALL_WAITS;
		if (list->flags & CALL_IS_SPAN)
			ktr__fbt_fire_late(&list->told, list->place, list->began);
	}
}

static bool call_is_long(const struct ktr__fbt_call *call, uint64_t now)
{
	return now - call->began >= __atomic_load_n(&ktr__fbt_filter.longer, __ATOMIC_RELAXED);
}

void ktr__fbt_call_ended(const uint64_t *place, bool has_result)
{
	struct ktr__fbt_record *record = ktr__fbt_record((uint64_t)(uintptr_t)place);
	struct ktr__fbt_calls *calls = ktr__fbt_calls(place, record);
	struct ktr__fbt_call *call = calls ? ktr__fbt_call_at(calls, place) : NULL, *outer;
	uint64_t now;

	if (!call || call->place != place)
		return;
	outer = call->outer;
	if (call->flags & CALL_WAITS || (outer && outer->flags & CALL_WAITS)) {
		now = ktr__clock_now(ktr__fbt_filter.clock);
		if (call->flags & CALL_WAITS && call_is_long(call, now))
			call_tell(call);
		else if (outer && outer->flags & CALL_WAITS && call_is_long(outer, now))
			call_tell(outer);
	}
	if ((call->flags & (CALL_CHOSEN | CALL_WAITS)) == CALL_CHOSEN)
		ktr__fbt_fire_ended(&call->told, has_result);
	call->place = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	call_self.inner = outer;
	calls->inner = call_same_area(outer, &(struct ktr__fbt_call){ .place = place }) ? outer : NULL;
}
