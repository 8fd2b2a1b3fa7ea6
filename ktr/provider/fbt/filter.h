/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which calls of the functions that are asked for are recorded: those that took so long, at most so deep, within
 * those of callers. What is wanted is in the session, debug.ktr.fbt_longer, fbt_depth and fbt_within, and a third
 * provider, fbt_caller: fbt_caller:MODULE:FUNCTION:within says that the function is a caller. It has no events of
 * its own.
 *
 * While a filter is on, modules lead to another trampoline (fire.c: ktr__fbt_entered_filtered()), so that whoever
 * has none pays nothing; calls go on as they began, whatever is switched meanwhile.
 */
#ifndef KTR_FBT_FILTER_H
#define KTR_FBT_FILTER_H

#include "ktr/provider/fbt/args.h"

/* As calls look at it, without a lock. */
struct ktr__fbt_filter {
	uint64_t longer; /* [ticks] 0: however short. Atomic, as depth and within */
	uint32_t depth;	 /* 0: however deep */
	uint32_t within; /* 1: of callers alone */
	uint32_t is_on;	 /* any of these is; the registry's lock */
	uint32_t clock;	 /* KTR_CLOCK_*, the session's */
	uint32_t ns_per_tick; /* in 1/2^KTR__FBT_RATE; atomic */
	struct ktr_site *note; /* of events that say what the filter is; NULL: not made yet. Atomic */
};

#define KTR__FBT_RATE 24

extern struct ktr__fbt_filter ktr__fbt_filter;

void ktr__fbt_filter_begin(void); /* registers the provider, and looks */

/* Looks at what the session wants, and does so. Under the registry's lock. */
void ktr__fbt_filter_look(struct ktr_provider *provider);

/* A function's probe is about to be on: its class is that of what says so of the filter. Likewise. */
void ktr__fbt_filter_class(const struct ktr_class *cls);

/* The call site of a scope that is told of late, where one may be; before the function is patched. Likewise. */
void ktr__fbt_filter_scope(struct ktr__fbt_function *function);

void ktr__fbt_filter_offer(struct ktr__fbt_asked *asked, const struct ktr__fbt_object *object, uint32_t number,
			   const char *name, const char *part);
void ktr__fbt_filter_leave(const struct ktr__fbt_object *object); /* it goes */

#endif
