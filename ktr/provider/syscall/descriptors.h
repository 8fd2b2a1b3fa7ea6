/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What descriptors of other processes are called: the path that one was opened by, as /proc tells it, or the
 * address of its peer, if it was connected when we came. A name is asked for when it is first needed, and forgotten
 * when the descriptor is closed or made anew.
 */
#ifndef KTR_DESCRIPTORS_H
#define KTR_DESCRIPTORS_H

#include "ktr/provider/syscall/calls.h"

#include <stdint.h>
#include <sys/types.h>

#define KTR__DESCRIPTORS_BUCKETS 1024
#define KTR__DESCRIPTORS_NAME    128 /* [bytes] with the NUL; of a longer path its end */

struct ktr__descriptors {
	struct ktr__descriptor *bucket[KTR__DESCRIPTORS_BUCKETS]; /* owned. All zero: there are none */
};

/* As the thread tid of the process has it. "" where it is not known, or there is none. Valid until the next call here. */
const char *ktr__descriptors_name(struct ktr__descriptors *descriptors, pid_t pid, pid_t tid, int fd);

/* It is called so from here on. */
void ktr__descriptors_set(struct ktr__descriptors *descriptors, pid_t pid, int fd, const char *name);

/* A call has returned a value that is no error: what it has closed, or made anew, is forgotten. */
void ktr__descriptors_returned(struct ktr__descriptors *descriptors, pid_t pid, const struct ktr__call *call,
			       const uint64_t *args, int64_t value);

/* All of a process: it has ended, or become another program. */
void ktr__descriptors_forget(struct ktr__descriptors *descriptors, pid_t pid);

void ktr__descriptors_free(struct ktr__descriptors *descriptors);

#endif
