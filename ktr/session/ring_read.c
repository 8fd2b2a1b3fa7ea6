/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads rings that are being written.
 *
 * One attempt (ring_attempt) looks at the ring's header, copies slots, looks again, and keeps what
 * cannot have been touched in between: with the head h2 of the second look, slot i is whole when i
 * + capacity >= h2 + KTR_SLOTS_MAX, because the event being written may reach as far past the head
 * as the longest event does. An attempt whose ring changed under it is thrown away and repeated.
 *
 * Losses are counted in events: slots that were passed over, less the continuations among them.
 * How many continuations lie before a slot is told by the ordinal in the next continuation after
 * it, or, where none follows, by the ring's counter cont[t] (ring_conts_at). The cursor carries
 * that number along; on a ring without continuations this is one comparison per batch, and slots
 * are not looked at.
 *
 * cont[t] counts what lies before the head that t was taken from. An event of several slots writes
 * the new count into the other counter, which is stale until then (or holds what an event that
 * never was committed left there), and then flips t. So a look loads both counters BEFORE the
 * first head and again AFTER the second. If neither has changed, at most one such event was
 * committed in between, and cont[t] is right for the first head: two of them rewrite the counter
 * that was valid at first.
 */
#include "ktr/session/ring_read.h"

#include "ktr/session/ring_look.h"
#include "ktr/session/session_map.h"

#include <errno.h>
#include <string.h>

/* Attempts before a ring is given up; from RING_HURRY on, the oldest slots are left behind. */
#define RING_TRIES     16
#define RING_HURRY     4

/* [slots] Copied to the stack at a time while looking for a continuation ahead: 4 KiB. */
#define RING_CHUNK     64

#define RING_GEOM_MASK (~KTR_GEOM_CLOSED)

/* One attempt, from look to look. All slot numbers are free-running. */
struct ring_pass {
	const struct ktr__ring_source *source;
	uint32_t ring;
	struct ring_look before;
	struct ring_look after;
	uint64_t offset; /* [bytes] of the entries in the file */
	uint64_t size;   /* [slots] capacity; 0 without memory */
	uint64_t head;   /* [slots] before the copy */
	uint64_t from;   /* [slots] copied: [from, from + n) */
	uint32_t n;
	struct ktr_entry *slot; /* slot[i] is a copy of slot from + i */
	uint64_t edge;          /* first slot known to be whole */
	uint64_t good;          /* the first one from there on that begins an event */
	uint64_t end;           /* slots [good, end) are handed out */
};

/* The oldest slot that an event being written at this head cannot have touched. */
static uint64_t ring_oldest(uint64_t head, uint64_t size)
{
	uint64_t reach = head + KTR_SLOTS_MAX;

	return reach > size ? (reach - size < head ? reach - size : head) : 0;
}

static uint64_t ring_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t ring_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static const struct ktr_entry *ring_at(const struct ring_pass *pass, uint64_t slot)
{
	return &pass->slot[slot - pass->from];
}

static uint64_t ring_ordinal(const struct ktr_entry *slot)
{
	return slot->timestamp & KTR_CONT_NUMBER;
}

/* Continuations before the head of the first look; 0 when the counters moved. */
static int ring_conts_at_head(const struct ring_pass *pass, uint64_t *conts)
{
	if (pass->before.cont[0] != pass->after.cont[0] ||
	    pass->before.cont[1] != pass->after.cont[1])
		return 0;
	*conts = pass->before.cont[pass->before.head & 1];
	return 1;
}

/* Finds out where the entries are; a ring without memory has size 0. */
static int ring_locate(struct ring_pass *pass)
{
	unsigned log2;
	int rc;

	pass->size = 0;
	pass->head = pass->before.head >> 1;
	rc = ktr__geom_check(pass->source->header, pass->before.geom, &pass->offset, &log2);
	if (rc == 0)
		pass->size = 1ull << log2;
	return rc == -ENOENT ? 0 : rc;
}

/*
 * Looks, copies what seems readable of [cursor, stop) and one slot more, which tells whether
 * `stop` is inside an event, and looks again.
 */
