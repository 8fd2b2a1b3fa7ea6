/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads whose stack may have no room for a signal's frame and its handler. */
#ifndef KTR_PROFILE_SMALL_H
#define KTR_PROFILE_SMALL_H

#include "ktr/provider/timer/threads.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the calling thread's stack lies; 0, 0: not known. */
struct ktr__stack_range ktr__small_own(void);

/* Is such a range one? */
bool ktr__small_is(const struct ktr__stack_range *range);

/* Has another thread of the process one? False also where that cannot be told. One call at a time. */
bool ktr__small_has(uint32_t tid);

#endif
