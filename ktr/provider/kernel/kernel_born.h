/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that were born before what their parent is followed by was opened: they have not inherited it. The
 * session may know them only later, where that cannot be told any more.
 */
#ifndef KTR_PROVIDER_KERNEL_BORN_H
#define KTR_PROVIDER_KERNEL_BORN_H

#include <stdbool.h>
#include <stdint.h>

struct ktr__kernel_born {
	uint32_t *pid; /* owned */
	uint32_t n, room;
};

/*
 * Remembers the children that a thread has; to be called right before it is followed. Where the kernel does not
 * tell (proc(5), /proc/PID/task/TID/children: CONFIG_PROC_CHILDREN), or there is no memory, there are none.
 */
void ktr__kernel_born_of(struct ktr__kernel_born *born, uint32_t pid, uint32_t tid);

/* Is it one of them? Then it is one no more. */
bool ktr__kernel_born_take(struct ktr__kernel_born *born, uint32_t pid);

void ktr__kernel_born_free(struct ktr__kernel_born *born);

#endif
