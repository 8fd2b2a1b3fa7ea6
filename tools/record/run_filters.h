/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters of system calls, seccomp(2), that a program inherits from us. */
#ifndef KTR_RUN_FILTERS_H
#define KTR_RUN_FILTERS_H

#include <stdint.h>

/* How many there are, if they end no process for perf_event_open(2), which a child of ours tries; else 0. */
uint64_t run_filters_spare(void);

#endif
