/* SPDX-License-Identifier: BSD-2-Clause */
/* Every exporter, and what several of them use. */
#ifndef VISUALIZE_EXPORTS_H
#define VISUALIZE_EXPORTS_H

#include "visualize/export/export.h"

#include "analyze/symbols/symbols.h"

extern const struct ktr__export_format ktr__export_chrome, ktr__export_perfetto, ktr__export_csv,
	ktr__export_folded, ktr__export_schedgraph, ktr__export_tracedat, ktr__export_parquet;

/*
 * An event's arguments from a given one on as the members of a JSON object, without its braces:
 * integers beyond 2^53 and doubles that are no numbers are strings, since a reader's numbers are doubles.
 */
void ktr__export_args(FILE *to, const struct ktr_event *event, unsigned from,
		      struct ktr__symbols *symbols);

/* A number as a number of JSON, whatever its size: viewers keep as much of it as they can. */
void ktr__export_number(FILE *to, const struct ktr_event *event, unsigned i);

/* What a slice is called: the state, the scope, or the group; bytes as recorded. */
struct ktr_event_bytes ktr__export_name(const struct ktr_event *event);

#endif
