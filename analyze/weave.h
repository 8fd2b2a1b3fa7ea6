/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reader knows, written into a trace again: lines of sidecars, and event classes. */
#ifndef ANALYZE_WEAVE_H
#define ANALYZE_WEAVE_H

#include "analyze/trace_head.h"
#include "writer/emit.h"

#include <ktr/reader.h>

/* The line of info.jsonl that describes the trace. writer: what wrote it, less than 32 bytes. */
void ktr__weave_head(struct ktr__emit *emit, const struct ktr__trace_head *head, const char *writer);

/* The line of a call site. */
void ktr__weave_site(struct ktr__emit *emit, const struct ktr_reader_site *site);

/* Its event classes, for the metadata. */
void ktr__weave_event(struct ktr__emit *emit, const struct ktr_reader_site *site);

#endif
