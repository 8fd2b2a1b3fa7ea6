/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of a session that is mapped, opened once more. */
#ifndef KTR_SESSION_AGAIN_H
#define KTR_SESSION_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

struct ktr__session_rw;

/*
 * Another open file of the session, also where a host has closed our descriptors behind our back. -1 where that
 * cannot be had, with errno set.
 */
int ktr__session_open_again(const struct ktr__session_rw *session);

/*
 * The same, and alone in having the lock of a byte (ring_area.h), of threads of this process too: for as long as it
 * is open. A descriptor, or -errno; -EBUSY: somebody else has the lock.
 */
int ktr__session_lock(const struct ktr__session_rw *session, uint64_t at);

/* Is a file that was asked for with this result, of stat(2) or fstat(2), the session's? */
struct stat;
bool ktr__session_is(const struct ktr__session_rw *session, int code, const struct stat *st);

/* Is fd still the session's file? False after a host has closed all descriptors. */
bool ktr__session_fd_ours(const struct ktr__session_rw *session);

/* Does another open file hold the lock on NAME.run (KTR_SESSION_RUN_SUFFIX)? Of the session at a path. */
bool ktr__session_attended(const char *path);

#endif
