/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A record for each place on a stack from which a function that is asked for returns: where to, and what the
 * trampoline took for itself. Found by the address of the place, so that it does not matter in which order
 * functions leave, on which thread, or whether at all: longjmp(3), exceptions, coroutines. The next function
 * that is called from the same place takes the record over.
 */
#ifndef KTR_FBT_RECORD_H
#define KTR_FBT_RECORD_H

#include "ktr/provider/fbt/function.h"

struct ktr__fbt_record {
	uint64_t ret; /* the return address; first, trampoline_x86_64.S */
	uint64_t rbx; /* the caller's */
	struct ktr__fbt_function *function;
	uint64_t began; /* the key of its scope, if its beginning was recorded; else 0 */
};

/*
 * Where function is the one of a struct ktr__fbt_typed, began is the place itself, which is the key, and says in
 * the bits that it does not need:
 */
#define KTR__FBT_UNBEGUN   1u /* its beginning was not recorded */
#define KTR__FBT_NO_RESULT 2u /* it ended in another way than by returning */

#define KTR__FBT_STACK 16 /* log2 [bytes] of stack that an area of records is for */
#define KTR__FBT_PLACE 3  /* log2 [bytes] a place */

#define KTR__FBT_PLACES (1u << (KTR__FBT_STACK - KTR__FBT_PLACE))

struct ktr__fbt_calls;

struct ktr__fbt_area {
	uint64_t stack; /* place >> KTR__FBT_STACK */
	struct ktr__fbt_calls *calls; /* atomic; NULL: none began while a filter was on */
	uint64_t reserved[6];
	struct ktr__fbt_record record[KTR__FBT_PLACES];
};

/* What is kept of a call while a filter is on: call.c. */
struct ktr__fbt_call {
	const uint64_t *place; /* NULL: it has ended */
	struct ktr__fbt_call *outer; /* that is around it, at a higher place; NULL: none */
	struct ktr__fbt_call *inner; /* the next one of a list, for a moment */
	uint64_t began; /* [ticks] */
	struct ktr__fbt_record told; /* as its record would be without a filter: function and began */
	uint32_t depth; /* calls that count, it and those around it */
	uint32_t flags;
};

struct ktr__fbt_calls {
	uint64_t thread; /* number of the one that was here last */
	struct ktr__fbt_call *inner; /* its innermost call here */
	struct ktr__fbt_call call[KTR__FBT_PLACES];
};

/* The thread's last one. */
extern __thread struct ktr__fbt_area *ktr__fbt_area;

/* Another one becomes it, made where need be. NULL: there is no memory. Async-signal-safe. */
struct ktr__fbt_area *ktr__fbt_area_find(uint64_t stack);

/* Its calls, made where need be. Likewise. */
struct ktr__fbt_calls *ktr__fbt_calls_make(struct ktr__fbt_area *area);

/* NULL: there is no memory, for which is asked at each 64 KiB of stack once. Async-signal-safe. */
static inline struct ktr__fbt_record *ktr__fbt_record(uint64_t place)
{
	struct ktr__fbt_area *area = ktr__fbt_area;

	if (__builtin_expect(!area || area->stack != place >> KTR__FBT_STACK, 0)) {
		area = ktr__fbt_area_find(place >> KTR__FBT_STACK);
		if (!area)
			return NULL;
	}
	return &area->record[place >> KTR__FBT_PLACE & (KTR__FBT_PLACES - 1)];
}

/* The calls beside the place's record; NULL, as record may be: there is no memory. */
static inline struct ktr__fbt_calls *ktr__fbt_calls(const uint64_t *place, const struct ktr__fbt_record *record)
{
	struct ktr__fbt_area *area = ktr__fbt_area;
	struct ktr__fbt_calls *calls;

	if (!area || area->stack != (uint64_t)(uintptr_t)place >> KTR__FBT_STACK)
		return NULL;
	calls = __atomic_load_n(&area->calls, __ATOMIC_ACQUIRE);
	return calls || !record ? calls : ktr__fbt_calls_make(area);
}

static inline struct ktr__fbt_call *ktr__fbt_call_at(struct ktr__fbt_calls *calls, const uint64_t *place)
{
	return &calls->call[(uint64_t)(uintptr_t)place >> KTR__FBT_PLACE & (KTR__FBT_PLACES - 1)];
}

#endif
