/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that no timer's signal reaches. */
#ifndef KTR_DEAF_THREADS_H
#define KTR_DEAF_THREADS_H

#include <sys/types.h>

/* How many threads of a process block each signal that the profiler may take, but for ktr's own. */
unsigned deaf_threads(pid_t pid);

#endif