static int ring_fetch(struct ring_pass *pass, const struct ktr__ring_cursor *cursor, uint64_t stop,
		      uint32_t max, unsigned try)
{
	uint64_t oldest, want;
	int rc;

	rc = ring_look_before(pass->source, pass->ring, &pass->before);
	if (rc == 0)
		rc = ring_locate(pass);
	if (rc)
		return rc;
	if (pass->head < cursor->next)
		return -EPROTO;
	oldest = ring_oldest(pass->head, pass->size);
	if (oldest > cursor->next)
		oldest += ring_min(pass->source->leap, (pass->head - oldest) / 2);
	if (try >= RING_HURRY)
		oldest += (pass->head - oldest) / RING_TRIES * (try - RING_HURRY + 1);
	oldest = ring_max(oldest, ring_min(pass->before.first, pass->head));
	pass->from = ring_max(cursor->next, oldest);
	want = pass->head - pass->from;
	if (stop <= pass->from)
		want = 0;
	else if (stop - pass->from < want)
		want = stop - pass->from + 1;
	pass->n = (uint32_t)ring_min(want, ring_min(max, pass->size));
	KTR_INJECT(1);
	rc = ring_copy(pass->source, pass->offset, pass->size, pass->from, pass->n, pass->slot);
	KTR_INJECT(2);
	if (rc == 0)
		rc = ring_look_after(pass->source, pass->ring, &pass->after);
	if (rc)
		return rc;
	if ((pass->before.geom ^ pass->after.geom) & RING_GEOM_MASK ||
	    pass->after.head >> 1 < pass->head)
		return -EAGAIN;
	return 0;
}

/*
 * Settles which of the copied slots are whole and begins with the first entry of an event. -EAGAIN:
 * the writer has gone over all of them.
 */
static int ring_begin(struct ring_pass *pass)
{
	uint64_t end = pass->from + pass->n;

	pass->edge = ring_max(pass->from, ring_oldest(pass->after.head >> 1, pass->size));
	pass->good = pass->edge;
	if (pass->good > pass->head || (pass->n && pass->good >= end))
		return -EAGAIN;
	while (pass->good < end && ktr__slot_is_cont(ring_at(pass, pass->good)))
		pass->good++;
	return 0;
}

/*
 * Settles where the batch ends: at the head, which never is inside an event, or before the last
 * first entry up to `stop`. A row of continuations longer than any event is handed out as it is.
 */
static int ring_end(struct ring_pass *pass, const struct ktr__ring_cursor *cursor, uint64_t stop,
		    uint32_t max)
{
	uint64_t copied = pass->from + pass->n, end;

	if (copied == pass->head && pass->head <= stop) {
		pass->end = copied;
		return 0;
	}
	pass->end = pass->good;
	if (copied <= pass->good + 1 && pass->n < max)
		return 0;
	end = ring_min(copied - 1, stop);
	while (end > pass->good && ktr__slot_is_cont(ring_at(pass, end)))
		end--;
	if (end > pass->good)
		pass->end = end;
	else if (copied - pass->good > KTR_SLOTS_MAX)
		pass->end = ring_min(copied, stop);
	else if (pass->good == cursor->next && pass->n == max)
		return -ENOBUFS;
	return 0;
}

/*
 * Looks after the copy, up to the head, for the next continuation. 1 and its place in *where and
 * its ordinal in *conts, 0 when there is none, -EAGAIN when the writer was faster.
 */
static int ring_scan_ahead(struct ring_pass *pass, uint64_t *where, uint64_t *conts)
{
	struct ktr_entry chunk[RING_CHUNK];
	struct ring_look look;
	uint64_t at = pass->from + pass->n;
	int rc;

	for (; at < pass->head; at += RING_CHUNK) {
		uint32_t n = (uint32_t)ring_min(RING_CHUNK, pass->head - at);

		rc = ring_copy(pass->source, pass->offset, pass->size, at, n, chunk);
		KTR_INJECT(3);
		if (rc == 0)
			rc = ring_look_after(pass->source, pass->ring, &look);
		if (rc)
			return rc;
		if ((look.geom ^ pass->before.geom) & RING_GEOM_MASK ||
		    ring_oldest(look.head >> 1, pass->size) > at)
			return -EAGAIN;
		for (uint32_t i = 0; i < n; i++) {
			if (!ktr__slot_is_cont(&chunk[i]))
				continue;
			*where = at + i;
			*conts = ring_ordinal(&chunk[i]);
			return 1;
		}
	}
	return 0;
}

