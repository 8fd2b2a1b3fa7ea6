/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stream of a trace, forward.
 *
 * The cursor stands in one packet and decodes its events one by one, straight into the event that
 * the merge looks at. Going from packet to packet it compares what they say: events that the
 * writer has counted as discarded are a loss; where packets themselves are missing, because they
 * were damaged, the running numbers of the events tell how many there were. Packets whose times
 * or processors contradict their stream are treated as damaged, so that a walk never goes back in
 * time and every processor is below info.n_cpus.
 *
 * Each part of a stream counts packets and losses for itself; the running numbers of events go on
 * from part to part, and tell what is missing where a part is.
 */
#include "analyze/read/trace_cursor.h"

#include "analyze/read/reader.h"
#include "analyze/read/source.h"
#include "analyze/read/tables.h"
#include "analyze/read/trace_losses.h"
#include "analyze/read/trace_part.h"
#include "analyze/read/trace_set.h"
#include "analyze/stats/ends.h"

#include <errno.h>

#define TRACE_EVENT_LEAST 10u /* [bytes] its header and its thread's word */
#define TRACE_NOTES 8 /* notes about the damage of one stream; more is not told */

void ktr__trace_damage(struct ktr__trace_cursor *t, uint64_t from, uint64_t to, const char *what)
{
	const struct ktr__trace_set *set = t->c.source->set;

	if (++t->n_notes > TRACE_NOTES)
		return;
	ktr__source_note(t->c.source, 1, "%s/%s: bytes %llu to %llu %s%s",
			 set->member[t->part[t->at_part].member].path, t->name,
			 (unsigned long long)from, (unsigned long long)to, what,
			 t->n_notes == TRACE_NOTES ? "; further damage of this file is not listed"
						   : "");
}

static void trace_cursor_gap(struct ktr__trace_cursor *t, uint64_t n_events, uint64_t from_ns, uint64_t to_ns,
			     uint8_t removed)
{
	struct ktr_loss loss = { .cpu = t->head.cpu,
				 .keep = t->kind == KTR_RING_KEEP,
				 .removed = removed,
				 .n_events = n_events,
				 .from_ns = from_ns,
				 .to_ns = to_ns };

	if (loss.n_events)
		ktr__source_loss(t->c.source, &loss);
}

void ktr__trace_gap(struct ktr__trace_cursor *t, uint64_t n_events, uint64_t from_ns, uint64_t to_ns)
{
	trace_cursor_gap(t, n_events, from_ns, to_ns, 0);
}

int ktr__trace_suits(const struct ktr__trace_cursor *t)
{
	const struct ktr_packet_header *h = &t->head;

	if (h->cpu >= t->c.source->info.n_cpus || h->time_begin > h->time_end)
		return 0;
	if (!t->known || !h->n_events)
		return 1;
	if (t->back)
		return !t->edge_ns || h->time_end <= t->edge_ns;
	return h->time_begin >= t->edge_ns;
}

void ktr__trace_begin(struct ktr__trace_cursor *t)
{
	const struct ktr__tables *tables = &t->c.source->tables;

	ktr__walk_begin(&t->walk, t->bytes, &t->head, tables->program, tables->n_sites);
	t->n_decoded = 0;
	t->in_packet = 1;
	if (t->c.source->watch)
		t->c.source->watch(t->c.source->watch_context, t->back ? t->head.time_end : t->head.time_begin,
				   t->head.n_events, (uint64_t)(t->walk.end - t->bytes));
	t->last_thread = NULL;
}

void ktr__trace_give_up(struct ktr__trace_cursor *t, int why)
{
	uint64_t n = ktr__trace_minus(t->head.n_events, t->n_decoded);

	t->in_packet = 0;
	ktr__trace_damage(t, t->at + (uint64_t)(t->walk.at - t->bytes),
			  t->at + (uint64_t)(t->walk.end - t->bytes),
			  why == -ENOENT ? "hold an event of an unknown call site, skipped"
					 : "hold an event that makes no sense, skipped");
	ktr__trace_gap(t, n, t->walk.time_ns, t->head.time_end);
}

