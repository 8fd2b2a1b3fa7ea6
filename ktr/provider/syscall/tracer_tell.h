/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tracer tells its sink of one stop. */
#ifndef KTR_TRACER_TELL_H
#define KTR_TRACER_TELL_H

#include "ktr/provider/syscall/tracer.h"

#include <sys/ptrace.h>

/* The process is told of, for the first time or again. */
void ktr__tell_start(struct ktr__tracer *tracer, struct ktr__task *task);

/* It has ended; what was told of it reaches its place. */
void ktr__tell_end(struct ktr__tracer *tracer, struct ktr__task *task);

/* A stop at a call's begin or end. */
void ktr__tell_entry(struct ktr__tracer *tracer, struct ktr__task *task, const struct __ptrace_syscall_info *info);
void ktr__tell_exit(struct ktr__tracer *tracer, struct ktr__task *task, int64_t value, int is_error);

/* A child or a thread begins with the return of the call that made it. */
void ktr__tell_born(struct ktr__tracer *tracer, struct ktr__task *task);

/* A signal is about to be delivered, or has killed it, which no tracer is asked about. */
void ktr__tell_signal(struct ktr__tracer *tracer, struct ktr__task *task, int number);
void ktr__tell_killed(struct ktr__tracer *tracer, struct ktr__task *task);

#endif
