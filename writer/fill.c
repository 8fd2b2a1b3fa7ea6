/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One ring's entries into one stream's packets.
 *
 * A buffer takes packets until it has no room for the worst a batch could need; then, or when the
 * ring has no more, it is written as one. A packet ends where events are missing, so that the loss
 * stands between packets, and on the thread path where the CPU changes.
 *
 * It also ends with the page of the file that it lies in (stream.h tells why): it is padded up to there when the
 * next event does not fit, or what would be left has hardly room for another packet. Where a packet begins in the
 * middle of a page and its first event does not fit, an empty one fills the page.
 *
 * Order of writing: descriptions the events need, packets, lines about losses. The ring's state is
 * copied at the beginning and put back when one of the first two fails.
 */
#include "writer/fill.h"

#include "ktr/session/clock.h"
#include "writer/drain.h"
#include "writer/format/packet.h"
#include "writer/housekeeping.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * [bytes] Free at the beginning of a batch: one of all different CPUs has a header per event, and ends of pages
 * that are too short for it. A page of such packets still has 20 slots: fewer only if the next event, which is too
 * long for what is left, has more. The first page and the last come in addition.
 */
#define FILL_BATCH_BYTES                                                                         \
	(KTR_FILL_ENTRIES * (KTR_PACK_SLOT_MAX + KTR_PACKET_OLD_EVENTS) + 2 * KTR_TRACE_PAGE)

/* [bytes] No packet is begun where less is left of a page after its header: less than two small events. */
#define FILL_LEAST 32u

_Static_assert(FILL_BATCH_BYTES + KTR_PACK_SLACK < KTR_FILL_BYTES, "a batch fits into the buffer");
_Static_assert(KTR_PACKET_OLD_EVENTS + KTR_PACK_EVENT_MAX <= KTR_TRACE_PAGE, "every event fits into a page");

/*
 * How often a buffer is filled anew: each time may be as disturbed as the one before. Then the next round is a
 * better moment, but where all is to be written now: what was left behind is lost then, although it may be there.
 */
#define FILL_AGAIN 64

/* Once per packet or less: kept small. */
#define FILL_COLD __attribute__((noinline, cold))

struct fill {
	struct ktr__drain *drain;
	struct ktr__drain_ring *ring;
	uint32_t row;
	uint32_t open; /* 1: a packet is being filled */
	uint32_t used; /* [bytes] of finished packets */
	uint32_t page; /* [bytes] where in a page of the file the buffer begins */
	uint32_t n_header; /* [bytes] before a packet's events */
	uint32_t n_packets;
	uint64_t n_events; /* in finished packets */
	uint64_t n_lost;
	uint64_t n_slots; /* taken out of the ring */
	uint64_t first_slot;
	uint64_t next_slot; /* after the last batch */
	uint64_t lapped_at; /* [slots] where reading went on when it was last overtaken; 0: it was not */
	struct ktr__pack pack;
};

/* A line about events that are missing before the packet `seq`. */
static FILL_COLD void fill_tell(struct fill *fill, uint64_t to_ns)
{
	const struct ktr__drain_ring *ring = fill->ring;
	const struct ktr__stream_loss loss = { "overwritten", ring->lost, ring->lost_ns, to_ns };

	ktr__housekeeping_tell(fill->drain, &fill->drain->losses, fill->row, &loss);
	fill->ring->lost = 0;
}

/* The end of the page in which the next packet lies. A stream that was repaired may end where no header fits. */
static uint8_t *fill_page_end(const struct fill *fill)
{
	uint32_t left = KTR_TRACE_PAGE - (fill->page + fill->used) % KTR_TRACE_PAGE;

	return fill->drain->buffer + fill->used + left + (left < fill->n_header ? KTR_TRACE_PAGE : 0);
}

/*
 * Puts the header and checksum to a packet whose content ends at `end`, and which ends before slot `next`. full:
 * nothing follows it on its page.
 */
