/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that has no end, joined with what its session still holds. */
#ifndef ANALYZE_JOIN_H
#define ANALYZE_JOIN_H

#include "analyze/read/source.h"

/*
 * Where the trace was not ended, be it that its writer was killed or that it still writes, looks for
 * its session and adds cursors for what the streams do not have yet: every event once, and those
 * that are gone counted. Says so, or why the end is missing. The source's cursors are those of the
 * trace's streams, not moved yet. 0 or -errno with err filled.
 */
int ktr__join(struct ktr__event_source *source, struct ktr_error *err);

/* The path of the session with this uuid among our own. 0, -ENOENT, or -errno with err filled. */
int ktr__join_find(const uint8_t uuid[16], char *path, size_t size, struct ktr_error *err);

#endif
