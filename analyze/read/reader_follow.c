/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers of what is still written. A cursor that has no event leaves the merge and is asked again after each
 * look. An event is held back until all that is older must have been seen: the session's rings tell
 * (writer_progress.h), or else READER_FOLLOW_HOLD_NS after it was first seen, by a look as late as that: who reads
 * may have been away meanwhile, and what is older lie there unseen. That is by when it was seen, not by its own
 * time: clocks of events drift.
 */
#include "analyze/follow/writer_progress.h"
#include "analyze/read/reader.h"
#include "analyze/read/reader_inside.h"
#include "analyze/read/trace_set.h"
#include "analyze/read/trace_source.h"
#include "analyze/session/session_source.h"

#include <errno.h>

/*
 * A writer has what is committed in its file within 40 ms and a round of its own (writer/drain.c),
 * so that streams are apart by no more. Rings of a session are looked at all at once: the next look
 * tells what was older.
 */
#define READER_FOLLOW_HOLD_NS	 45000000ull
#define READER_FOLLOW_HOLD_RINGS 500000ull   /* [ns] */
#define READER_FOLLOW_HOLD_LATE	 500000000ull /* [ns] a writer that is late is waited for so long */
#define READER_FOLLOW_HOLD_PATIENT 2000000000ull /* [ns] without a session */
#define READER_FOLLOW_LOOK_NS	 8000000ull   /* between two looks whether a writer has come so far */

static uint64_t reader_follow_hold(const struct ktr_reader *reader)
{
	if (!reader->source.set)
		return READER_FOLLOW_HOLD_RINGS;
	return reader->is_patient ? READER_FOLLOW_HOLD_PATIENT : READER_FOLLOW_HOLD_NS;
}

void ktr__reader_be_patient(struct ktr_reader *reader)
{
	reader->is_patient = reader->source.follow;
}

int ktr__reader_is_early(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;
	struct ktr__cursor *top = reader->merge.heap[0].cursor;
	struct ktr__writer_progress *progress = source->set ? source->set->progress : NULL;
	uint64_t hold = progress ? READER_FOLLOW_HOLD_LATE : reader_follow_hold(reader);

	if (reader->over)
		return 0;
	if (progress && ktr__writer_progress_is_oldest(progress, source, top, source->n_cursors - reader->merge.n))
		return 0;
	/* Its writer will have what the rings have; when one is gone, the next look finds all that there is. */
	if (progress && reader->is_patient && reader->n_last_looks < 2)
		return 1;
	reader->mature_ns = reader->looked_ns > hold ? reader->looked_ns - hold : 0;
	return top->seen_ns > reader->mature_ns;
}

/* How long to sleep at most, given when the next event may be handed out. [ns] */
static uint64_t reader_follow_pause(const struct ktr_reader *reader, int timeout_ms)
{
	uint64_t pause = timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * 1000000u, due;

	if (!reader->merge.n)
		return pause;
	due = reader->merge.heap[0].cursor->seen_ns + reader_follow_hold(reader);
	due = due > ktr__watch_now() ? due - ktr__watch_now() : 0;
	if (reader->source.set && reader->source.set->progress)
		due = READER_FOLLOW_LOOK_NS;
	return due < pause ? due : pause;
}

/* One look for more. 0 or -errno. */
static int reader_follow_refresh(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;
	unsigned n_cursors = source->n_cursors;
	uint64_t now = ktr__watch_now(), n_events = source->info.last_ns;
	const struct ktr__trace_head *head;
	int rc = ktr__reader_move(reader);

	reader->looked_ns = now;
	if (!rc)
		rc = source->set ? ktr__trace_refresh(source, now)
				 : ktr__session_refresh(source, now);
	if (rc == KTR__SOURCE_OVER)
		reader->over = 1;
	if (rc >= 0 && source->n_cursors != n_cursors)
		rc = ktr__merge_room(&reader->merge, source->n_cursors);
	if (rc >= 0)
		rc = ktr__reader_resume(reader);
	head = ktr__reader_head(reader);
	reader->n_last_looks += head && (!head->is_written || head->has_ended);
	ktr__watch_busy(&reader->watch, reader->merge.n || source->info.last_ns != n_events);
	return rc;
}

int ktr_reader_wait(struct ktr_reader *reader, int timeout_ms)
{
	struct ktr__event_source *source = &reader->source;
	int rc;

	if (reader->failed)
		return reader->failed;
	if (!source->follow)
		return -EINVAL;
	if (reader->over)
		return 0;
	rc = ktr__watch_wait(&reader->watch, reader_follow_pause(reader, timeout_ms));
	if (rc == -EINTR)
		return rc;
	rc = reader_follow_refresh(reader);
	return rc < 0 ? ktr__reader_fail(reader, rc) : 0;
}

int ktr_reader_ended(const struct ktr_reader *reader)
{
	const struct ktr__trace_set *set = reader->source.set;

	if (!reader->source.follow || reader->over)
		return 1;
	/* Ended, or given up by a writer that was killed, whose session tells the rest; nothing is held back. */
	return set && !reader->merge.n &&
	       (set->member[set->n - 1].head.has_ended || set->is_joined);
}
