/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter of system calls (seccomp(2)) that stops a program for those alone of which something is to be told: the
 * others run as without a tracer. It cannot be taken away again, children have it, too, and without a tracer each
 * call that it stops for fails with ENOSYS: who has it ends with its tracer.
 */
#ifndef KTR_CALL_FILTER_H
#define KTR_CALL_FILTER_H

#include "ktr/provider/syscall/calls.h"

#include <stdint.h>

/* What a call is followed for. */
enum ktr__call_follow {
	KTR__FOLLOW_NOT,
	KTR__FOLLOW_BEGIN, /* for what it takes */
	KTR__FOLLOW_END	   /* for what it gives, too */
};

/*
 * points: enum ktr__tracee_points. args: the call's, or NULL: whatever it takes. What the tracer has to know for
 * itself, another program, names of threads, with signals their handlers, is followed whatever the points are.
 */
enum ktr__call_follow ktr__call_follow(const struct ktr__call *call, const uint64_t *args, uint32_t points);

/* Are these points worth a filter? Where all calls are told of it would save nothing. */
int ktr__call_filter_saves(uint32_t points);

/* Puts it before this thread, and what becomes of it. 0 or -errno: nothing has changed. */
int ktr__call_filter_install(uint32_t points);

#endif