/*
 * How many continuations lie before pass->good, which is not where the cursor stood? Moves
 * clean_to to the next continuation that was seen.
 */
static int ring_conts_at(struct ring_pass *pass, struct ktr__ring_cursor *cursor, uint64_t *conts)
{
	uint64_t copied = pass->from + pass->n, at_head = 0;
	int stable, rc;

	*conts = cursor->conts;
	if (cursor->known && pass->good <= cursor->clean_to)
		return 0;
	for (uint64_t i = pass->good; i < copied; i++) {
		if (!ktr__slot_is_cont(ring_at(pass, i)))
			continue;
		cursor->clean_to = i;
		*conts = ring_ordinal(ring_at(pass, i));
		return 0;
	}
	stable = ring_conts_at_head(pass, &at_head);
	if (stable && cursor->known && at_head == cursor->conts) {
		cursor->clean_to = pass->head;
		return 0;
	}
	rc = ring_scan_ahead(pass, &cursor->clean_to, conts);
	if (rc == 0) {
		if (!stable)
			return -EAGAIN;
		cursor->clean_to = pass->head;
		*conts = at_head;
	}
	return rc < 0 ? rc : 0;
}

/* Of the events missing before pass->good, before which are conts continuations, those that were cleared. */
static uint64_t ring_cleared(const struct ring_pass *pass, const struct ktr__ring_cursor *cursor,
			     uint64_t conts)
{
	uint64_t at = RING_FIELD(ring_header_at(pass->source, pass->ring), cleared), word[2], again, n;

	if (pass->before.first <= cursor->next || ring_words(pass->source, at, word, 2) ||
	    ring_words(pass->source, at, &again, 1) || again != word[0] || word[0] <= cursor->next ||
	    word[0] > pass->good || word[1] < cursor->conts || word[1] > conts)
		return 0;
	n = word[0] - cursor->next;
	return word[1] - cursor->conts < n ? n - (word[1] - cursor->conts) : 0;
}

/* What is missing between the cursor and pass->good; moves the cursor there. */
static int ring_account(struct ring_pass *pass, struct ktr__ring_cursor *cursor,
			struct ktr__ring_batch *batch)
{
	uint64_t conts, slots = pass->good - cursor->next;
	int rc;

	if (!slots && cursor->known)
		return 0;
	rc = ring_conts_at(pass, cursor, &conts);
	if (rc)
		return rc;
	if (cursor->known) {
		if (conts < cursor->conts || conts - cursor->conts > slots)
			batch->damaged = 1;
		else
			slots -= conts - cursor->conts;
		batch->cleared = ring_cleared(pass, cursor, conts);
		batch->cleared = ring_min(batch->cleared, slots);
		batch->lost = slots - batch->cleared;
	}
	cursor->known = 1;
	cursor->conts = conts;
	cursor->next = pass->good;
	return 0;
}

/* Moves the cursor, which stands at the batch's beginning, to its end. */
static void ring_advance(const struct ring_pass *pass, struct ktr__ring_cursor *cursor)
{
	uint64_t end = pass->end, conts;
	int stable = ring_conts_at_head(pass, &conts);

	cursor->next = end;
	if (stable && conts == cursor->conts)
		cursor->clean_to = ring_max(cursor->clean_to, pass->head);
	if (end <= cursor->clean_to)
		return;
	if (stable && end == pass->head) {
		cursor->conts = conts;
		cursor->clean_to = end;
		return;
	}
	for (uint64_t i = end; i-- > pass->good;) {
		if (ktr__slot_is_cont(ring_at(pass, i))) {
			cursor->conts = ring_ordinal(ring_at(pass, i)) + 1;
			break;
		}
	}
	cursor->clean_to = end;
}

