/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a process or a thread of it cannot be looked at, in a sentence that names the rule. */
#ifndef ANALYZE_TASK_REFUSE_H
#define ANALYZE_TASK_REFUSE_H

#include <ktr/error.h>

#include <sys/types.h>

/*
 * Is there such a process, with such a thread (tid 0: of any), that is not the caller's own? 0; else -ESRCH,
 * -EINVAL, with err filled. is_alive: one that has ended, a zombie, is not enough.
 */
int ktr__task_check(pid_t pid, pid_t tid, int is_alive, struct ktr_error *err);

/* What a call for it has failed with, code being an errno of either sign: err is filled. Negative. */
int ktr__task_refuse(pid_t pid, pid_t tid, int code, struct ktr_error *err);

#endif
