/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who calls whom, counted: fbt_count:MODULE::arcs counts the calls of all functions of an object that are built
 * to be probed, by callee and by where they were called from, without an event. Exact, on any number of threads,
 * and still there when the process hangs or was killed: the tables are the session's, struct ktr_arcs.
 *
 * While an object's is on, it leads to ktr__arcs_trampoline, which goes on to what else is asked for of a function.
 */
#ifndef KTR_PROVIDER_ARCS_H
#define KTR_PROVIDER_ARCS_H

/* Fields that the trampoline uses, in bytes; arcs.c holds each against its structure. */
#define ARCS_SLOTS 0
#define ARCS_MASK  8
#define ARCS_EPOCH 16
#define ARC_FROM   0
#define ARC_TO	   8
#define ARC_N	   16
#define ARC_SHIFT  5
#define ARCS_BUCKET 4 /* places that are looked at together; a table is of whole ones */

#ifndef __ASSEMBLER__

#include "ktr/provider/fbt/object.h"

void ktr__arcs_begin(void); /* registers the provider */

/* An object that has come, or come again: offers its probe, if that is asked for. */
void ktr__arcs_object(struct ktr__fbt_object *object);
void ktr__arcs_leave(struct ktr__fbt_object *object); /* it goes */

void ktr__arcs_trampoline(void);
void ktr__arcs_trampoline_filtered(void); /* what goes on does so as while a filter is on */

/* The call is not in the places that the trampoline looks at. */
void ktr__arcs_count(const struct ktr__fbt_function *function, uint64_t from, const void *frame);

#endif

#endif
