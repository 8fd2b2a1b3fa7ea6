/* SPDX-License-Identifier: BSD-2-Clause */
/* How files of a trace are cut, replaced and kept; nothing happens to what is only looked at. */
#ifndef ANALYZE_FSCK_FILE_H
#define ANALYZE_FSCK_FILE_H

#include "analyze/rewrite/fsck.h"

#include <stdint.h>

/* A file that will take another one's place. */
struct ktr__mend {
	struct ktr__fsck *fsck;
	int fd; /* -1: nothing is to be changed, or it failed */
	int rc; /* -errno of the first thing that failed */
	int unfinished; /* its row of analyze/print/unfinished.h */
};

/* Begins one, which ktr__mend_commit() ends. What fails is kept in rc, and what has failed before is given. */
void ktr__mend_begin(struct ktr__mend *mend, struct ktr__fsck *fsck, int rc);
void ktr__mend_put(struct ktr__mend *mend, const void *bytes, uint64_t n_bytes);

/* Puts it in the place of name in a directory. Returns 0 or -errno. */
int ktr__mend_commit(struct ktr__mend *mend, int dir_fd, const char *name);

/* Copies [from, to) of a file into lost+found, unless nothing is kept. Returns 0 or -errno. */
int ktr__mend_keep(struct ktr__fsck *fsck, int fd, const char *name, uint64_t from, uint64_t to);

/* Copies all of a file into lost+found, unless nothing is kept. Returns 0 or -errno. */
int ktr__mend_keep_all(struct ktr__fsck *fsck, int dir_fd, const char *name);

/* Cuts a file, having kept what follows. Returns 0 or -errno. */
int ktr__mend_cut(struct ktr__fsck *fsck, int dir_fd, const char *name, uint64_t n_bytes);

/* Moves a file out of the way, into lost+found. Returns 0 or -errno. */
int ktr__mend_move(struct ktr__fsck *fsck, int dir_fd, const char *name);

/* Moves what is no file to lost+found as it is: nothing is opened or followed. Returns 0 or -errno. */
int ktr__mend_aside(struct ktr__fsck *fsck, int dir_fd, const char *name);

#endif
