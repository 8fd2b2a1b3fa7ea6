/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that is in a sandbox asks the kernel for nothing. */
#ifndef KTR_SANDBOX_H
#define KTR_SANDBOX_H

#include <stdint.h>

/* CLOCK_MONOTONIC, reckoned from the session's clock. */
uint64_t ktr__sandbox_now_ns(void);

#endif
