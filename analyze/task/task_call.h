/* SPDX-License-Identifier: BSD-2-Clause */
/* What the calls of the library have in common: structures that grow, and callers that are cancelled. */
#ifndef ANALYZE_TASK_CALL_H
#define ANALYZE_TASK_CALL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define KTR__TASK_SIZE_MAX 65536u /* [bytes] of a structure; a larger size was never set */

/*
 * pthread_cancel(3) of a caller waits until the call returns: it may have a thread of another process stopped, or
 * hold a lock. enter() returns what leave() is given, which returns rc.
 */
static inline int ktr__task_enter(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline ssize_t ktr__task_left(int before, ssize_t rc)
{
	pthread_setcancelstate(before, NULL);
	return rc;
}

static inline int ktr__task_leave(int before, int rc)
{
	return (int)ktr__task_left(before, rc);
}

/* Is it the size of a structure that had `least` bytes in the first library of this number? */
static inline int ktr__task_size(uint32_t size, size_t least)
{
	return size >= least && size <= KTR__TASK_SIZE_MAX;
}

/*
 * Gives a caller's structure, whose first member is its size, what this library knows, n bytes of it, and 0 in what
 * a newer one has more. The size stays.
 */
static inline void ktr__task_give(void *to, const void *from, size_t n)
{
	uint32_t size;

	memcpy(&size, to, sizeof(size));
	memset(to, 0, size);
	memcpy(to, from, size < n ? size : n);
	memcpy(to, &size, sizeof(size));
}

/* When a process, or with tid a thread of it, was made, in clock ticks since boot; 0: it is not there. */
uint64_t ktr__task_started(pid_t pid, pid_t tid);

#endif
