/* SPDX-License-Identifier: BSD-2-Clause */
/* Repairs one stream of a trace. */
#ifndef ANALYZE_FSCK_STREAM_H
#define ANALYZE_FSCK_STREAM_H

#include "analyze/rewrite/fsck.h"

struct ktr__tables;

/*
 * Looks at one stream file and mends it. complete: the trace holds or counts all from the session's beginning.
 * Returns 0, or -errno where it could not be read or mended.
 */
int ktr__fsck_stream(struct ktr__fsck *fsck, const char *name, const struct ktr__tables *tables,
		     int complete);

#endif