static void trace_cursor_untold(struct ktr__trace_cursor *t, uint64_t to_ns)
{
	trace_cursor_gap(t, t->n_untold, t->edge_ns, to_ns, 1);
	t->n_untold = 0;
}

/* Compares the packet's header with what came before. */
static void trace_cursor_enter(struct ktr__trace_cursor *t)
{
	const struct ktr_packet_header *h = &t->head;
	uint64_t lost = t->known ? ktr__trace_minus(h->discarded, t->discarded) : 0;
	uint64_t missing = t->numbered ? ktr__trace_minus(h->first_event, t->event_no) : 0;
	int apart = t->crossed && !ktr__trace_adjoins(t, t->at_part);
	uint64_t n_gone = apart && missing > lost ? missing : 0;

	/* What was gone before a packet without events is said with the first one that there is. */
	t->n_gone = n_gone + (t->n_before ? 0 : t->n_gone);
	t->n_before = h->n_events;
	t->gone_no = n_gone ? h->first_event : t->gone_no;
	if ((h->seq != t->seq || apart) && missing > lost)
		lost = missing;
	t->crossed = 0;
	if (!t->numbered)
		t->first_no = h->first_event;
	trace_cursor_untold(t, h->n_events ? h->time_begin : 0);
	if (n_gone)
		trace_cursor_gap(t, lost, t->edge_ns, h->n_events ? h->time_begin : 0, 1);
	else
		ktr__trace_lost(t, h->seq, lost, t->edge_ns, h->n_events ? h->time_begin : 0);
	t->known = t->numbered = 1;
	t->seq = h->seq + 1;
	t->event_no = h->first_event + h->n_events;
	t->discarded = h->discarded;
	if (h->n_events)
		t->edge_ns = h->time_end;
}

/*
 * Behind what is no packet: where the next one begins, n_bytes at the end, or -errno. What is being
 * written may be a packet in a moment: -EAGAIN.
 */
static int64_t trace_cursor_skip(struct ktr__trace_cursor *t, int64_t why)
{
	int placed = !why && t->head.flags == KTR_PACKET_UNWRITTEN;
	int64_t next = placed ? (int64_t)t->file.n_bytes : ktr__packets_find(&t->file, t->next + 1), again;
	const struct ktr__event_source *source = t->c.source;
	const char *what = "are damaged, skipped";

	if (next < 0)
		return next;
	if (source->follow && (uint64_t)next >= t->file.n_bytes && t->at_part + 1 == t->n_parts &&
	    source->set->member[t->part[t->at_part].member].number == KTR__SET_LIVE)
		return -EAGAIN;
	if (placed)
		return next; /* its writer was killed: the file ends before it */
	/* What follows was written later than what covers it. */
	if (!why && t->file.patience && (uint64_t)next < t->file.n_bytes) {
		t->file.n = 0;
		again = ktr__packets_load(&t->file, t->next, &t->bytes, &t->head);
		if (again > 0 || (!again && t->head.flags == KTR_PACKET_UNWRITTEN))
			return (int64_t)t->next;
	}
	if (why == -ENOTSUP)
		what = "are of another version, skipped";
	else if (!why && (uint64_t)next >= t->file.n_bytes)
		what = "are the beginning of a packet that was not finished";
	ktr__trace_damage(t, t->next, (uint64_t)next, what);
	return next;
}

/*
 * The stream comes to the beginning of a directory, which tells where it goes on there: what is missing before that
 * was in others, which are not there any more.
 */
