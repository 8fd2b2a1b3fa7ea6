/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A copy of one ring of a session, and a cursor over it: session_source.c makes the copy,
 * session_cursor.c walks it.
 */
#ifndef ANALYZE_SESSION_CURSOR_H
#define ANALYZE_SESSION_CURSOR_H

#include "analyze/read/source.h"
#include "ktr/session/ring_read.h"

/* A gap in what was copied. */
struct ktr__session_gap {
	uint64_t at; /* slot after it; n where nothing follows */
	uint64_t n_events;
};

struct ktr__session_cursor {
	struct ktr__cursor c;
	uint32_t cpu; /* of the ring; on the thread path of its last event */
	unsigned kind; /* KTR_RING_* */
	int by_thread; /* thread path: the entry tells the CPU */

	/*
	 * Whole events, one after the other. Their timestamps have become nanoseconds, with
	 * KTR_TIME_APPROX, and never go back.
	 */
	struct ktr_entry *slot;       /* owned */
	uint64_t n, room;             /* [slots] */
	struct ktr__session_gap *gap; /* owned */
	unsigned n_gaps, gap_room;
	uint64_t n_events; /* among the slots, */
	uint64_t n_lost;   /* [events] and missing */

	/* What is before all of them: of a trace that is joined with its session, its last event. */
	uint64_t base_index;
	uint64_t base_ns;

	/* Where the next copy goes on. */
	struct ktr__ring_cursor ring;
	uint64_t copied_ns; /* of the last event copied */
	uint64_t dropped;   /* [events] told of those that the recorder dropped */
	uint64_t fresh;     /* slots from here on came with the last look, */
	uint64_t fresh_ns;  /* at this time */

	/* Forward the next slot and gap; in reverse those after the next ones. */
	uint64_t at;
	unsigned gap_at;
	uint64_t index;   /* running number of the next event; in reverse of the last one */
	uint64_t time_ns; /* of the event handed out last */
	uint64_t limit_ns;
	char payload[KTR_SLOTS_MAX * KTR_ENTRY_BYTES]; /* of one event, and more than it can have */
};

/* A new cursor without slots, in the direction of the source; NULL without memory. */
struct ktr__session_cursor *ktr__session_cursor(struct ktr__event_source *source);

/* After the last slot: to the beginning of the walk. */
void ktr__session_rewind(struct ktr__session_cursor *s);

static inline uint64_t ktr__session_ns(const struct ktr__session_cursor *s, uint64_t at)
{
	return s->slot[at].timestamp & KTR_TIME_TICKS;
}

/* The CPU that an event was recorded on. */
static inline uint32_t ktr__session_cpu(const struct ktr__session_cursor *s, uint64_t at)
{
	return s->by_thread ? s->slot[at].thread >> KTR_THREAD_BITS : s->cpu;
}

#endif
