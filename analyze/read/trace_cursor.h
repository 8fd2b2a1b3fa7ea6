/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cursor of one stream of a trace, shared by the files that move it: trace_cursor.c forward,
 * trace_back.c in reverse, trace_part.c from file to file; trace_source.c makes it.
 *
 * A stream has a file in each directory of the trace that rotation has made: its parts. One is open
 * at a time.
 */
#ifndef ANALYZE_TRACE_CURSOR_H
#define ANALYZE_TRACE_CURSOR_H

#include "analyze/read/packets.h"
#include "analyze/read/source.h"
#include "writer/format/codec.h"

#include <stddef.h>

#define KTR__TRACE_BLOCK 64 /* [events] decoded at once in reverse */

/* Where an event begins: what a walk needs to go on there. */
struct ktr__trace_mark {
	const uint8_t *at;
	uint64_t time_ns;
	uint32_t n_left;
};

/* Reverse only. */
struct ktr__trace_back {
	struct ktr__trace_mark *mark; /* owned: of every KTR__TRACE_BLOCK-th event */
	unsigned n_marks;             /* blocks that have not been decoded yet */
	unsigned room;
	unsigned n_block; /* decoded events that have not been handed out yet */
	struct ktr_event block[KTR__TRACE_BLOCK];
};

/* One file of the stream. */
struct ktr__trace_part {
	unsigned member;   /* of the set */
	int is_cut;	   /* it was removed before it was read to its end */
	uint64_t n_bytes;  /* to be read: as long as it was when it was last looked at */
	uint64_t first_ns; /* of its first and last event, by its packets; both 0: it has none */
	uint64_t last_ns;
};

/* Follow: how long the file was when. */
#define KTR__TRACE_GROWN 8

struct ktr__trace_grown {
	uint64_t n_bytes;
	uint64_t seen_ns;
};

struct ktr__trace_cursor {
	struct ktr__cursor c;
	struct ktr__packets file;    /* the part that is open; fd -1: none */
	struct ktr__trace_part *part; /* owned; oldest first */
	unsigned n_parts, part_room;
	unsigned at_part;
	int opened;  /* at_part is meant; the file may be missing all the same */
	int crossed; /* the packet before was in another part */
	uint64_t n_gone; /* events right before this packet that were in parts which are not there any more, */
	uint64_t gone_no; /* or before the event of that number; 0: there were none */
	unsigned gone_member; /* the directory that begins behind them */
	uint64_t n_untold; /* of these: the loss is told when it is known where it ends */
	unsigned n_begun; /* directories whose beginning the stream has passed */
	uint32_t n_before; /* events of the packet before */
	char name[32];
	uint32_t number; /* in the name */
	unsigned kind; /* KTR_RING_* */
	int in_packet;
	uint64_t at;   /* [bytes] where the packet begins */
	uint64_t next; /* [bytes] where the next one begins; reverse: where the one before ends */
	const uint8_t *bytes; /* of the packet */
	struct ktr_packet_header head;
	struct ktr__walk walk;
	uint64_t n_decoded; /* events of the packet */
	uint64_t limit_ns;  /* events before this (reverse: at or after this) are passed over */

	/* What the packet before it said, in reverse the one after it. */
	int known;          /* 0: nothing, after a seek; discarded and edge_ns hold otherwise */
	int numbered;       /* 1: seq and event_no hold, too */
	uint64_t seq;       /* of the packet that should be next */
	uint64_t event_no;  /* running number of the event after it; reverse: of its first */
	uint64_t discarded; /* [events] */
	uint64_t first_no;  /* running number of the first event that any packet so far may have; forwards */
	uint64_t edge_ns;   /* of its last event; reverse: of its first */

	struct ktr_packet_header last; /* of the last packet of all parts; magic 0: there is none */
	uint64_t last_end;             /* [bytes] after it, in the last part */
	uint64_t reached;              /* [slots] after the packet being read, or read last */
	struct ktr__trace_grown grown[KTR__TRACE_GROWN];
	unsigned n_grown;

	unsigned n_notes;
	uint32_t last_word; /* the events of a processor come in runs of one thread */
	const struct ktr_reader_thread *last_thread;
	struct ktr__trace_back *back; /* owned; NULL forward */
};

static inline struct ktr__trace_cursor *ktr__trace_of(struct ktr__cursor *cursor)
{
	return (struct ktr__trace_cursor *)(void *)((char *)cursor -
						    offsetof(struct ktr__trace_cursor, c));
}

/* A new cursor without parts; only the direction is set. */
void ktr__trace_forward(struct ktr__trace_cursor *t);

/* Notes damage of the stream's bytes [from, to), unless it has been noted often enough. */
void ktr__trace_damage(struct ktr__trace_cursor *t, uint64_t from, uint64_t to, const char *what);

/* Reports a loss, if it is one. */
void ktr__trace_gap(struct ktr__trace_cursor *t, uint64_t n_events, uint64_t from_ns,
		    uint64_t to_ns);

/* a - b, or 0 where that would be negative. */
static inline uint64_t ktr__trace_minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Does the packet of t->head fit what is known of its stream? */
int ktr__trace_suits(const struct ktr__trace_cursor *t);

/* Begins to decode the packet of t->head at t->bytes. */
void ktr__trace_begin(struct ktr__trace_cursor *t);

/*
 * The event at t->walk.at cannot be decoded, for the codec's reason: the rest of the packet is
 * lost.
 */
void ktr__trace_give_up(struct ktr__trace_cursor *t, int why);

/* Forward: goes to where an event is that the walk has not come to: 1, 0 at the end, -errno. */
int ktr__trace_stand(struct ktr__trace_cursor *t);

/* See ktr__reader_begun(). */
struct ktr__reader_begun;
int ktr__trace_begun(const struct ktr__event_source *source, unsigned *i, struct ktr__reader_begun *begun);

/* The next event of the packet, in t->c.event: 1; 0: none is left, or none that can be decoded. */
int ktr__trace_one(struct ktr__trace_cursor *t);

/* Whose word it is, of an event at that time. */
static inline const struct ktr_reader_thread *ktr__trace_thread(struct ktr__trace_cursor *t, uint32_t word,
								uint64_t time_ns)
{
	struct ktr__tables *tables = &t->c.source->tables;

	if (word != t->last_word || !t->last_thread) {
		t->last_thread = ktr__tables_by_word(tables, word, time_ns);
		if (t->last_thread == &tables->nobody.thread)
			t->last_thread = ktr__tables_stranger(tables, word);
		t->last_word = word;
	}
	return t->last_thread;
}

/* Fills in what the codec does not know of an event. */
static inline void ktr__trace_complete(struct ktr__trace_cursor *t, struct ktr_event *event,
				       const struct ktr__found *found)
{
	event->site = ktr__tables_by_id(&t->c.source->tables, found->site);
	event->thread = ktr__trace_thread(t, found->word, event->time_ns);
	event->index = t->head.first_event + t->n_decoded++;
	event->cpu = t->head.cpu;
	event->keep = t->kind == KTR_RING_KEEP;
}

#endif
