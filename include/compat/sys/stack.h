/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <sys/stack.h> for code that comes from FreeBSD: a stack is saved, passed around, and recorded by
 * CTRSTACK(m, st, depth). Frames are found by frame pointers within the thread's stack.
 */
#ifndef KTR_COMPAT_SYS_STACK_H
#define KTR_COMPAT_SYS_STACK_H

#include <ktr.h>

#define STACK_MAX KTR_STACK_MAX

/* FreeBSD's name for it; the members are struct ktr_stack's. */
#define stack ktr_stack

#define stack_zero(st)	    ((void)((st)->depth = 0))
#define stack_save(st)	    ktr_stack_save(st)
#define stack_copy(from, to) ((void)(*(to) = *(from)))
#define stack_put(st, pc)                                                                        \
	((st)->depth < STACK_MAX ? ((st)->pcs[(st)->depth++] = (uint64_t)(uintptr_t)(pc), 0) : -1)

#endif
