/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Removing sessions that nobody uses any more.
 *
 * Of those that crashed programs left behind a few stay: so many per program (KTR_DEAD_SESSIONS in the
 * environment, 4), eight times as many of all of a user's programs, and of these no more than
 * KTR_DEAD_BYTES (256M, at most a quarter of the file system), the newest ones and the newest of all in
 * any case. Each program that starts looks after that, and so do `ktr ls` and `ktr rm`. A session whose
 * debug.ktr.keep_session is set stays until somebody removes it by name.
 */
#ifndef KTR_SWEEP_H
#define KTR_SWEEP_H

#include <ktr/error.h>

#include <stdint.h>

#define SWEEP_COUNT 4 /* sessions per program that stay: more than one crash, few enough to read */
#define SWEEP_BYTES (256ull << 20)

/*
 * Removes one session unless somebody uses it. 1: removed; 0: it is in use, or has gone meanwhile; or
 * -errno with err filled for what cannot be opened as a session. Safe against whoever creates, joins,
 * renames or removes at the same time.
 */
int ktr__sweep_one(const char *path, struct ktr_error *err);

/*
 * Removes what is more than should stay. own: the session that is about to be made, which counts; or
 * NULL. Never waits for anybody, and looks at a bounded number of files. Not for several threads.
 */
void ktr__sweep(const char *own);

#endif
