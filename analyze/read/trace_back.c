/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stream of a trace, newest event first.
 *
 * Packed events have no way back. One pass over a packet remembers where every
 * KTR__TRACE_BLOCK-th event begins; blocks are then decoded forward, the last one first, and
 * their events handed out backward.
 */
#include "analyze/read/trace_back.h"

#include "analyze/read/source.h"
#include "analyze/read/trace_cursor.h"
#include "analyze/read/trace_losses.h"
#include "analyze/read/trace_part.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>

/* Compares the packet's header with what lies after it. */
static void trace_back_enter(struct ktr__trace_cursor *t)
{
	const struct ktr_packet_header *h = &t->head;
	uint64_t lost = t->known ? ktr__trace_minus(t->discarded, h->discarded) : 0;
	uint64_t missing = t->known ? ktr__trace_minus(t->event_no, h->first_event + h->n_events)
				    : 0;

	if (t->crossed)
		lost = ktr__trace_adjoins(t, t->at_part + 1) ? 0 : missing;
	else if (h->seq != t->seq && missing > lost)
		lost = missing;
	t->crossed = 0;
	ktr__trace_lost(t, h->seq + 1, lost, h->time_end, t->edge_ns);
	t->known = 1;
	t->seq = h->seq - 1;
	t->event_no = h->first_event;
	t->discarded = h->discarded;
	if (h->n_events)
		t->edge_ns = h->time_begin;
}

/* At the beginning of a part: what was lost before its first packet. */
static void trace_back_leave(struct ktr__trace_cursor *t)
{
	if (t->known && !t->crossed)
		ktr__trace_lost(t, t->seq + 1, t->discarded,
				t->at_part ? t->part[t->at_part - 1].last_ns : 0, t->edge_ns);
	if (!t->at_part)
		t->known = 0;
}

static int trace_back_mark(struct ktr__trace_back *b, const struct ktr__walk *walk)
{
	if (ktr__array_grow(&b->mark, &b->room, b->n_marks, sizeof(*b->mark)))
		return -ENOMEM;
	b->mark[b->n_marks++] = (struct ktr__trace_mark){ walk->at, walk->time_ns, walk->n_left };
	return 0;
}

/* Walks the packet once to learn where its events begin. 0 or -ENOMEM. */
static int trace_back_scan(struct ktr__trace_cursor *t)
{
	struct ktr__found found;
	struct ktr_event event;
	int rc;

	t->back->n_marks = t->back->n_block = 0;
	for (;; t->n_decoded++) {
		struct ktr__walk before = t->walk;

		rc = ktr__walk_next(&t->walk, &event, &found);
		if (rc <= 0)
			break;
		if (t->n_decoded % KTR__TRACE_BLOCK == 0 && trace_back_mark(t->back, &before))
			return -ENOMEM;
	}
	if (rc < 0)
		ktr__trace_give_up(t, rc);
	if (t->walk.time_ns > t->head.time_end) {
		ktr__trace_damage(t, t->at, t->next, "contradict their header, skipped");
		t->back->n_marks = 0;
	}
	return 0;
}

/* Notes what lies between the packet and the one after it. */
static void trace_back_hole(struct ktr__trace_cursor *t, uint64_t from, uint64_t to)
{
	if (from < to)
		ktr__trace_damage(t, from, to,
				  to == t->file.n_bytes ? "are not a whole packet, skipped"
							: "are damaged, skipped");
}

/* At the beginning of a part: 1 with the one before it open, 0 when there is none, -ENOMEM. */
static int trace_back_part(struct ktr__trace_cursor *t)
{
	int rc;

	if (t->opened) {
		trace_back_hole(t, 0, t->next);
		trace_back_leave(t);
		t->next = 0;
	}
	if (!t->n_parts || (t->opened && !t->at_part))
		return 0;
	rc = ktr__trace_open_part(t, t->opened ? t->at_part - 1 : t->n_parts - 1);
	return rc ? rc : 1;
}

