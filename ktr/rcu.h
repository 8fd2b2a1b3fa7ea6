/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RCU: liburcu's bulletproof flavour, which asks nothing of the host's threads. This is the one place that
 * includes it. With KTR_NO_URCU, which the two-file form knows, the library does without: lists are then
 * read under the locks that writers hold, so there is no reader to wait for.
 */
#ifndef KTR_RCU_H
#define KTR_RCU_H

#ifndef KTR_NO_URCU
#include <urcu-bp.h>
#else
#define rcu_assign_pointer(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELEASE)

static inline void synchronize_rcu(void)
{
}

static inline void urcu_bp_before_fork(void)
{
}

static inline void urcu_bp_after_fork_parent(void)
{
}

static inline void urcu_bp_after_fork_child(void)
{
}
#endif

#endif
