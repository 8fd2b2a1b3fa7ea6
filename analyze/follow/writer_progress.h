/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the session of a followed trace tells of its writer: how far each ring has come, and so whether
 * something older than what the files show is still to be written. Only heads are looked at. A trace
 * whose session is not at hand is followed without.
 */
#ifndef ANALYZE_WRITER_PROGRESS_H
#define ANALYZE_WRITER_PROGRESS_H

#include "analyze/read/source.h"
#include "ktr/session/session_map.h"

struct ktr__writer_progress {
	struct ktr__session_map map;
	uint64_t *head;  /* owned; by ring, when last looked at */
	uint64_t *begun; /* owned; by ring, what a stream that has not been begun need not have */
	uint8_t *known;  /* owned; scratch, by ring */
	uint32_t n;
	uint64_t n_looks;
	/* The last answer, and what it was given for. */
	const struct ktr__cursor *top;
	uint64_t top_slot;
	uint64_t at_look;
	unsigned n_waiting;
	int answer;
};

/* Looks for the session. NULL where there is none, or no memory. complete: of the trace. */
struct ktr__writer_progress *ktr__writer_progress_open(const uint8_t uuid[16], int complete);
void ktr__writer_progress_close(struct ktr__writer_progress *progress);

/* Looks at the heads; to be followed by a look at the files. */
void ktr__writer_progress_look(struct ktr__writer_progress *progress);

/*
 * Is the event of the cursor in front the oldest there is? It was recorded before the last look, and
 * every stream that has no event to show has shown all that its ring had then. n_waiting: cursors
 * without an event, for which the answer is kept.
 */
int ktr__writer_progress_is_oldest(struct ktr__writer_progress *progress, const struct ktr__event_source *source,
			 struct ktr__cursor *top, unsigned n_waiting);

#endif
