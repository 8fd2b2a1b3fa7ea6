/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session has of its profile as gmon.out. */
#ifndef TOOLS_KGMON_DUMP_H
#define TOOLS_KGMON_DUMP_H

#include "tools/attach/kgmon_session.h"

/*
 * Writes ./gmon.out, and gmon.out.NAME for other objects, of what the session's trace or its rings have since the
 * last reset. 0, with what there is to say in note, or ""; -errno, KGMON_DUMP_FAILED: it has not been begun, or not
 * ended, err is filled.
 */
#define KGMON_DUMP_FAILED 1
#define KGMON_NOTE	  256 /* [bytes] */
int kgmon_session_dump(struct kgmon_session *session, bool bsd, char note[KGMON_NOTE], struct ktr_error *err);

#endif
