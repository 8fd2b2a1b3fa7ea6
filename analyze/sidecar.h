/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sidecars of a trace (ktr/trace_file.h): what its streams refer to by number.
 */
#ifndef ANALYZE_SIDECAR_H
#define ANALYZE_SIDECAR_H

#include "analyze/source.h"

/*
 * Reads ktr/info.jsonl into info. 0, or -errno with err filled: -EINVAL for a directory that is
 * no trace of ours, -ENOTSUP for one of another major version, -EPROTO when the file is damaged.
 */
int ktr__sidecar_info(struct ktr__source *source, int dir_fd, struct ktr_error *err);

/*
 * Reads sites, threads, processes, classes and modules into the tables. Damaged lines are noted and left
 * out. 0, or -errno with err filled when a file cannot be read at all.
 */
int ktr__sidecar_tables(struct ktr__source *source, int dir_fd, struct ktr_error *err);

#endif
