/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What our own commands ask of a reader beyond <ktr/reader.h>, to be faster by it.
 */
#ifndef ANALYZE_READER_H
#define ANALYZE_READER_H

#include <ktr/reader.h>

struct ktr__symbols;
struct ktr__tables;
struct ktr__trace_head;

/*
 * As ktr_reader_open(), with pieces of a trace that rotation has removed and who reads has kept by that key, which
 * is borrowed until it is closed: see analyze/follow/kept.h.
 */
int ktr__reader_open_kept(const char *path, const struct ktr_reader_options *options, const char *key,
			  struct ktr_reader **out, struct ktr_error *err);

/* A trace's walk has passed all pieces whose number is lower. */
uint32_t ktr__reader_piece(const struct ktr_reader *reader);

/*
 * ktr_reader_next() without a copy: *event is the reader's own, valid until the next call, and NULL where
 * there is none.
 */
int ktr__reader_advance(struct ktr_reader *reader, const struct ktr_event **event);

/*
 * From here on wants() tells which arguments of a site's events are of use, bit by bit: what is read of a trace
 * passes over the others, and their arg[] and str[] mean nothing. A filter sees those that it looks at all the
 * same. NULL: all are wanted. 0 or -ENOMEM, with all of them wanted.
 */
#define KTR__READER_ALL_ARGS ((1u << KTR_ARGS_MAX) - 1)
typedef unsigned ktr__reader_wants_fn(const void *context, const struct ktr_reader_site *site);
int ktr__reader_wants(struct ktr_reader *reader, ktr__reader_wants_fn *wants, const void *context);

/* Events of one thread that were counted where they lie, in the order of time. */
struct ktr__reader_run {
	const struct ktr_reader_thread *thread;
	uint32_t cpu, n_events;
	uint64_t first_ns, last_ns;
};

/*
 * From here on events of sites that `of` holds for need not be handed out. Of those that are not, count[] by site's
 * id, borrowed, is raised, and run() is told; they are those of the walk's window, ahead of the others. Losses are
 * told before what comes after them, as ever. Where there is a filter, or it is no trace that is walked forwards,
 * all are handed out. NULL: all are. 0 or -ENOMEM, with all of them handed out. ktr_reader_count() and another
 * window are not for such a walk.
 */
typedef int ktr__reader_counts_fn(const void *context, const struct ktr_reader_site *site);
typedef void ktr__reader_run_fn(void *context, const struct ktr__reader_run *run);
int ktr__reader_count_only(struct ktr_reader *reader, ktr__reader_counts_fn *of, uint64_t *count,
			   ktr__reader_run_fn *run, void *context);

/*
 * A trace stream by stream, up to one moment after the other, its events decoded by who reads where they lie:
 *
 *	ktr__reader_sweeps(reader);
 *	while ((rc = ktr__reader_sweep_span(reader, &span)) > 0) {
 *		... a moment from span.from_ns to span.to_ns ...
 *		for (i = 0; i < span.n_cursors; i++)
 *			while ((rc = ktr__reader_sweep(reader, i, moment, &lot)) > 0)
 *				... lot.walk's events, and ktr__reader_swept(); or ktr__reader_sweep_one() ...
 *		while ((what = ktr__reader_sweep_said(reader)) > 0)
 *			... ktr_reader_loss(), ktr_reader_note() ...
 *	}
 *
 * Losses are told as they are met, some before events that are earlier. ktr__reader_stream() and
 * ktr__reader_first() are of the lot.
 */
struct ktr__walk;

struct ktr__reader_span {
	uint64_t from_ns; /* of the first event */
	uint64_t to_ns;	  /* up to here no stream has events in more than one packet, but where these are damaged */
	uint64_t n_events; /* at most, until then */
	unsigned n_cursors;
};

struct ktr__reader_lot {
	unsigned cursor;
	const struct ktr_event *event; /* this one, fetched before, and no more; NULL: those of the walk */
	/* Of codec.h: it has an event; who takes some moves it on; KTR__PACKETS_SLACK bytes more can be read */
	struct ktr__walk *walk;
	uint64_t index, time_ns;       /* of its next event */
	uint32_t cpu;
	int keep;
};

/* Can it be read so? 1, from the first event on, and in no other way any more; 0: no filter, and a whole trace. */
int ktr__reader_sweeps(struct ktr_reader *reader);

