/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions as sources. */
#ifndef ANALYZE_SESSION_SOURCE_H
#define ANALYZE_SESSION_SOURCE_H

#include "analyze/session/session_feed.h"

#include <ktr/error.h>

#include <stdint.h>

/* Opens the session file at path, borrowed until it is closed. Errors are those of ktr_reader_open(). */
int ktr__session_source(struct ktr__event_source *source, const char *path, struct ktr_error *err);

/*
 * Opens the session for a source, in which it becomes the feed, and copies what its rings hold. map
 * is taken. With start and clock (both or neither) it goes on with a trace. Returns 0, or -errno with err
 * filled.
 */
int ktr__session_feed(struct ktr__event_source *source, struct ktr__session_map *map, const char *path,
		      const struct ktr__session_start *start, const struct ktr_trace_clock *clock,
		      struct ktr_error *err);

/*
 * Follow: looks for what has come since the last look; cursors may have been added. Returns 0, KTR__SOURCE_OVER, or
 * -errno.
 */
int ktr__session_refresh(struct ktr__event_source *source, uint64_t now_ns);

/* Closes and frees a source's feed. Accepts NULL. */
void ktr__session_feed_close(struct ktr__session_feed *feed);

#endif
