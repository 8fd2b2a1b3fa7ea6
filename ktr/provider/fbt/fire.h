/* SPDX-License-Identifier: BSD-2-Clause */
/* What the trampoline calls: trampoline_x86_64.S. */
#ifndef KTR_FBT_FIRE_H
#define KTR_FBT_FIRE_H

#include "ktr/provider/fbt/record.h"

#include <unwind.h>

struct ktr__fbt_way {
	struct ktr__fbt_record *record; /* NULL: the function's return is not asked for */
	void *body;
};

#define KTR__FBT_NEST 4 /* probes within each other */

/* The innermost event that may call the C library. */
struct ktr__fbt_within {
	uintptr_t frame; /* 0: there is none */
	uint64_t ret; /* what lies there */
	uint64_t blocked; /* signals */
};

/* A thread's. */
struct ktr__fbt_self {
	uint32_t depth; /* first: usual.h */
	uint32_t cpu; /* + 1, of the last event that was told of in C; 0: there was none */
	uintptr_t frame[KTR__FBT_NEST];
	struct ktr__fbt_within calls;
};

extern __thread struct ktr__fbt_self ktr__fbt_self;

void ktr__fbt_trampoline(void);
void ktr__fbt_trampoline_filtered(void); /* while a filter is on */
void ktr__fbt_returned(void); /* places in it */
void ktr__fbt_unwound(void);
void ktr__fbt_wide(void (*call)(void *), void *context, uint32_t mask);
extern uint32_t ktr__fbt_wide_mask; /* for that: parts of XCR0 that are vectors; 0: it is not known. Written once */
void ktr__fbt_low(void (*call)(void *), void *context);
extern const bool ktr__fbt_is_low;

/* The same place in the trampoline of functions that were not built for it; 0: there is none. Written once. */
extern uintptr_t ktr__fbt_returned_plain;

/* Is that where a function returns to whose return is asked for? */
static inline bool ktr__fbt_is_returned(uint64_t ret)
{
	return ret == (uint64_t)(uintptr_t)ktr__fbt_returned || (ret && ret == ktr__fbt_returned_plain);
}

/* A function was called. place: where its return address is. */
struct ktr__fbt_way ktr__fbt_entered(struct ktr__fbt_function *function, uint64_t *place);

/* The same while a filter is on. */
struct ktr__fbt_way ktr__fbt_entered_filtered(struct ktr__fbt_function *function, uint64_t *place);

/* It has returned; or an exception came through it, and so there is no result. */
void ktr__fbt_left(struct ktr__fbt_record *record, const uint64_t *place);
void ktr__fbt_thrown(struct ktr__fbt_record *record, const uint64_t *place);

/*
 * For call.c, between the two: what a call's end is to be that does not begin yet, and whether it has a beginning;
 * that beginning, late; its end.
 */
bool ktr__fbt_fire_held(struct ktr__fbt_function *function, struct ktr__fbt_record *told, const uint64_t *place);
void ktr__fbt_fire_late(const struct ktr__fbt_record *told, const uint64_t *place, uint64_t began);
void ktr__fbt_fire_note(void); /* what the filter is */
void ktr__fbt_fire_ended(struct ktr__fbt_record *told, bool has_result);

/* Unwinders call it for each frame of the trampoline. */
_Unwind_Reason_Code ktr__fbt_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception, struct _Unwind_Context *context);

/* What the processor has of vectors; once. */
void ktr__fbt_fire_begin(void);

#endif