/* Goes to the packet before: 1, 0 at the beginning, -errno. */
static int trace_back_packet(struct ktr__trace_cursor *t)
{
	for (;;) {
		int64_t at = t->opened ? ktr__packets_before(&t->file, t->next) : -ENOENT, n;
		int rc;

		if (at == -ENOENT) {
			rc = trace_back_part(t);
			if (rc <= 0)
				return rc;
			continue;
		}
		n = at < 0 ? at : ktr__packets_load(&t->file, (uint64_t)at, &t->bytes, &t->head);
		if (n <= 0)
			return n ? (int)n : -EIO;
		trace_back_hole(t, (uint64_t)(at + n), t->next);
		t->at = (uint64_t)at;
		t->next = (uint64_t)at;
		if (!ktr__trace_suits(t)) {
			ktr__trace_damage(t, t->at, t->at + (uint64_t)n,
					  "contradict the packets behind, skipped");
			continue;
		}
		trace_back_enter(t);
		ktr__trace_begin(t);
		rc = trace_back_scan(t);
		return rc ? rc : 1;
	}
}

/* Decodes the last block of the packet that has not been handed out: 1, or 0 when there is none. */
static int trace_back_block(struct ktr__trace_cursor *t)
{
	struct ktr__trace_back *b = t->back;
	const struct ktr__trace_mark *mark;
	struct ktr__found found;

	if (!b->n_marks)
		return 0;
	mark = &b->mark[--b->n_marks];
	t->walk.at = mark->at;
	t->walk.time_ns = mark->time_ns;
	t->walk.n_left = mark->n_left;
	t->n_decoded = (uint64_t)b->n_marks * KTR__TRACE_BLOCK;
	b->n_block = 0;
	while (b->n_block < KTR__TRACE_BLOCK &&
	       ktr__walk_next(&t->walk, &b->block[b->n_block], &found) > 0)
		ktr__trace_complete(t, &b->block[b->n_block++], &found);
	return 1;
}

static int trace_back_advance(struct ktr__cursor *cursor)
{
	struct ktr__trace_cursor *t = ktr__trace_of(cursor);
	struct ktr__trace_back *b = t->back;
	int rc;

	for (;;) {
		while (b->n_block) {
			if (b->block[--b->n_block].time_ns >= t->limit_ns ||
			    !ktr__source_wants(t->c.source, &b->block[b->n_block]))
				continue;
			t->c.event = b->block[b->n_block];
			t->c.key = ~t->c.event.time_ns;
			return 1;
		}
		if (trace_back_block(t))
			continue;
		rc = trace_back_packet(t);
		if (rc <= 0)
			return rc;
	}
}

static int trace_back_seek(struct ktr__cursor *cursor, uint64_t time_ns)
{
	struct ktr__trace_cursor *t = ktr__trace_of(cursor);
	struct ktr_packet_header before;
	int64_t at, n;
	int rc = t->n_parts ? ktr__trace_open_part(t, ktr__trace_find_part(t, time_ns)) : 0;

	t->back->n_marks = t->back->n_block = 0;
	t->limit_ns = time_ns;
	t->known = t->crossed = 0;
	t->edge_ns = 0;
	if (rc || !t->n_parts)
		return rc;
	at = (int64_t)t->file.n_bytes;
	if (time_ns != UINT64_MAX)
		at = ktr__packets_seek(&t->file, time_ns, &before);
	if (at < 0)
		return (int)at;
	t->next = (uint64_t)at;
	if (t->next >= t->file.n_bytes)
		return 0;
	/* The first packet that ends at or after the time may hold earlier events as well. */
	n = ktr__packets_load(&t->file, t->next, &t->bytes, &t->head);
	if (n > 0)
		t->next += (uint64_t)n;
	return n < 0 ? (int)n : 0;
}

int ktr__trace_reverse(struct ktr__trace_cursor *t)
{
	t->back = calloc(1, sizeof(*t->back));
	t->c.advance = trace_back_advance;
	t->c.seek = trace_back_seek;
	t->limit_ns = UINT64_MAX;
	return t->back ? 0 : -ENOMEM;
}