static FILL_COLD void fill_seal(struct fill *fill, const uint8_t *end, uint64_t next, uint64_t discarded,
				int full)
{
	struct ktr__drain_ring *ring = fill->ring;
	static const uint16_t kinds[KTR_RING_KINDS] = { 0, KTR_PACKET_KEEP, KTR_PACKET_KERNEL };
	const struct ktr__pack *pack = &fill->pack;
	const uint8_t *page_end = fill_page_end(fill), *stop = end;
	uint8_t *packet = fill->drain->buffer + fill->used;
	struct ktr_packet_header head = { 0 };

	if (full || page_end - end < (ptrdiff_t)(fill->n_header + FILL_LEAST))
		stop = page_end;
	head.flags = kinds[fill->row / fill->drain->trace.n_rings % KTR_RING_KINDS] |
		     (fill->drain->trace.path == KTR_PATH_THREAD ? KTR_PACKET_THREAD : 0) |
		     fill->drain->trace.format;
	head.first_slot = fill->first_slot;
	head.next_slot = next;
	head.time_begin = pack->n_events ? pack->first_ns : ring->time_ns;
	head.time_end = pack->n_events ? pack->time_ns : ring->time_ns;
	head.seq = ring->seq++;
	head.discarded = ring->told = discarded;
	head.first_event = ring->index;
	head.n_events = pack->n_events;
	head.ring = fill->row;
	head.cpu = ring->cpu;
	ktr__packet_seal_padded(packet, (size_t)(end - packet), (size_t)(stop - packet), &head);
	fill->used += (uint32_t)(stop - packet);
	fill->n_packets++;
}

/*
 * A packet that holds nothing and tells nothing new, before slot `slot`, or before what is missing there. full: up
 * to the end of its page.
 */
static FILL_COLD void fill_blank(struct fill *fill, uint64_t slot, int full)
{
	struct ktr__drain_ring *ring = fill->ring;

	memset(&fill->pack, 0, sizeof(fill->pack));
	fill->first_slot = ring->lost ? ring->lost_slot : slot;
	ring->index -= ring->lost;
	fill_seal(fill, fill->drain->buffer + fill->used + fill->n_header, fill->first_slot, ring->told, full);
	ring->index += ring->lost;
}

/*
 * Begins a packet at a slot. Readers of CTF count what is discarded from one packet to the next:
 * where events are missing from the very beginning, an empty packet comes first.
 */
static FILL_COLD void fill_open(struct fill *fill, uint64_t slot)
{
	const struct ktr__drain *drain = fill->drain;
	struct ktr__drain_ring *ring = fill->ring;
	struct ktr__pack *pack = &fill->pack;

	if (!ring->seq && ring->discarded)
		fill_blank(fill, slot, 0);
	memset(pack, 0, sizeof(*pack));
	fill->first_slot = slot;
	pack->at = drain->buffer + fill->used + fill->n_header;
	pack->limit = fill_page_end(fill);
	pack->time_ns = ring->time_ns;
	pack->clock = drain->clock_map.clock;
	pack->programs = drain->describe.programs;
	pack->literals = drain->describe.literals;
	pack->n_programs = drain->describe.n_programs;
	pack->words = drain->describe.words;
	pack->n_words = drain->describe.n_words;
	if (drain->trace.path == KTR_PATH_THREAD)
		pack->cpu_mask = ~KTR_THREAD_INDEX;
	fill->open = 1;
}

/*
 * Finishes the packet, which ends before slot `next`; an empty one only if it has losses to tell
 * of.
 */
static FILL_COLD void fill_close(struct fill *fill, uint64_t next, int full)
{
	struct ktr__drain_ring *ring = fill->ring;
	const struct ktr__pack *pack = &fill->pack;

	fill->open = 0;
	if (!pack->n_events && ring->discarded == ring->told)
		return;
	if (ring->lost)
		fill_tell(fill, pack->n_events ? pack->first_ns : ring->time_ns);
	fill_seal(fill, pack->at, next, ring->discarded, full);
	fill->n_events += pack->n_events;
	ring->index += pack->n_events;
	ring->time_ns = pack->time_ns;
}

/* The event at slot `next` goes to the next page. */
static FILL_COLD void fill_turn(struct fill *fill, uint64_t next)
{
	if (fill->pack.n_events)
		fill_close(fill, next, 1);
	else
		fill_blank(fill, next, 1);
	fill->open = 0;
}

/*
 * The codec met a site or thread it does not know: looks for its row, and if there is none, goes
 * on.
 */
