/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the streams of a trace refer to by number, out of its sidecars (ktr/trace_file.h) into the
 * tables.
 */
#ifndef ANALYZE_SIDECAR_H
#define ANALYZE_SIDECAR_H

#include "analyze/read/lines.h"

#include <jansson.h>

/*
 * A line out of JSON into the structure that the members are of. Texts are those of the JSON, "" where there is
 * none: ktr__sidecar_text() makes one that stays. 0, or -EINVAL: a list makes no sense.
 */
int ktr__sidecar_parse(const json_t *row, const struct ktr__member *member, void *line);

/* The text as it was before it became UTF-8, in the arena; NULL without memory. */
const char *ktr__sidecar_text(struct ktr__tables *tables, union ktr__member_text text);

/*
 * Reads classes, sites, processes, threads and modules. Damaged lines are noted and left out. 0, or
 * -errno with err filled when a file cannot be read at all.
 */
int ktr__sidecar_tables(struct ktr__lines *lines);

/*
 * What the trace tells of events that the recorder dropped: fn is called with a stream's name and
 * a number of events for each line. 0 or -errno with err filled.
 */
typedef void ktr__dropped_fn(void *context, const char *stream, uint64_t n_events);
int ktr__sidecar_dropped(struct ktr__lines *lines, ktr__dropped_fn *fn, void *context);

/* Where in rings that had been read before the trace begins: fn is called for each. 0 or -errno with err filled. */
typedef void ktr__from_fn(void *context, uint32_t ring, uint64_t slot, uint64_t index);
int ktr__sidecar_from(struct ktr__lines *lines, ktr__from_fn *fn, void *context);

#endif
