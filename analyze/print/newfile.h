/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that appears complete or not at all: it is written beside its place and moved there at the
 * end, so that an older one stays where writing fails.
 *
 *	rc = ktr__newfile_begin(&file, path, err);
 *	...	fprintf(file.to, ...);
 *	rc = ktr__newfile_end(&file, rc, err);
 */
#ifndef ANALYZE_NEWFILE_H
#define ANALYZE_NEWFILE_H

#include <ktr/error.h>

#include <stdio.h>

struct ktr__newfile {
	FILE *to;
	const char *path;     /* borrowed */
	char temporary[4096]; /* "": written in place, because it is no regular file */
	int unfinished;	      /* its row of unfinished.h */
};

/* 0 or -errno with err filled; nothing is owned then. "-" is standard output. */
int ktr__newfile_begin(struct ktr__newfile *file, const char *path, struct ktr_error *err);

/*
 * Closes what was written, and leaves it where it is, for ktr__newfile_end(): all that may fail but for the
 * putting in its place. Returns result, or -errno with err filled.
 */
int ktr__newfile_close(struct ktr__newfile *file, int result, struct ktr_error *err);

/*
 * Closes. With result 0, and when everything could be written, the file is put in its place, else
 * it is removed. Returns result, or -errno with err filled.
 */
int ktr__newfile_end(struct ktr__newfile *file, int result, struct ktr_error *err);

#endif
