/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * liburcu, as far as it is used: the publication of pointers that are read without a lock. Its macros of fewer than
 * ten lines are compiled in, which its licence lets any code have; nothing of it is linked. Of its grace periods
 * none is used: see handler.c.
 */
#ifndef KTR_PROBE_RCU_H
#define KTR_PROBE_RCU_H

#define URCU_INLINE_SMALL_FUNCTIONS
#include <urcu/pointer.h>

#endif
