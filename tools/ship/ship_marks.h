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
	uint64_t time_ns;
	const struct ktr_reader_site *site;
	uint64_t key;
	uint32_t source; /* which of them */
	uint32_t event;	 /* all of it, the whole event, and nothing but the time here; 0: there is no more */
};

/* An event whose bytes are kept. */
struct ship_marks_event {
	struct ktr_event event;
	int is_fresh;
	size_t text[KTR_ARGS_MAX]; /* where str[i] is among the texts */
};

struct ship_marks {
	struct ship_mark *mark, *sorted; /* owned */
	uint32_t n, room, sorted_room;
	uint32_t *stream; /* owned: where each stream's begin, and at the end n */
	uint32_t n_streams, stream_room;
	struct ktr__span_source *source; /* owned: where marks come from, one after another */
	uint32_t n_sources, source_room;
	struct ship_marks_event *event; /* owned; from 1 */
	uint32_t n_events, event_room;
	struct native_buffer text;
};

/* Room for n more, and for as many sources. 0 or -ENOMEM. */
int ship_marks_room(struct ship_marks *marks, uint32_t n);

/* The next ones are of another stream, of a higher number. 0 or -ENOMEM. */
int ship_marks_stream(struct ship_marks *marks);

/* The next ones are a thread's, of a lot; there is room. */
static inline void ship_marks_source(struct ship_marks *marks, const struct ktr_reader_thread *thread,
				     const struct ktr__reader_lot *lot)
{
	marks->source[marks->n_sources++] = (struct ktr__span_source){ thread, lot->cpu, lot->keep != 0 };
}

/* A scope begins or ends, of the source that came last, for which there is room. 0. */
static inline int ship_marks_scope(struct ship_marks *marks, const struct ktr_reader_site *site, uint64_t key,
				   uint64_t ns)
{
	marks->mark[marks->n++] = (struct ship_mark){ ns, site, key, marks->n_sources - 1, 0 };
	return 0;
}

/* An event of which spans may be made; is_fresh: as of the ship. 0 or -ENOMEM. */
int ship_marks_event(struct ship *ship, const struct ktr_event *event, int is_fresh);

/* Makes spans of all marks. 0 or -ENOMEM. */
int ship_marks_spans(struct ship *ship);

void ship_marks_free(struct ship_marks *marks);

#endif
