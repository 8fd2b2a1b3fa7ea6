/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session of a program that crashed, by its core.
 */
#ifndef ANALYZE_CORE_SOURCE_H
#define ANALYZE_CORE_SOURCE_H

#include "analyze/read/source.h"

/*
 * Opens the session that the core of a process speaks of: the rings that the core holds, or else, where it
 * holds none, the session's file, if that is still there; a note says which. 0, or -errno with err filled;
 * -ENOEXEC: this is no core, and err is untouched.
 */
int ktr__core_source(struct ktr__event_source *source, const char *path, struct ktr_error *err);

#endif
