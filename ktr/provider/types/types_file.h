/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Images of types on disk: a file for each build-id below $XDG_CACHE_HOME/ktr/types, or ~/.cache/ktr/types, which
 * is an image as it is in memory. `ktr types` and its kin write them (analyze/types/types_cache.h); a traced
 * process, which has no reader of DWARF, reads its own.
 */
#ifndef KTR_TYPES_FILE_H
#define KTR_TYPES_FILE_H

#include "ktr/provider/types/types.h"

#include <limits.h>

/*
 * The path of a build-id's file; make: its folders, too. 0 or -errno: -ENOENT where the environment names no
 * folder, or is not to be believed because the program runs with raised privileges.
 */
int ktr__types_file_path(const uint8_t *id, uint16_t n_id, int make, char path[PATH_MAX]);

/* The image of a build-id; NULL when there is none, or none that is whole. Owned. */
struct ktr__types *ktr__types_file_read(const uint8_t *id, uint16_t n_id);

#endif
