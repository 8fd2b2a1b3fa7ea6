/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that a stop of a tracer's has ended. */
#ifndef KTR_TRACEE_REPEAT_H
#define KTR_TRACEE_REPEAT_H

#include <sys/types.h>

/* A call of a tracee that our own stop has ended with EINTR is made again: a timeout of it begins anew. */
void ktr__tracee_repeat(pid_t tid);

#endif