/* What comes next: 1, 0 when nothing is left, -errno. */
int ktr__reader_sweep_span(struct ktr_reader *reader, struct ktr__reader_span *span);

/* The cursor's next events, of which one at least is at or before that moment: 1, 0: none is, -errno. */
int ktr__reader_sweep(struct ktr_reader *reader, unsigned i, uint64_t until_ns, struct ktr__reader_lot *lot);

/* n events of the lot's walk were taken. */
void ktr__reader_swept(struct ktr_reader *reader, const struct ktr__reader_lot *lot, uint32_t n);

/* Decodes the walk's next event: 1; 0: it cannot be decoded. Valid until the next call. */
int ktr__reader_sweep_one(struct ktr_reader *reader, const struct ktr__reader_lot *lot,
			  const struct ktr_event **event);

/* Whose word it is, of an event of the lot; known of the word before, it costs nothing. */
const struct ktr_reader_thread *ktr__reader_sweep_thread(struct ktr_reader *reader,
							 const struct ktr__reader_lot *lot, uint32_t word,
							 uint64_t time_ns);

/* KTR_READ_LOSS, KTR_READ_NOTE, or 0: nothing more has been said. */
int ktr__reader_sweep_said(struct ktr_reader *reader);

/*
 * From here on it is told of each packet of a trace that is read: when its first event was, in reverse its last,
 * and how many events and bytes it has. NULL: nobody.
 */
typedef void ktr__reader_watch_fn(void *context, uint64_t time_ns, uint64_t n_events, uint64_t n_bytes);
void ktr__reader_watch(struct ktr_reader *reader, ktr__reader_watch_fn *watch, void *context);

/*
 * A trace that is followed is handed out in the order of time from here on, whatever its writer is kept from: what
 * is older than an event and still in the rings is waited for as long as the trace is written. Of one whose session
 * is not at hand it is waited for a while, as ever, but longer.
 */
void ktr__reader_be_patient(struct ktr_reader *reader);

/* [bytes] of packets that its whole walk has; 0 for a session. */
uint64_t ktr__reader_bytes(const struct ktr_reader *reader);

/* Returns the tables that it reads with, borrowed until it is closed. */
const struct ktr__tables *ktr__reader_tables(const struct ktr_reader *reader);

/*
 * Returns what the youngest directory of a trace says of the whole, borrowed until it is closed; NULL: it is a
 * session.
 */
const struct ktr__trace_head *ktr__reader_head(const struct ktr_reader *reader);

/*
 * Does a process of the session that a trace is read with live, as far as was known when it was opened? 0 where it
 * is read alone.
 */
int ktr__reader_lives(const struct ktr_reader *reader);

/*
 * Where the event that was handed out last comes from: the number of its cursor, of which there may be two for one
 * stream, and the name of the stream, "cpu_0.keep", which a session has, too, as its trace would call it.
 */
unsigned ktr__reader_cursor(const struct ktr_reader *reader);
void ktr__reader_stream(const struct ktr_reader *reader, char *name, size_t size);

/*
 * Returns the number that the first event of that stream has, or would have if it was not lost, as far as a walk
 * over a trace from its beginning came: those before went with what rotation removed.
 */
uint64_t ktr__reader_first(const struct ktr_reader *reader);

/*
 * Returns how many events of that stream were right before the one of that index, or before others that are lost
 * before it, in pieces of a trace that are not there any more: up to the number *until, which is not set where it
 * is 0. Where it is the first one of all, see ktr__reader_first().
 */
uint64_t ktr__reader_gone(const struct ktr_reader *reader, uint64_t index, uint64_t *until);

/*
 * A stream of which events are gone with pieces that are not there any more, whether it has an event after them or
 * not; what its events tell of may be among them.
 */
struct ktr__reader_begun {
	const char *stream; /* borrowed until the reader goes on */
	uint32_t cpu;
	int keep;
	uint64_t n_gone;
	uint64_t until;	  /* the number of the event behind them */
	uint64_t time_ns; /* about when the piece after them begins */
};

/* The next one; *i is 0 to begin with. 1, or 0 when there is none. */
int ktr__reader_begun(const struct ktr_reader *reader, unsigned *i, struct ktr__reader_begun *begun);

/* Returns names for addresses, made when first asked for and borrowed until it is closed; NULL without memory. */
struct ktr__symbols *ktr__reader_symbols(struct ktr_reader *reader);

#endif
