/* SPDX-License-Identifier: BSD-2-Clause */
/* The caller's stack, by frame pointers: ktr_stack_save(), ktr__record_stack(). */
#ifndef KTR_STACK_H
#define KTR_STACK_H

#include <stdint.h>

/* The top of the signal stack that we are on; 0: we are on none; 1: not known. Keeps errno. */
uintptr_t ktr__signal_stack_top(void);

#endif
