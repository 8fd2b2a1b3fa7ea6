/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader reads from: tables, and one cursor per ring, whichever kind of source they come
 * from.
 *
 * A source is opened by trace_source.h, session_source.h or core_source.h: each fills info and tables and adds
 * cursors. Several may add to one source, as long as their site and thread numbers mean the same (a trace and
 * the session it was written from).
 *
 * Whatever a cursor or an opener has to say besides events is kept until it is asked for: notes at once, losses
 * when the walk gets to where they begin.
 */
#ifndef ANALYZE_SOURCE_H
#define ANALYZE_SOURCE_H

#include "analyze/filter/filter.h"
#include "analyze/read/tables.h"
#include "analyze/stats/ends.h"

#include <ktr/reader.h>

struct ktr__event_source;
struct ktr__trace_set;
struct ktr__session_feed;

/*
 * One ring's events in the order of the walk. The event is complete and stays as it is until
 * advance() or seek() is called.
 */
struct ktr__cursor {
	/* Fetches the next event: 1, 0 at the end (and ever after until seek), -errno. */
	int (*advance)(struct ktr__cursor *cursor);
	/*
	 * Moves so that the next advance() fetches the first event at or after time_ns, in
	 * reverse the last one before it. 0 or -errno.
	 */
	int (*seek)(struct ktr__cursor *cursor, uint64_t time_ns);
	/*
	 * Adds to *n how many events come from here on, up to the end of the walk. 0 when it is done, 1 when
	 * something was said before it was, -errno. NULL: advance() is the only way.
	 */
	int (*count)(struct ktr__cursor *cursor, uint64_t *n);
	void (*close)(struct ktr__cursor *cursor); /* frees it */
	struct ktr__event_source *source;
	uint64_t key; /* the walk's order, smallest first: the time, in reverse its complement */
	uint64_t seen_ns; /* follow: when the event was first there to be read; 0: at the beginning */
	int waits;        /* the reader's: it had no event when it was last asked */
	int counts;       /* the reader's: its events are being counted */
	struct ktr_event event;
};

/* Something to be told before the next event. */
struct ktr__said {
	int what; /* KTR_READ_LOSS or KTR_READ_NOTE */
	union {
		struct ktr_loss loss;
		struct ktr_note note;
	} u;
};

struct ktr__queue {
	struct ktr__said *item;
	unsigned first;
	unsigned n;
	unsigned room;
};

/* Losses that a cursor came upon: a heap, whose top is the one that the walk gets to first. */
struct ktr__held {
	struct ktr_loss *loss;
	unsigned n;
	unsigned room;
};

struct ktr__reader_run;

#define KTR__SOURCE_OVER 1 /* of a look for what has come: nothing more will */

struct ktr__event_source {
	struct ktr_reader_info info;
	struct ktr__tables tables;
	struct ktr__queue queue;
	struct ktr__held held;
	struct ktr__cursor **cursor; /* owned */
	unsigned n_cursors, cursor_room;
	int reverse;
	int follow;        /* what comes later is wanted, too */
	const struct ktr_trace_clock *clock; /* while it is opened: another look's; NULL: measured anew */
	const char *kept;  /* borrowed: the key of pieces that are read, too, see reader.h; NULL: of none */
	int alone;         /* a trace: without what was rotated away, and without its session */
	int quiet;         /* notes are not wanted just now */
	int undecodable;         /* something that describes the events is damaged: not all can be decoded */
	int out_of_memory; /* something could not be queued */
	struct ktr__trace_set *set;          /* owned; a trace's directories, NULL for a session */
	struct ktr__session_feed *feed; /* owned; the session that is read from, or NULL */
	struct ktr__filter *filter; /* owned; NULL: all events are wanted */
	const uint8_t *sieve;	    /* the filter's, by site: see ktr__filter_sieve() */
	uint32_t n_sieve;
	uint64_t n_filtered;	    /* [events] it did not let pass */
	uint64_t n_bytes;	    /* of a trace's packets, when it was opened */
	void (*watch)(void *context, uint64_t time_ns, uint64_t n_events, uint64_t n_bytes); /* see reader.h */
	void *watch_context;
	uint8_t *counted;	    /* owned, by site: its events are counted and not handed out; NULL: none are */
	uint32_t n_counted;	    /* bytes of it */
	uint64_t *count;	    /* by site: see reader.h */
	void (*run)(void *context, const struct ktr__reader_run *run);
	void *run_context;
	uint64_t end_ns;	    /* the walk ends after this time, in reverse before it */
};

/*
 * A cursor hands out only what is wanted, and what ends the walk: it must not look for something that
 * passes in all that lies after.
 */
static inline int ktr__source_wants(struct ktr__event_source *source, const struct ktr_event *event)
{
	if (!source->filter ||
	    (source->reverse ? event->time_ns < source->end_ns : event->time_ns > source->end_ns) ||
	    ktr__filter_pass(source->filter, event))
		return 1;
	source->n_filtered++;
	ktr__ends_see(event->thread, event->time_ns);
	return 0;
}

/* Adds a cursor (takes it). 0 or -ENOMEM; the cursor is closed then. */
int ktr__source_add(struct ktr__event_source *source, struct ktr__cursor *cursor);

/* Widens info's span and number of CPUs by what a ring holds. */
void ktr__source_span(struct ktr__event_source *source, uint64_t first_ns, uint64_t last_ns);
void ktr__source_cpu(struct ktr__event_source *source, uint32_t cpu);

/* Queues a note; control characters in it are replaced. */
void ktr__source_note(struct ktr__event_source *source, int damaged, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void ktr__source_loss(struct ktr__event_source *source, const struct ktr_loss *loss);

/* Takes over how many events went into no ring, by reason, and notes it. path: of what says so. */
void ktr__source_dropped(struct ktr__event_source *source, const char *path, const uint64_t n_events[KTR_DROPS]);

/* Is there anything to be told? */
static inline int ktr__source_speaks(const struct ktr__event_source *source)
{
	return source->queue.first != source->queue.n || source->held.n;
}

/*
 * Takes the oldest thing said: KTR_READ_LOSS, KTR_READ_NOTE, or 0 when there is none. key: the next event's;
 * losses that begin there or after it are kept back.
 */
int ktr__source_said(struct ktr__event_source *source, uint64_t key, struct ktr__said *said);

/* Drops the losses that nobody took: the walk begins anew, and tells its own. Notes stay. */
void ktr__source_forget_losses(struct ktr__event_source *source);

/* Frees what the source owns, not the record itself. */
void ktr__source_close(struct ktr__event_source *source);

#endif
