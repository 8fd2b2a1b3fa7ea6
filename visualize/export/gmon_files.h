/* SPDX-License-Identifier: BSD-2-Clause */
/* Files beside another one, which appear with it, or none of them does. */
#ifndef VISUALIZE_GMON_FILES_H
#define VISUALIZE_GMON_FILES_H

#include "analyze/print/newfile.h"

#include <stdint.h>

#define KTR__GMON_FILES_MAX 60 /* what ends the process early removes as many (analyze/print/unfinished.h) */

struct ktr__gmon_files {
	struct ktr__gmon_file *file; /* owned */
	uint32_t n, room;
};

/* One more, whose path is copied: where to write it. NULL, with -errno in *rc and err filled. */
FILE *ktr__gmon_files_add(struct ktr__gmon_files *files, const char *path, int *rc, struct ktr_error *err);

/*
 * The end of all. With result 0, and when everything could be written, also to `first`, which is closed and stays
 * where it is written, they are put in their places, else they are removed. Returns result, or -errno with err
 * filled.
 */
int ktr__gmon_files_end(struct ktr__gmon_files *files, struct ktr__newfile *first, int result,
      struct ktr_error *err);

#endif