static void trace_cursor_begin(struct ktr__trace_cursor *t, unsigned member)
{
	const struct ktr__trace_dir *dir = &t->c.source->set->member[member];
	const struct ktr__trace_from *from = dir->head.from;
	uint64_t missing;
	int apart;

	while (from && (from->number != t->number || from->kind != t->kind))
		from = from->next;
	if (!from)
		return;
	if (from->slot > t->reached)
		t->reached = from->slot;
	apart = !t->opened || t->part[t->at_part].is_cut || t->part[t->at_part].member + 1 != member ||
		!ktr__set_adjoins(dir);
	missing = ktr__trace_minus(from->index, t->event_no);
	if (!apart || !missing)
		return;
	/* Before the first directory there is nothing that it could be missing from. */
	if (member)
		t->n_untold += missing;
	else
		t->first_no = from->index;
	t->n_gone = missing + (t->n_before ? 0 : t->n_gone);
	t->n_before = 0;
	t->gone_no = t->event_no = from->index;
	t->gone_member = member;
	t->numbered = 1;
}

/* At the end of a part: 1 with the next one open, 0 when there is none, -ENOMEM. */
static int trace_cursor_part(struct ktr__trace_cursor *t)
{
	unsigned i = t->opened ? t->at_part + 1 : 0;
	unsigned n_begun = i < t->n_parts ? t->part[i].member + 1 : t->c.source->set->n;
	int rc;

	while (t->n_begun < n_begun)
		trace_cursor_begin(t, t->n_begun++);
	if (i >= t->n_parts) {
		trace_cursor_untold(t, 0);
		return 0;
	}
	rc = ktr__trace_open_part(t, i);
	return rc ? rc : 1;
}

/* Follow: when what lies at an offset of the part was first there. */
static uint64_t trace_cursor_seen(const struct ktr__trace_cursor *t, uint64_t offset)
{
	if (t->at_part + 1 == t->n_parts)
		for (unsigned i = 0; i < t->n_grown; i++)
			if (offset < t->grown[i].n_bytes)
				return t->grown[i].seen_ns;
	return 0;
}

/* Goes to the next packet: 1, 0 at the end, -errno. */
static int trace_cursor_packet(struct ktr__trace_cursor *t)
{
	for (;;) {
		int64_t n;

		if (!t->opened || t->next >= t->file.n_bytes) {
			n = trace_cursor_part(t);
			if (n <= 0)
				return (int)n;
			continue;
		}
		n = ktr__packets_load(&t->file, t->next, &t->bytes, &t->head);
		if (n == 0 || n == -EBADMSG || n == -ENOTSUP) {
			n = trace_cursor_skip(t, n);
			if (n < 0)
				return n == -EAGAIN ? 0 : (int)n;
			t->next = (uint64_t)n;
			continue;
		}
		if (n < 0)
			return (int)n;
		t->at = t->next;
		t->next += (uint64_t)n;
		/* Followed, processors come later than the survey. */
		if (t->c.source->follow && t->head.cpu < KTR_CPU_MAX)
			ktr__source_cpu(t->c.source, t->head.cpu);
		if (!ktr__trace_suits(t)) {
			ktr__trace_damage(t, t->at, t->next,
					  "contradict the packets before, skipped");
			continue;
		}
		trace_cursor_enter(t);
		ktr__trace_begin(t);
		t->reached = t->head.next_slot;
		t->c.seen_ns = trace_cursor_seen(t, t->at);
		return 1;
	}
}

static int trace_cursor_asks(void *context, uint32_t site)
{
	const struct ktr__trace_cursor *t = context;

	return ktr__filter_asks(t->c.source->filter, site, &t->c.event);
}

/*
 * Events that the filter does not let pass are passed over where they lie, if that can be told by their site, or by
 * their numbers; where n_counted is not NULL, those that it lets pass as well, each of which raises it. Does the
 * filter let the next one pass? 0 also where that is not known yet. Threads that have no end of their own end with
 * their last event, which may be one of these.
 */
