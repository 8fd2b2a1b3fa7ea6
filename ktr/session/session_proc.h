/* SPDX-License-Identifier: BSD-2-Clause */
/* The session of a process, which may live in other namespaces than we do. */
#ifndef KTR_SESSION_PROC_H
#define KTR_SESSION_PROC_H

#include <ktr/error.h>
#include <ktr/session.h>

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes the path of the session that a process has. pid is one of ours, of a process of whatever namespace. A live
 * session is preferred to a dead one of the same process id. Returns 0 or -errno with err filled: -ENOENT
 * (none; the text says what there is instead), -EPERM (it is another user's), -EACCES (we may not look at it).
 */
int ktr__session_find_pid(pid_t pid, char *path, size_t size, struct ktr_error *err);

/*
 * The number under which we know a process of another pid namespace; 0: it has ended, or we cannot see
 * it. Looks at every process there is.
 */
uint32_t ktr__proc_foreign(const struct ktr_proc_row *proc);

#endif