static FILL_COLD void fill_unknown(struct fill *fill, const struct ktr_entry *entry)
{
	struct ktr__describe *describe = &fill->drain->describe;
	uint32_t thread = entry->thread & KTR_THREAD_INDEX;

	ktr__describe_new(describe);
	ktr__describe_event(describe, entry->site, thread);
	if (entry->site >= describe->n_programs || !describe->programs[entry->site].ready ||
	    thread >= describe->n_words || (thread && !describe->words[thread]))
		fill->pack.take_unknown = 1;
}

static void fill_batch(struct fill *fill, const struct ktr__ring_batch *batch)
{
	const struct ktr__drain *drain = fill->drain;
	uint64_t now = KTR_TIME_TICKS;
	uint32_t at = 0;

	if (drain->clock_map.ticking)
		now = ktr__clock_now(drain->plan.map->header.clock);
	while (at < batch->n) {
		if (!fill->open) {
			if (drain->trace.path == KTR_PATH_THREAD)
				fill->ring->cpu = batch->entry[at].thread >> KTR_THREAD_BITS;
			fill_open(fill, batch->first + at);
		}
		fill->pack.limit_ticks = now;
		fill->pack.ahead = batch->ahead ? batch->ahead + at : NULL;
		at += ktr__pack_run(&fill->pack, batch->entry + at, batch->n - at);
		if (fill->pack.why == KTR_PACK_UNKNOWN)
			fill_unknown(fill, batch->entry + at);
		else if (fill->pack.why == KTR_PACK_FULL)
			fill_turn(fill, batch->first + at);
		else if (fill->pack.why != KTR_PACK_DONE)
			fill_close(fill, batch->first + at, 0);
	}
	fill->next_slot = batch->first + batch->n;
	fill->n_slots += batch->n;
}

/*
 * Where the ring's events are counted from: at the first batch of a drain that came late. What had been
 * recorded by the time it came and is not in the batch is none of its business; what has been since is
 * lost: returns how much.
 */
static FILL_COLD uint64_t fill_start(struct ktr__drain_ring *ring, const struct ktr__ring_batch *batch)
{
	uint64_t firsts = 0, index, lost = 0;

	if (!ring->cursor.known)
		return 0;
	for (uint32_t i = 0; i < batch->n; i++)
		firsts += !ktr__slot_is_cont(&batch->entry[i]);
	index = ring->cursor.next - ring->cursor.conts - firsts;
	if (ring->index && index > ring->index)
		lost = index - ring->index;
	ring->index = index - lost;
	ring->started = 1;
	return lost;
}

/* Events are missing before the batch; the cursor stood at slot `from`. */
static FILL_COLD void fill_gap(struct fill *fill, const struct ktr__ring_batch *batch,
			       uint64_t from)
{
	struct ktr__drain_ring *ring = fill->ring;

	if (fill->open)
		fill_close(fill, fill->next_slot, 0);
	if (!ring->lost) {
		ring->lost_ns = ring->seq ? ring->time_ns : 0;
		ring->lost_slot = from;
	}
	ring->lost += batch->lost;
	fill->n_lost += batch->lost;
	ring->discarded += batch->lost;
	ring->index += batch->lost + batch->cleared;
}

/* Writes the buffer. 0 or -errno. */
static FILL_COLD int fill_write(struct fill *fill)
{
	struct ktr__drain *drain = fill->drain;
	struct ktr__file *file;
	int rc = ktr__describe_flush(&drain->describe, &drain->trace);

	if (!rc)
		rc = ktr__trace_stream(&drain->trace, fill->row, &file);
	if (!rc)
		rc = ktr__trace_append(&drain->trace, file, drain->buffer, fill->used);
	if (rc)
		return rc;
	ktr__emit_bytes(&drain->describe.side[KTR_SIDECAR_LOSSES], drain->losses.text,
			drain->losses.n);
	drain->stats.events += fill->n_events;
	drain->stats.packets += fill->n_packets;
	drain->stats.lost += fill->n_lost;
	drain->stats.bytes = drain->trace.bytes;
	return 0;
}