static int trace_cursor_sieve(struct ktr__trace_cursor *t, uint64_t *n_counted)
{
	struct ktr__event_source *source = t->c.source;
	struct ktr__sieve sieve = { .site = source->sieve,
				    .event = &t->c.event,
				    .asks = trace_cursor_asks,
				    .context = t,
				    .counts = n_counted != NULL,
				    .by_thread = source->tables.n_vague != 0 };
	uint32_t n;

	if (t->walk.time_ns < t->limit_ns || source->n_sieve < t->walk.n_programs)
		return 0;
	t->c.event.cpu = t->head.cpu;
	do {
		n = ktr__walk_sieve(&t->walk, &sieve, source->end_ns);
		t->n_decoded += n;
		source->n_filtered += n - sieve.n_counted;
		if (n_counted)
			*n_counted += sieve.n_counted;
		if (n && sieve.by_thread)
			ktr__ends_see(ktr__trace_thread(t, sieve.word, t->walk.time_ns), t->walk.time_ns);
	} while (n && sieve.by_thread && !sieve.wanted);
	return sieve.wanted;
}

/* Events that are only to be counted are passed over, too, a run of one thread's after the other. */
static void trace_cursor_count_only(struct ktr__trace_cursor *t)
{
	struct ktr__event_source *source = t->c.source;
	struct ktr__counted counted;
	struct ktr__reader_run run = { .cpu = t->head.cpu };

	if (source->filter || t->walk.time_ns < t->limit_ns || source->n_counted < t->walk.n_programs)
		return;
	for (;;) {
		ktr__walk_count(&t->walk, source->counted, source->end_ns, source->count, &counted);
		if (!counted.n)
			return;
		t->n_decoded += counted.n;
		run.thread = ktr__trace_thread(t, counted.word, counted.first_ns);
		run.n_events = counted.n;
		run.first_ns = counted.first_ns;
		run.last_ns = counted.last_ns;
		ktr__ends_see(run.thread, run.last_ns);
		source->run(source->run_context, &run);
	}
}

/* The packet is over. */
static void trace_cursor_leave(struct ktr__trace_cursor *t)
{
	t->in_packet = 0;
	if (t->walk.time_ns > t->edge_ns)
		t->edge_ns = t->walk.time_ns;
}

static int trace_cursor_advance(struct ktr__cursor *cursor)
{
	struct ktr__trace_cursor *t = ktr__trace_of(cursor);
	struct ktr__found found;
	int rc, wanted = 0;

	for (;;) {
		rc = t->in_packet ? 1 : trace_cursor_packet(t);
		if (rc <= 0)
			return rc;
		if (t->c.source->sieve)
			wanted = trace_cursor_sieve(t, NULL);
		if (t->c.source->counted)
			trace_cursor_count_only(t);
		rc = ktr__walk_next(&t->walk, &t->c.event, &found);
		if (rc < 0)
			ktr__trace_give_up(t, rc);
		if (rc <= 0) {
			trace_cursor_leave(t);
			continue;
		}
		ktr__trace_complete(t, &t->c.event, &found);
		if (t->c.event.time_ns < t->limit_ns || (!wanted && !ktr__source_wants(t->c.source, &t->c.event)))
			continue;
		t->c.key = t->c.event.time_ns;
		return 1;
	}
}

int ktr__trace_one(struct ktr__trace_cursor *t)
{
	struct ktr__found found;
	int rc = ktr__walk_next(&t->walk, &t->c.event, &found);

	if (rc < 0)
		ktr__trace_give_up(t, rc);
	if (rc <= 0)
		trace_cursor_leave(t);
	else
		ktr__trace_complete(t, &t->c.event, &found);
	return rc > 0;
}

int ktr__trace_stand(struct ktr__trace_cursor *t)
{
	for (;;) {
		int rc = t->in_packet ? 1 : trace_cursor_packet(t);

		if (rc <= 0 || t->walk.n_left)
			return rc;
		ktr__trace_one(t);
	}
}

/*
 * A packet whose checksum is right holds as many events as its header tells, where it has the bytes for
 * them: only where the window's edge is among them they are looked at. Without all that describes them
 * some could not be decoded, and are losses then.
 */
