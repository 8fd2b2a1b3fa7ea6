/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader from within, for the files that it is made of: reader_open.c opens it, reader.c walks, reader_choose.c
 * settles what of the walk is wanted, reader_follow.c waits for more.
 */
#ifndef ANALYZE_READER_INSIDE_H
#define ANALYZE_READER_INSIDE_H

#include "analyze/follow/watch.h"
#include "analyze/read/merge.h"
#include "analyze/read/reader.h"
#include "analyze/read/source.h"

struct ktr_reader {
	struct ktr__event_source source;
	struct ktr__merge merge;
	struct ktr__cursor *last; /* handed out, not moved on yet; the one in front of the merge */
	uint64_t end_key;         /* the largest key of the walk */
	struct ktr__said said;
	struct ktr_error error;
	int failed;                   /* -errno for good */
	struct ktr__symbols *symbols; /* NULL until asked for */
	char *code_folder;            /* owned, with them; NULL: it is no trace */
	struct ktr__watch watch;      /* follow */
	uint64_t mature_ns;           /* follow: what was seen before may be handed out */
	int is_patient;               /* follow: nothing is handed out before what is older than it */
	unsigned n_last_looks;        /* follow: looks since its writer is known to be gone, that one too */
	uint64_t looked_ns;           /* follow: when it was looked for more last; 0: never */
	int over;                     /* follow: nothing more will come */
	uint8_t *args;		      /* owned, by site: which arguments are wanted; NULL: all are */
	uint32_t n_args;
	char *path;
};

/* It has failed for good: returns rc, which is -errno. */
int ktr__reader_fail(struct ktr_reader *reader, int rc);

/* Asks the cursors that had no event. 0 or -errno. */
int ktr__reader_resume(struct ktr_reader *reader);

/*
 * Forward the walk is [from_ns, to_ns) and cursors start at from_ns; in reverse they start below
 * to_ns, and the last key is the complement of from_ns. Keys of a walk to the end have no bound.
 * again: the cursors have been moved already. 0 or -errno.
 */
int ktr__reader_start(struct ktr_reader *reader, uint64_t from_ns, uint64_t to_ns, int again);

/* Opens the source once more, forward and from its beginning. As ktr_reader_open(). */
int ktr__reader_again(const struct ktr_reader *reader, struct ktr_reader **out, struct ktr_error *err);

/*
 * Follow: may something older than the next event be yet to come? Where the session tells, it is asked, and
 * waited for if its writer is late; else time does.
 */
int ktr__reader_is_early(struct ktr_reader *reader);

/* Moves the cursor handed out last. 0 or -errno. */
static inline int ktr__reader_move(struct ktr_reader *reader)
{
	struct ktr__cursor *last = reader->last;
	int rc;

	if (!last)
		return 0;
	reader->last = NULL;
	rc = last->advance(last);
	if (rc > 0)
		ktr__merge_replace(&reader->merge);
	else if (rc == 0)
		ktr__merge_remove(&reader->merge);
	last->waits = rc == 0;
	return rc < 0 ? rc : 0;
}

#endif
