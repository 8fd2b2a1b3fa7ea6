/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where session files are and how one is found: by its name, by a process, or because there is no
 * other.
 *
 * A user's sessions are the files NAME.ktr in the directory ${KTR_DIR:-/dev/shm}/ktr-UID, which
 * belongs to that user and admits nobody else. A program with raised privileges (AT_SECURE,
 * getauxval(3)) ignores KTR_DIR. No call here allocates or may be used in a signal handler.
 */
#ifndef KTR_SESSION_FIND_H
#define KTR_SESSION_FIND_H

#include <ktr/error.h>
#include <ktr/session.h>

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes the session directory of a user, not asking whether it exists. Returns 0, -EINVAL
 * (KTR_DIR is not absolute) or -ENAMETOOLONG.
 */
int ktr__session_dir(uid_t uid, char *path, size_t size, struct ktr_error *err);

/* Writes DIR/NAME.ktr of our effective user. 0, -EINVAL (no such name can be) or -ENAMETOOLONG. */
int ktr__session_path_of(const char *name, char *path, size_t size, struct ktr_error *err);

/* Is told of each session file; a value other than 0 ends the walk. Nothing has been opened yet. */
typedef int ktr__session_fn(void *context, const char *path, const char *name);

/*
 * Walks the session files of our effective user, in the directory's order. A directory that is not
 * there has none. Returns 0, what fn returned, or -errno with err filled: -EPERM (the directory
 * belongs to somebody else or lets others write), -ELOOP (it is a link).
 */
int ktr__session_walk(ktr__session_fn *fn, void *context, struct ktr_error *err);

/*
 * Each writes the path of one session. Returns 0 or -errno with err filled: -ENOENT (none; the
 * text says what there is instead), -ENOTUNIQ (several live ones: the text lists them). A live
 * session is preferred to a dead one.
 */
int ktr__session_find_name(const char *name, char *path, size_t size, struct ktr_error *err);
int ktr__session_find_only(char *path, size_t size, struct ktr_error *err);

#endif