static int trace_cursor_is_whole(const struct ktr__trace_cursor *t)
{
	const struct ktr__event_source *source = t->c.source;

	return !source->filter && !source->undecodable && t->walk.time_ns >= t->limit_ns &&
	       t->head.time_end <= source->end_ns &&
	       (uint64_t)(t->walk.end - t->walk.at) >= (uint64_t)t->walk.n_left * TRACE_EVENT_LEAST;
}

/* When the first packet of a directory begins; 0: it has none. */
static uint64_t trace_cursor_first_ns(const struct ktr__event_source *source, unsigned member)
{
	uint64_t first_ns = 0;

	for (unsigned i = 0; i < source->n_cursors; i++) {
		const struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);

		for (unsigned k = source->cursor[i]->advance == trace_cursor_advance ? t->n_parts : 0; k--;)
			if (t->part[k].member == member && t->part[k].first_ns &&
			    (!first_ns || t->part[k].first_ns < first_ns))
				first_ns = t->part[k].first_ns;
	}
	return first_ns;
}

int ktr__trace_begun(const struct ktr__event_source *source, unsigned *i, struct ktr__reader_begun *begun)
{
	for (; *i < source->n_cursors; ++*i) {
		const struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[*i]);

		if (source->cursor[*i]->advance != trace_cursor_advance || !t->n_gone)
			continue;
		++*i;
		*begun = (struct ktr__reader_begun){
			t->name, t->head.cpu, t->kind == KTR_RING_KEEP, t->n_gone, t->gone_no,
			trace_cursor_first_ns(source, t->gone_member),
		};
		if (!begun->time_ns)
			begun->time_ns = source->info.last_ns > t->edge_ns ? source->info.last_ns : t->edge_ns;
		return 1;
	}
	return 0;
}

static int trace_cursor_count(struct ktr__cursor *cursor, uint64_t *n)
{
	struct ktr__trace_cursor *t = ktr__trace_of(cursor);
	int rc;

	for (;;) {
		rc = t->in_packet ? 1 : trace_cursor_packet(t);
		if (rc <= 0)
			return rc;
		if (trace_cursor_is_whole(t)) {
			*n += t->walk.n_left;
			t->in_packet = 0;
		} else {
			if (t->c.source->sieve)
				trace_cursor_sieve(t, n);
			rc = trace_cursor_advance(cursor);
			if (rc <= 0 || cursor->key > cursor->source->end_ns)
				return rc < 0 ? rc : 0;
			++*n;
		}
		if (ktr__source_speaks(cursor->source))
			return 1;
	}
}

static int trace_cursor_seek(struct ktr__cursor *cursor, uint64_t time_ns)
{
	struct ktr__trace_cursor *t = ktr__trace_of(cursor);
	struct ktr_packet_header before;
	int64_t at;
	int rc = t->n_parts ? ktr__trace_open_part(t, ktr__trace_find_part(t, time_ns)) : 0;

	if (rc || !t->n_parts)
		return rc;
	at = ktr__packets_seek(&t->file, time_ns, &before);
	if (at < 0)
		return (int)at;
	t->in_packet = t->crossed = 0;
	t->n_begun = t->part[t->at_part].member + 1;
	t->n_untold = t->n_gone = t->gone_no = 0;
	t->next = (uint64_t)at;
	t->limit_ns = time_ns;
	t->numbered = before.magic != 0;
	t->known = t->numbered || at == 0;
	t->seq = before.seq + 1;
	t->event_no = before.first_event + before.n_events;
	t->discarded = before.discarded;
	t->edge_ns = before.time_end;
	return 0;
}

void ktr__trace_forward(struct ktr__trace_cursor *t)
{
	t->c.advance = trace_cursor_advance;
	t->c.seek = trace_cursor_seek;
	t->c.count = trace_cursor_count;
	t->known = 1;
}