/* Where as many slots as the batch has lie after it that are to be read too; not where the producer writes. */
static const struct ktr_entry *ring_ahead(const struct ring_pass *pass, uint64_t stop)
{
	uint64_t n = pass->end - pass->good;
	const char *base = ring_base(pass->source, pass->offset);

	if (!base || !n || pass->end + n > ring_min(pass->head, stop))
		return NULL;
	base += pass->offset + (pass->end & (pass->size - 1)) * KTR_ENTRY_BYTES;
	return (const struct ktr_entry *)(const void *)base;
}

static int ring_attempt(struct ring_pass *pass, struct ktr__ring_cursor *cursor, uint64_t stop,
			uint32_t max, unsigned try, struct ktr__ring_batch *batch)
{
	struct ktr__ring_cursor moved = *cursor;
	uint64_t start = cursor->next;
	int rc;

	rc = ring_fetch(pass, cursor, stop, max, try);
	if (rc == 0)
		rc = ring_begin(pass);
	if (rc == 0)
		rc = ring_end(pass, cursor, stop, max);
	if (rc == 0)
		rc = ring_account(pass, &moved, batch);
	if (rc)
		return rc;
	ring_advance(pass, &moved);
	moved.geom = pass->before.geom;
	*cursor = moved;
	batch->edge = pass->edge;
	batch->first = pass->good;
	batch->n = (uint32_t)(pass->end - pass->good);
	batch->entry = batch->n ? ring_at(pass, pass->good) : pass->slot;
	batch->head = pass->after.head >> 1;
	batch->ahead = ring_ahead(pass, stop);
	batch->more = pass->end < ring_min(pass->head, stop);
	return moved.next != start;
}

int ktr__ring_read(const struct ktr__ring_source *source, struct ktr__ring_cursor *cursor,
		   uint64_t stop, struct ktr_entry *buffer, uint32_t max,
		   struct ktr__ring_batch *batch)
{
	struct ring_pass pass = { .source = source, .ring = cursor->ring, .slot = buffer };
	int rc = 0;

	memset(batch, 0, sizeof(*batch));
	batch->entry = buffer;
	if (cursor->ring >= ktr__header_n_ring_rows(source->header))
		return -ERANGE;
	if (stop <= cursor->next)
		return 0;
	if (!max)
		return -ENOBUFS;
	for (unsigned try = 0; try < RING_TRIES; try++) {
		batch->damaged = 0;
		rc = ring_attempt(&pass, cursor, stop, max, try, batch);
		if (rc != -EAGAIN && rc != -EPROTO)
			break;
	}
	return rc;
}

int ktr__ring_to_head(const struct ktr__ring_source *source, struct ktr__ring_cursor *cursor)
{
	struct ring_pass pass = { .source = source, .ring = cursor->ring };
	int rc;

	if (cursor->ring >= ktr__header_n_ring_rows(source->header))
		return -ERANGE;
	for (unsigned try = 0; try < RING_TRIES; try++) {
		rc = ring_look_before(source, cursor->ring, &pass.before);
		KTR_INJECT(1);
		if (rc == 0)
			rc = ring_look_after(source, cursor->ring, &pass.after);
		if (rc)
			return rc;
		cursor->known = (uint32_t)ring_conts_at_head(&pass, &cursor->conts);
		if (cursor->known)
			break;
	}
	cursor->next = pass.before.head >> 1;
	cursor->clean_to = cursor->next;
	cursor->geom = pass.before.geom;
	return 0;
}

uint64_t ktr__ring_head(const struct ktr__ring_source *source, uint32_t ring, uint64_t *geom)
{
	uint64_t word[2];

	if (ring >= ktr__header_n_ring_rows(source->header) ||
	    ring_words(source, ring_header_at(source, ring), word, 2))
		word[0] = word[1] = 0;
	if (geom)
		*geom = word[0];
	return word[0] ? word[1] >> 1 : 0;
}
