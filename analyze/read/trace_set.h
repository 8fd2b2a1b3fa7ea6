/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directories that make one trace: those that rotation has moved to NAME.1, NAME.2, ... (the
 * higher, the younger), and NAME itself. They are of one session, so that numbers in them mean the
 * same. Each is held open by its directory, as long as there is something to be read of it: rotation may go on
 * meanwhile.
 */
#ifndef ANALYZE_TRACE_SET_H
#define ANALYZE_TRACE_SET_H

#include "analyze/read/trace_head.h"

#include <sys/types.h>
#include <time.h>

struct ktr__writer_progress;
struct ktr__trace_losses;

#define KTR__SET_LIVE UINT32_MAX /* the number of NAME itself */

struct ktr__trace_dir {
	char *path; /* owned; as users are told it */
	int dir_fd; /* -1: it was left */
	dev_t dev;
	ino_t ino;
	ino_t info_ino; /* of its info.jsonl; 0: it had none */
	int is_kept;	/* it is what was kept of one that was removed */
	uint32_t number; /* of NAME.number, or KTR__SET_LIVE, when it was opened */
	int is_whole;    /* 1: its info.jsonl was there then, or it was about to be removed */
	struct ktr__trace_head head;
};

struct ktr__trace_set {
	struct ktr__trace_dir *member; /* owned; oldest first */
	unsigned n, room;
	char *kept; /* owned; where pieces are that rotation has removed (analyze/follow/kept.h); NULL: nowhere */
	int last_info; /* held of a last one without a number, so that its inode is no other's; or -1 */
	int is_joined;           /* with its session, or that was tried */
	struct ktr__trace_losses *losses; /* owned; of a trace made of others, or NULL */
	struct ktr__writer_progress *progress; /* follow: what the session tells of the writer, or NULL */
	struct ktr__lines_at at; /* follow: how far the last one's sidecars have been read */
	struct timespec changed; /* follow: when files were last added to it */
	int has_gone;            /* 1: NAME was removed while it was opened */
	uint64_t asked_ns;       /* follow: when it was last asked whether somebody writes it */
};

/*
 * There is nothing at path: rotation may just have moved it to path.N, and be about to make another.
 * Waits for that, some 200 ms at most, if there is a path.N. 1 when something is there now, else 0.
 */
int ktr__set_await(const char *path);
extern unsigned ktr__set_patience; /* how often it looks, 2 ms apart; tests have more of it */

/*
 * Does its path lead to it still? Rotation takes the name from a trace before its lock: one that nobody has
 * locked, and that has its name after that, is not written any more.
 */
int ktr__set_has_name(const struct ktr__trace_dir *member);

/* Does a member, not the first one, follow the one before it, with nothing in between that is gone? */
static inline int ktr__set_adjoins(const struct ktr__trace_dir *member)
{
	return member->number == KTR__SET_LIVE || member->number == member[-1].number + 1;
}

/*
 * Opens the trace at path and, unless alone, what was rotated away from it. 0, or -errno with err
 * filled; what was opened is closed by ktr__set_close() either way.
 */
int ktr__set_open(struct ktr__event_source *source, struct ktr__trace_set *set, const char *path, int alone,
		  struct ktr_error *err);
void ktr__set_close(struct ktr__trace_set *set);

/* Has rotation removed the member since it was opened? */
int ktr__set_is_removed(const struct ktr__trace_dir *member);

/* Of one that has been removed, and was kept: from here on it is what was kept. 1, or 0 where it was not. */
int ktr__set_use_kept(const struct ktr__trace_set *set, struct ktr__trace_dir *member);

/*
 * One that has been read to its end, and is not written any more, need not be open; what it says of itself stays.
 * Opens one that was left, by its number below path: 1 if it is open now and was not, 0 if it was or is not there
 * any more, or -ENOMEM.
 */
void ktr__set_leave(struct ktr__trace_dir *member);
int ktr__set_enter(const struct ktr__trace_set *set, struct ktr__trace_dir *member, const char *path);

/* Or any of them? What was read of the set may lack something then, and another look finds those there are. */
int ktr__set_has_gone(const struct ktr__trace_set *set);

/*
 * Has rotation gone on: is there a directory that follows the last one? Opens and adds it: 1, or 0
 * when there is none, -ESTALE when the name is another session's by now, -ENOENT when it is gone,
 * or another -errno.
 */
int ktr__set_next(struct ktr__event_source *source, struct ktr__trace_set *set, const char *path);

/* The lines of one member, for reading. */
struct ktr__lines ktr__set_lines(struct ktr__event_source *source, const struct ktr__trace_dir *member,
				 struct ktr_error *err);

#endif
