/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sweep over a trace that nobody writes any more. It goes from moment to moment; up to each, what every stream
 * has becomes rows where it lies (ship_columns.c), and what spans are made of is put in the order of time after
 * that. So at a moment all is told of the events that have become rows, and a batch may end there.
 *
 * A moment is the end of the packet that ends first, so that no stream has more than one packet until then; it is
 * earlier where they have very many events together, or the day ends. Without spans a batch may end anywhere, and
 * moments are further apart.
 */
#include "tools/ship/ship_sweep.h"

#include "analyze/read/reader.h"
#include "analyze/stats/ends.h"
#include "tools/interrupt.h"
#include "tools/ship/ship_columns.h"
#include "tools/ship/ship_marks.h"
#include "tools/ship/ship_rows.h"
#include "tools/ship/ship_walk.h"

#include <errno.h>
#include <stdlib.h>

#define SWEEP_EVENTS SHIP_BATCH_ROWS /* [events] of all streams, about so many, until a moment */
#define SWEEP_PACKETS 16	     /* of a stream, about so many, where there are no spans */
#define SWEEP_LOOKS  4096u	     /* [events] between two looks whether a batch is full, or it is time */
#define SWEEP_LOT    256u	     /* [events] as many as a lot has, for that */
#define SWEEP_STEP   65536u	     /* [events] before another trace has its turn */

int ship_sweep_begin(struct ship *ship, struct ktr_error *err)
{
	if (!ship->with_events || ship->filter || ship->is_followed || !ktr__reader_sweeps(ship->reader))
		return 0;
	ship->is_swept = 1;
	if (!ship->with_spans)
		return 1;
	ship->marks = calloc(1, sizeof(*ship->marks));
	return ship->marks ? 1 : ktr_error_set(err, ENOMEM, "no memory");
}

/* An event by itself: one that has gone already, or one that is not as most are. */
static int sweep_event(struct ship *ship, const struct ktr_event *event, struct ship_stream *stream,
		       struct ktr_error *err)
{
	ktr__ends_see(event->thread, event->time_ns);
	return ship_walk_take(ship, event, stream, err);
}

/* Events of the lot, at least one. 0 or -errno with err filled. */
static int sweep_lot(struct ship *ship, const struct ktr__reader_lot *lot, uint64_t until_ns, struct ktr_error *err)
{
	const struct ktr_event first = { .time_ns = lot->time_ns, .cpu = lot->cpu, .keep = lot->keep != 0 };
	struct ship_stream *stream = ship_walk_stream(ship, &first, lot->cursor);
	const struct ktr_event *event = lot->event;
	int64_t n = 0;

	if (!stream || ship_walk_removed(ship, &first, lot->index, stream))
		return ktr_error_set(err, ENOMEM, "no memory");
	if (event)
		return sweep_event(ship, event, stream, err);
	if (lot->index >= stream->next)
		n = ship_columns(ship, lot, stream, until_ns);
	if (n < 0)
		return ktr_error_set(err, ENOMEM, "no memory");
	if (n) {
		stream->next = lot->index + (uint64_t)n;
		if (stream->first == UINT64_MAX)
			stream->first = lot->index;
		return 0;
	}
	return ktr__reader_sweep_one(ship->reader, lot, &event) ? sweep_event(ship, event, stream, err) : 0;
}

/* After about so many events: a batch, if it is time for one. 0 or -errno with err filled. */
static int sweep_batch(struct ship *ship, uint64_t n, struct ktr_error *err)
{
	ship->n_looked += n;
	if (ship->n_looked < SWEEP_LOOKS && !ship_rows_are_many(ship))
		return 0;
	ship->n_looked = 0;
	return ship_walk_is_due(ship) ? ship_walk_flush(ship, err) : 0;
}

/* All that streams have up to a moment. 0 or -errno with err filled. */
static int sweep_until(struct ship *ship, unsigned n_cursors, uint64_t until_ns, struct ktr_error *err)
{
	struct ktr__reader_lot lot;
	int rc = 0;

	for (unsigned i = 0; i < n_cursors && !rc; i++) {
		int more;

		if (ship->marks && ship_marks_stream(ship->marks))
			return ktr_error_set(err, ENOMEM, "no memory");
		while (!rc && (more = ktr__reader_sweep(ship->reader, i, until_ns, &lot)) != 0) {
			if (more < 0) {
				*err = *ktr_reader_error(ship->reader);
				return more;
			}
			rc = sweep_lot(ship, &lot, until_ns, err);
			if (!rc && !ship->marks)
				rc = sweep_batch(ship, SWEEP_LOT, err);
		}
	}
	return rc;
}

static int sweep_has_spans(struct ship *ship, uint64_t from_ns, struct ktr_error *err)
{
	if (!ship->marks || ship->spans || !ship_walk_spans(ship, from_ns))
		return 0;
	return ktr_error_set(err, ENOMEM, "no memory");
}

/* What was lost is known before what came after it becomes spans. 0 or -errno with err filled. */
static int sweep_said(struct ship *ship, struct ktr_error *err)
{
	int rc = 0, what;

	while (!rc && (what = ktr__reader_sweep_said(ship->reader)) > 0)
		rc = ship_walk_found(ship, what, NULL, 0, err);
	return rc;
}

/*
 * Where the day of the first event ends, or there are too many, it is earlier; later where it is of no matter, for
 * then each stream has more at once.
 */
static uint64_t sweep_moment(const struct ship *ship, const struct ktr__reader_span *span)
{
	uint64_t length = span->to_ns - span->from_ns, left_ns = ship_rows_day_left(ship, span->from_ns);

	if (!ship->marks && length < UINT64_MAX / SWEEP_PACKETS)
		length *= SWEEP_PACKETS;
	else if (span->n_events > SWEEP_EVENTS)
		length = (uint64_t)((double)length * SWEEP_EVENTS / (double)span->n_events);
	return span->from_ns + (length < left_ns ? length : left_ns);
}

/* Up to the next moment: how many events there were at most. 0: nothing is left, or -errno with err filled. */
static int64_t sweep_on(struct ship *ship, struct ktr_error *err)
{
	struct ktr__reader_span span;
	int any = ktr__reader_sweep_span(ship->reader, &span), rc;
	const struct ktr_event first = { .time_ns = span.from_ns };

	if (any < 0) {
		*err = *ktr_reader_error(ship->reader);
		return any;
	}
	rc = any && ship_rows_is_next_day(ship, &first) ? ship_walk_flush(ship, err) : 0;
	if (!rc && any)
		rc = sweep_has_spans(ship, span.from_ns, err);
	if (!rc && any)
		rc = sweep_until(ship, span.n_cursors, sweep_moment(ship, &span), err);
	if (!rc)
		rc = sweep_said(ship, err);
	if (!rc && any && ship->marks && ship_marks_spans(ship))
		rc = ktr_error_set(err, ENOMEM, "no memory");
	if (!rc && any)
		rc = sweep_batch(ship, ship->marks ? span.n_events : 0, err);
	return rc ? rc : any ? (int64_t)span.n_events : 0;
}

int ship_sweep_step(struct ship *ship, struct ktr_error *err)
{
	int64_t n = 1;

	for (uint64_t n_events = 0; n > 0 && n_events < SWEEP_STEP; n_events += (uint64_t)n) {
		ship->is_cut = ship->follow && interrupt_came();
		if (ship->is_cut)
			return 1;
		n = sweep_on(ship, err);
		if (n < 0)
			return (int)n;
	}
	ship->n_waits = 0;
	return n == 0;
}
