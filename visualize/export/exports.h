/* SPDX-License-Identifier: BSD-2-Clause */
/* Every exporter: a row of the table in export.c each. */
#ifndef VISUALIZE_EXPORTS_H
#define VISUALIZE_EXPORTS_H

#include "analyze/session/session_arcs.h"
#include "visualize/export/export.h"

#include <stdint.h>

extern const struct ktr__export_format ktr__export_chrome, ktr__export_perfetto, ktr__export_csv,
	ktr__export_folded, ktr__export_schedgraph, ktr__export_tracedat, ktr__export_parquet,
	ktr__export_pprof, ktr__export_speedscope, ktr__export_perf, ktr__export_firefox, ktr__export_gmon,
	ktr__export_gmon_bsd, ktr__export_otlp;

/*
 * Of an export of these two that has begun, before the walk: calls that were counted where they were made. Calls of
 * the same object that are recorded do not count then. 0 or -ENOMEM. uncounted(): n calls were not.
 */
int ktr__gmon_counted(struct ktr__export *e, const struct ktr__called *arc);
void ktr__gmon_uncounted(struct ktr__export *e, uint64_t n);

#endif
