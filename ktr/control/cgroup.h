/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory limit that shared memory is charged to. */
#ifndef KTR_CGROUP_H
#define KTR_CGROUP_H

#include <stdint.h>

/* [bytes] the lowest memory limit of our cgroup and those above it; UINT64_MAX without any. */
uint64_t ktr__cgroup_limit(void);

#endif
