/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads: their rows, and their ends. */
#ifndef KTR_THREAD_H
#define KTR_THREAD_H

#include "ktr/record/record.h"

void ktr__threads_start(void); /* once, before the first registration */
void ktr__thread_mark(void); /* the end of this thread is seen, also if it never records */

/* The calling thread gets a row; self.row stays 0 where there is none. Async-signal-safe. */
void ktr__thread_register(struct ktr__self *self);

/* The number of the calling thread, without asking the kernel. 0: that cannot be had. */
uint32_t ktr__thread_unasked(void);

/* vfork.S, where the system call failed: sets errno and returns -1. */
int ktr__vfork_failed(int code) KTR__ASM_NAMES;

#endif
