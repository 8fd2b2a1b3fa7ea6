/* SPDX-License-Identifier: BSD-2-Clause */
/* A session as those see it who write into it: creating, joining and leaving. */
#ifndef KTR_SESSION_JOIN_H
#define KTR_SESSION_JOIN_H

#include "ktr/session/session_rw.h"

#include <ktr/error.h>

/* What a new session should be like. */
struct ktr__session_plan {
	const char *dir;  /* created 0700 if missing */
	const char *name; /* without suffix */
	bool shared_name; /* join it if it is there, instead of taking another name */
	uint32_t path;	  /* KTR_PATH_* */
	uint32_t clock;
	struct ktr_proc_row self; /* identity: pid, pid_ns, start_time, image */
};

/*
 * Creates the session, or joins it if it exists, is alive, and shared_name is set, or if it is the one
 * this process had before exec(2). Returns 0 with *joined telling which, or -errno with err filled and
 * nothing left behind; -EALREADY: another copy of the library in this process has it. Blocks on file
 * calls only.
 */
int ktr__session_create(const struct ktr__session_plan *plan, struct ktr__session_rw *session,
			bool *joined, struct ktr_error *err);

/* Maps an existing session read-write, for control or for recording. */
int ktr__session_join(const char *path, struct ktr__session_rw *session, struct ktr_error *err);

/* Unmaps and closes; the file stays. */
void ktr__session_detach(struct ktr__session_rw *session);

/*
 * Another open file of the session with a lock of its own, made before a fork for the child, which
 * takes it over: locks belong to the open file, which fork shares, and a child that ends must not look
 * like the last one out. -1 where that cannot be had; the child then holds no lock.
 */
int ktr__session_again(const struct ktr__session_rw *session);
void ktr__session_reopen(struct ktr__session_rw *session, int fd);

/* Has somebody cut the file short? What touches the mapping then gets SIGBUS. False where that cannot be told. */
bool ktr__session_cut(const struct ktr__session_rw *session);

/*
 * True when no other process is in the session: none holds its lock, and none of the table lives. We hold it
 * exclusively then, for good; otherwise not at all any more.
 */
bool ktr__session_alone(struct ktr__session_rw *session);

/*
 * May a process of the session that has this number, and is not the calling one, be alive? Numbers are those of pid
 * namespaces: of another one's it is known whether it has ended cleanly, no more.
 */
bool ktr__session_other(const struct ktr__session_rw *session, uint32_t pid);

/* A process of the session that is in a sandbox, which is why rings keep their size. 0: none. */
uint32_t ktr__session_sandboxed(const struct ktr__session_rw *session);

#endif
