/* SPDX-License-Identifier: BSD-2-Clause */
/* Every exporter: a row of the table in export.c each. */
#ifndef VISUALIZE_EXPORTS_H
#define VISUALIZE_EXPORTS_H

#include "visualize/export/export.h"

extern const struct ktr__export_format ktr__export_chrome, ktr__export_perfetto, ktr__export_csv,
	ktr__export_folded, ktr__export_schedgraph, ktr__export_tracedat, ktr__export_parquet,
	ktr__export_pprof, ktr__export_speedscope, ktr__export_perf, ktr__export_firefox, ktr__export_gmon,
	ktr__export_gmon_bsd;

#endif
