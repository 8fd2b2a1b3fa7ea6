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
	/* Told of each packet; may be NULL. */
	void (*step)(void *none, uint64_t time_ns, uint64_t n_events, uint64_t n_bytes);
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

/* For its parts: a finding, said as "PATH/NAME: text". */
void ktr__fsck_found(struct ktr__fsck *fsck, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
