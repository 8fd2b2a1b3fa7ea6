/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks of one stream are in order. Streams are merged two by two, which keeps those of one moment in the order of
 * the streams, as the reader's merge does; the last two as spans are made of them.
 */
#include "tools/ship/ship_marks.h"

#include "conf/kit/array.h"

#include <stdlib.h>
#include <string.h>

int ship_marks_room(struct ship_marks *marks, uint32_t n)
{
	if (ktr__array_grow(&marks->source, &marks->source_room, marks->n_sources + n, sizeof(*marks->source)))
		return -ENOMEM;
	return ktr__array_grow(&marks->mark, &marks->room, marks->n + n, sizeof(*marks->mark));
}

int ship_marks_stream(struct ship_marks *marks)
{
	if (ktr__array_grow(&marks->stream, &marks->stream_room, marks->n_streams + 1, sizeof(*marks->stream)))
		return -ENOMEM;
	marks->stream[marks->n_streams++] = marks->n;
	return 0;
}

/* The texts of an event. */
static void marks_texts(struct ship_marks *marks, struct ship_marks_event *to)
{
	for (unsigned left = to->event.site->in_str; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		to->text[i] = marks->text.n;
		native_buffer_add(&marks->text, to->event.str[i].bytes, to->event.str[i].n_bytes);
	}
}

int ship_marks_event(struct ship *ship, const struct ktr_event *event, int is_fresh)
{
	struct ship_marks *marks = ship->marks;
	enum ktr_event_kind kind = event->site->kind;

	if (kind != KTR_KIND_START && kind != KTR_KIND_STOP && kind != KTR_KIND_STATE)
		return 0;
	if (ship_marks_room(marks, 1) ||
	    ktr__array_grow(&marks->event, &marks->event_room, marks->n_events + 1, sizeof(*marks->event)))
		return -ENOMEM;
	marks->event[++marks->n_events].event = *event;
	marks->event[marks->n_events].is_fresh = is_fresh != 0;
	marks_texts(marks, &marks->event[marks->n_events]);
	marks->mark[marks->n++] = (struct ship_mark){ .time_ns = event->time_ns, .event = marks->n_events };
	return marks->text.failed ? -ENOMEM : 0;
}

/* ---- the order of time ---- */

/* Two rows of marks, a[0..n_a) and b[0..n_b), into one. Which is next cannot be foretold: that is no branch. */
static void marks_merge(const struct ship_mark *a, uint32_t n_a, const struct ship_mark *b, uint32_t n_b,
			struct ship_mark *to)
{
	const struct ship_mark *a_end = a + n_a, *b_end = b + n_b;

	while (a < a_end && b < b_end) {
		int is_b = b->time_ns < a->time_ns;
		const struct ship_mark *from = is_b ? b : a;

		*to++ = *from;
		b += is_b;
		a += !is_b;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Rows that have nothing, or follow one another in time as they lie, are one with those before them. */
static void marks_join(struct ship_marks *marks)
{
	const struct ship_mark *mark = marks->mark;
	uint32_t n = 1;

	for (uint32_t i = 1; i < marks->n_streams; i++) {
		uint32_t at = marks->stream[i];

		if (at > marks->stream[n - 1] && at < marks->n && mark[at].time_ns < mark[at - 1].time_ns)
			marks->stream[n++] = at;
	}
	marks->n_streams = n;
}

/* Half as many rows, each of two. */
static void marks_halve(struct ship_marks *marks)
{
	struct ship_mark *swap = marks->mark;
	uint32_t n = 0, room = marks->room;

	marks->stream[marks->n_streams] = marks->n;
	for (uint32_t i = 0; i < marks->n_streams; i += 2) {
		uint32_t from = marks->stream[i], middle = marks->stream[i + 1];
		uint32_t end = i + 2 <= marks->n_streams ? marks->stream[i + 2] : middle;

		marks_merge(marks->mark + from, middle - from, marks->mark + middle, end - middle,
			    marks->sorted + from);
		marks->stream[n++] = from;
	}
	marks->n_streams = n;
	marks->mark = marks->sorted;
	marks->sorted = swap;
	marks->room = marks->sorted_room;
	marks->sorted_room = room;
}

/* ---- spans ---- */

/* Of a whole event. 0, -ENOMEM, or what was returned for a span. */
static int marks_event(struct ship *ship, struct ship_marks *marks, struct ship_marks_event *m)
{
	for (unsigned left = m->event.site->in_str; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left);

		m->event.str[k].bytes = (const char *)marks->text.at + m->text[k];
	}
	ship->is_fresh = m->is_fresh;
	return ktr__spans_event(ship->spans, &m->event);
}

/* And of a mark alone. */
static inline int marks_scope(struct ship *ship, const struct ship_marks *marks, const struct ship_mark *m)
{
	const struct ktr__span_mark mark = { m->time_ns, m->site, m->key, &marks->source[m->source] };

	ship->is_fresh = 1;
	return ktr__spans_mark(ship->spans, &mark);
}

static inline int marks_one(struct ship *ship, struct ship_marks *marks, const struct ship_mark *m)
{
	return m->event ? marks_event(ship, marks, &marks->event[m->event]) : marks_scope(ship, marks, m);
}

/* Of all marks, in two rows at most: which are merged as they go. */
static int marks_walk(struct ship *ship, struct ship_marks *marks)
{
	const struct ship_mark *a = marks->mark, *end = a + marks->n;
	const struct ship_mark *b = marks->n_streams > 1 ? a + marks->stream[1] : end, *const a_end = b;
	int rc = 0;

	while (a < a_end && b < end && !rc) {
		int is_b = b->time_ns < a->time_ns;
		const struct ship_mark *m = is_b ? b : a;

		b += is_b;
		a += !is_b;
		rc = marks_one(ship, marks, m);
	}
	for (; a < a_end && !rc; a++)
		rc = marks_one(ship, marks, a);
	for (; b < end && !rc; b++)
		rc = marks_one(ship, marks, b);
	return rc;
}

int ship_marks_spans(struct ship *ship)
{
	struct ship_marks *marks = ship->marks;
	int rc;

	if (!marks->n) {
		marks->n_streams = 0;
		return 0;
	}
	marks_join(marks);
	if (marks->n_streams > 2 &&
	    ktr__array_grow(&marks->sorted, &marks->sorted_room, marks->n, sizeof(*marks->sorted)))
		return -ENOMEM;
	while (marks->n_streams > 2)
		marks_halve(marks);
	rc = marks_walk(ship, marks);
	marks->n = marks->n_streams = marks->n_sources = marks->n_events = 0;
	marks->text.n = 0;
	return rc;
}

void ship_marks_free(struct ship_marks *marks)
{
	if (!marks)
		return;
	free(marks->mark);
	free(marks->sorted);
	free(marks->stream);
	free(marks->source);
	free(marks->event);
	native_buffer_free(&marks->text);
	free(marks);
}
