/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces as sources. */
#ifndef ANALYZE_TRACE_SOURCE_H
#define ANALYZE_TRACE_SOURCE_H

#include "analyze/read/source.h"

#include <ktr/error.h>

#include <stdint.h>

/* Opens the trace at path, borrowed until it is closed. Errors are those of ktr_reader_open(). */
int ktr__trace_source(struct ktr__event_source *source, const char *path, struct ktr_error *err);

/*
 * Follow: looks for what has come since the last look; cursors may have been added. Returns 0, KTR__SOURCE_OVER, or
 * -errno.
 */
int ktr__trace_refresh(struct ktr__event_source *source, uint64_t now_ns);

/* Returns a number: cursors have nothing of directories below it any more. */
uint32_t ktr__trace_source_oldest(const struct ktr__event_source *source);

/* Frees what a source has of a trace. Accepts one that was never opened. */
void ktr__trace_source_close(struct ktr__event_source *source);

/* Is this the name of a stream? Returns 1, with its *number and *kind (KTR_RING_*), or 0. */
int ktr__trace_is_stream(const char *name, uint32_t *number, uint32_t *kind);

#endif
