/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Beginnings and ends of spans, as a sweep finds them: stream by stream up to some moment. Then they are put in the
 * order of time, and become spans.
 */
#ifndef SHIP_MARKS_H
#define SHIP_MARKS_H

#include "tools/ship/ship.h"

#include "analyze/read/reader.h"

#include <errno.h>

/* What a span needs of an event. */
struct ship_mark {
	struct ktr__span_mark at;
	uint32_t event; /* all of it, the whole event; 0: the key is all that it has */
	int is_fresh;
};

/* An event whose bytes are kept. */
struct ship_marks_event {
	struct ktr_event event;
	size_t text[KTR_ARGS_MAX]; /* where str[i] is among the texts */
};

struct ship_marks {
	struct ship_mark *mark, *sorted; /* owned */
	uint32_t n, room, sorted_room;
	uint32_t *stream; /* owned: where each stream's begin, and at the end n */
	uint32_t n_streams, stream_room;
	struct ship_marks_event *event; /* owned; from 1 */
	uint32_t n_events, event_room;
	struct native_buffer text;
};

/* Room for n more. 0 or -ENOMEM. */
int ship_marks_room(struct ship_marks *marks, uint32_t n);

/* The next ones are of another stream, of a higher number. 0 or -ENOMEM. */
int ship_marks_stream(struct ship_marks *marks);

/* A scope begins or ends, for which there is room. 0. */
static inline int ship_marks_scope(struct ship_marks *marks, const struct ktr_reader_site *site,
				   const struct ktr_reader_thread *thread, const struct ktr__reader_lot *lot,
				   uint64_t key, uint64_t ns)
{
	marks->mark[marks->n++] = (struct ship_mark){ { ns, site, thread, key, lot->cpu, lot->keep != 0 }, 0, 1 };
	return 0;
}

/* An event of which spans may be made; is_fresh: as of the ship. 0 or -ENOMEM. */
int ship_marks_event(struct ship *ship, const struct ktr_event *event, int is_fresh);

/* Makes spans of all marks. 0 or -ENOMEM. */
int ship_marks_spans(struct ship *ship);

void ship_marks_free(struct ship_marks *marks);

#endif
