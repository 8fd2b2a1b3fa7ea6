/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repairs what a crash, a full disk or damage left of one trace directory, so that readers of CTF,
 * which refuse a trace for one wrong byte, open it again.
 *
 *	struct ktr__fsck fsck = { .path = "ktr.out", .say = say };
 *
 *	rc = ktr__fsck(&fsck, &err);
 *	... fsck.n_found, fsck.n_mended
 *
 * What is cut is kept in the trace's ktr/lost+found unless it is told not to. No whole packet is ever
 * given up. Files are cut, or replaced by rename(2): at any moment each is as it was or as it will be,
 * and what is interrupted can be done again. What has been repaired has nothing left to repair.
 */
#ifndef ANALYZE_FSCK_H
#define ANALYZE_FSCK_H

#include <ktr/error.h>

#include <stdint.h>

struct ktr__fsck {
	const char *path;
	int only_look;                                /* say what is wrong, change nothing */
	int keep_nothing;                             /* of what is cut */
	void (*say)(void *context, const char *line); /* one line for each finding */
	void *context;
	/* What came of it. */
	unsigned n_found;
	unsigned n_mended;
	uint64_t n_packets; /* whole ones */
	uint64_t n_events;  /* in them */
	uint64_t n_missing; /* [events] between them, that were not counted as lost */
	/* Its own. */
	int dir_fd;
	int side_fd;
	int lost_fd; /* ktr/lost+found; -1 until it is needed */
	struct ktr_error *err;
};

/*
 * 0 when it could look at everything and mend what it wanted to, else -errno with err filled: -EBUSY
 * while the trace is being written, -EINVAL for what is no trace, -ENOSPC and the like.
 */
int ktr__fsck(struct ktr__fsck *fsck, struct ktr_error *err);

/* ---- between the parts ---- */

struct ktr__tables;

/* A finding, said as "PATH/NAME: text". */
void ktr__fsck_found(struct ktr__fsck *fsck, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* fsck_stream.c: one stream file. complete: the trace holds or counts all from the session's beginning. */
int ktr__fsck_stream(struct ktr__fsck *fsck, const char *name, const struct ktr__tables *tables,
		     int complete);

/* fsck_file.c: a file that will take another one's place. */
struct ktr__mend {
	struct ktr__fsck *fsck;
	int fd; /* -1: nothing is to be changed, or it failed */
	int rc; /* -errno of the first thing that failed */
};

void ktr__mend_begin(struct ktr__mend *mend, struct ktr__fsck *fsck);
void ktr__mend_put(struct ktr__mend *mend, const void *bytes, uint64_t n_bytes);

/* Puts it in the place of name in a directory. 0 or -errno. */
int ktr__mend_commit(struct ktr__mend *mend, int dir_fd, const char *name);

/* Copies [from, to) of a file into lost+found, unless nothing is kept. 0 or -errno. */
int ktr__mend_keep(struct ktr__fsck *fsck, int fd, const char *name, uint64_t from, uint64_t to);

/* Cuts a file, having kept what is behind. 0 or -errno; nothing happens to what is only looked at. */
int ktr__mend_cut(struct ktr__fsck *fsck, int dir_fd, const char *name, uint64_t n_bytes);

/* Moves a file out of the way, into lost+found. 0 or -errno. */
int ktr__mend_move(struct ktr__fsck *fsck, int dir_fd, const char *name);

/* Moves what is no file to lost+found as it is: nothing is opened or followed. 0 or -errno. */
int ktr__mend_aside(struct ktr__fsck *fsck, int dir_fd, const char *name);

#endif