/* Takes batches until the buffer is full: 1, or the ring has no more, or cannot be read: 0. */
static int fill_take(struct fill *fill, uint64_t stop)
{
	struct ktr__drain *drain = fill->drain;
	const uint32_t max = drain->source.base ? KTR_FILL_NEAR : KTR_FILL_ENTRIES;
	struct ktr__ring_batch batch;
	uint64_t from;
	int rc;

	for (;;) {
		const uint8_t *end = fill->open ? fill->pack.at : drain->buffer + fill->used;

		if (end + FILL_BATCH_BYTES + KTR_PACK_SLACK > drain->buffer + KTR_FILL_BYTES)
			return 1;
		from = fill->ring->cursor.next;
		rc = ktr__ring_read(&drain->source, &fill->ring->cursor, stop, drain->entries, max, &batch);
		if (rc == -EAGAIN || rc == 0)
			return 0; /* the next round is a better moment */
		if (rc < 0) {
			drain->pace[fill->row].broken = 1;
			return 0;
		}
		if (!fill->ring->started) {
			from = fill->ring->lost_slot;
			batch.lost += fill_start(fill->ring, &batch);
		}
		if (batch.lost)
			fill->lapped_at = batch.edge;
		if (batch.lost || batch.cleared)
			fill_gap(fill, &batch, from);
		fill_batch(fill, &batch);
	}
}

/*
 * A drain that is overtaken, and goes on at the ring's oldest edge, is overtaken at once again: the producer
 * tears off the beginning of each batch, and there is a gap before each. So it leaps over as many slots as
 * the producer was faster by the last time; ktr__ring_read() leaves some behind, too, when it was disturbed often.
 * That is no loss of its own: a buffer that was leapt for is written only when all that was leapt over has been
 * overwritten, else it is filled anew without. Whoever is killed then leaves nothing behind that is nowhere.
 */
static int fill_leapt_too_far(const struct fill *fill)
{
	uint64_t geom, head = ktr__ring_head(&fill->drain->source, fill->row, &geom);

	return fill->lapped_at && head + KTR_SLOTS_MAX < fill->lapped_at + (1ull << KTR_GEOM_LOG2(geom));
}

/* How far to leap the next time, the head having been there at first. */
static uint32_t fill_leap(const struct fill *fill, uint64_t head)
{
	uint64_t came = ktr__ring_head(&fill->drain->source, fill->row, NULL) - head;

	if (!fill->lapped_at || came <= fill->n_slots)
		return 0;
	return came - fill->n_slots < UINT32_MAX ? (uint32_t)(came - fill->n_slots) : UINT32_MAX;
}

/* Fills the buffer. 1 when there is more, 0 when there is not. */
static int fill_buffer(struct fill *fill, uint64_t stop, int final)
{
	int more = fill_take(fill, stop);

	if (!fill->open && final && fill->ring->discarded != fill->ring->told)
		fill_open(fill, fill->ring->cursor.next);
	if (fill->open)
		fill_close(fill, fill->ring->cursor.next, 0);
	return more;
}

/* As if nothing had been read. */
static void fill_put_back(struct fill *fill, const struct fill *empty, const struct ktr__drain_ring *saved)
{
	*fill->ring = *saved;
	fill->drain->losses.n = 0;
	*fill = *empty;
}

int ktr__fill_ring(struct ktr__drain *drain, uint32_t row, uint64_t stop, int final)
{
	const struct ktr__drain_ring saved = drain->ring[row];
	const struct fill empty = { .drain = drain,
				    .ring = &drain->ring[row],
				    .row = row,
				    .n_header = ktr__packet_events(drain->trace.format),
				    .page = (uint32_t)(drain->trace.stream[row].bytes % KTR_TRACE_PAGE) };
	struct ktr__drain_pace *pace = &drain->pace[row];
	struct fill fill = empty;
	uint64_t head = ktr__ring_head(&drain->source, row, NULL);
	int rc, more;

	drain->source.leap = drain->all ? 0 : pace->leap;
	more = fill_buffer(&fill, stop, final);
	for (int i = 0; fill_leapt_too_far(&fill) && (i < FILL_AGAIN || !drain->all); i++) {
		int later = !drain->all && (!fill.used || i == FILL_AGAIN);

		fill_put_back(&fill, &empty, &saved);
		drain->source.leap = pace->leap = 0;
		if (later)
			return 0;
		more = fill_buffer(&fill, stop, final);
	}
	rc = fill.used ? fill_write(&fill) : 0;
	pace->leap = fill_leap(&fill, head);
	drain->losses.n = 0;
	if (!rc && !fill.used)
		drain->stats.lost += fill.n_lost;
	if (rc) {
		drain->ring[row] = saved;
		return rc;
	}
	return more;
}
