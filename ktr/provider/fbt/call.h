/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that are open while a filter is on (filter.h): which is around which, since when, how deep, and whether
 * they are recorded. Calls that were open when it was switched on are none of them.
 *
 * A call lies beside the record of its place on the stack (record.h), and the one around it is the last that began
 * at a higher address: so what longjmp(3) has left is left here as well, and chains have an end whatever stacks a
 * thread goes to. Those of a coroutine may count as called by whoever resumed it.
 */
#ifndef KTR_FBT_CALL_H
#define KTR_FBT_CALL_H

#include "ktr/provider/fbt/record.h"

/* The function of a record whose call is here: none of its probes is on. */
extern struct ktr__fbt_function ktr__fbt_filtered;

/*
 * A function was called: is its beginning to be recorded now? Then through *told, as its record. record NULL: its
 * return is not asked for, and nothing is kept. jumps: the call that was here before has ended with a jump to it,
 * and within whose calls that was, this one is.
 */
bool ktr__fbt_call_begun(struct ktr__fbt_function *function, struct ktr__fbt_record *record, const uint64_t *place,
			 bool jumps, struct ktr__fbt_record **told);

/* The call of this place has ended. */
void ktr__fbt_call_ended(const uint64_t *place, bool has_result);

#endif
