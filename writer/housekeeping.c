/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a drain looks at about once a second: free space and size, whether somebody has removed the trace, events
 * that the recorder dropped, names and ends of threads, the clocks; who has ended without telling, more often. Of
 * an idle session nothing is read.
 */
#include "writer/housekeeping.h"

#include "ktr/session/clock.h"
#include "ktr/session/drop.h"
#include "writer/ended.h"
#include "writer/format/sidecar_lines.h"

#include <inttypes.h>
#include <limits.h>

#define UPKEEP_NS        1000000000ull
#define UPKEEP_BYTES     (64ull << 20) /* space is looked at after so many, too */
#define UPKEEP_FREE_STOP 50            /* [1/1000] of the file system: writing stops below */
#define UPKEEP_DROPPED   (1ull << 40)  /* [events] nobody drops so many in a second: the word was not counted up */
#define UPKEEP_FREE_GO   60 /* and goes on from here; apart, so that it does not come and go */

/* Enough room on the disk, and below the limit of size? */
static void housekeeping_space(struct ktr__drain *drain)
{
	int free = drain->plan.sys->free_permille(drain->trace.dir_fd);
	uint64_t max = drain->plan.max_bytes;
	int full = free >= 0 && free < (drain->full ? UPKEEP_FREE_GO : UPKEEP_FREE_STOP);

	if (full && !drain->full)
		ktr__drain_say(
			drain,
			"%s: less than 5 %% of the disk is free; recording goes on in memory",
			drain->trace.name);
	if (max && drain->trace.bytes >= max && !drain->plan.n_keep) {
		if (!drain->full)
			ktr__drain_say(
				drain,
				"%s: has reached its size limit; what comes now stays in memory as long as the program runs",
				drain->trace.name);
		full = KTR__DRAIN_LIMIT;
	}
	if (!full && drain->full)
		ktr__drain_say(drain, "%s: writing again", drain->trace.name);
	drain->full = full;
}

void ktr__housekeeping_tell(struct ktr__drain *drain, struct ktr__emit *emit, uint32_t row,
		      const struct ktr__stream_loss *loss)
{
	const struct ktr__drain_ring *ring = &drain->ring[row];
	char name[32];

	ktr__trace_stream_name(&drain->trace, row, name, sizeof(name));
	ktr__line_write(emit, ktr__line_loss,
			&(struct ktr__line_loss){
				.stream.text = name,
				.cpu = ring->cpu,
				.keep = row / drain->trace.n_rings == KTR_RING_KEEP,
				.why.text = loss->why,
				.events = loss->events,
				.from_ns = loss->from_ns,
				.to_ns = loss->to_ns,
				.seq = ring->seq,
			},
			NULL, 1);
}

/* A line about events that went into no ring, of which there are `total` since the session began. */
static void housekeeping_tell_dropped(const struct ktr__drain *drain, struct ktr__emit *emit, unsigned why,
				uint64_t events, uint64_t total)
{
	const struct ktr__line_dropped line = {
		{ "dropped" }, { ktr__drop_name(why) }, events, total, drain->look_ns, ktr__drain_now(),
	};

	ktr__line_write(emit, ktr__line_dropped, &line, NULL, 1);
}

void ktr__housekeeping_from(const struct ktr__drain *drain, struct ktr__emit *emit)
{
	char name[NAME_MAX + 1];

	for (unsigned i = 0; i < KTR_DROPS; i++)
		if (drain->dropped[i])
			housekeeping_tell_dropped(drain, emit, i, 0, drain->dropped[i]);
	for (uint32_t i = 0; i < drain->n_rows; i++) {
		const struct ktr__drain_ring *ring = &drain->ring[i];
		uint64_t slot = ring->lost || !ring->started ? ring->lost_slot : ring->cursor.next;
		uint64_t index = ring->index - ring->lost;

		if (!slot && !drain->pace[i].dropped)
			continue;
		ktr__trace_stream_name(&drain->trace, i, name, sizeof(name));
		ktr__line_write(emit, ktr__line_from,
				&(struct ktr__line_from){ { "from" }, i, slot, index, drain->pace[i].dropped,
							  !ring->started, { name } },
				NULL, 1);
	}
}

/* Events the recorder itself could not keep. They lie somewhere before now. */
static void housekeeping_dropped(struct ktr__drain *drain, uint32_t row, uint64_t n)
{
	uint64_t frame_ns = (uint64_t)drain->clock_map.frame_ns;
	const struct ktr__stream_loss loss = { "dropped", n, drain->look_ns + frame_ns, ktr__drain_now() + frame_ns };

	drain->ring[row].discarded += n;
	drain->stats.lost += n;
	ktr__housekeeping_tell(drain, &drain->describe.side[KTR_SIDECAR_LOSSES], row, &loss);
}

/* The same where there was no ring: no packet counts them. */
static void housekeeping_unplaced(struct ktr__drain *drain)
{
	struct ktr_control control;
	uint64_t now[KTR_DROPS], n;

	if (ktr__map_control(drain->plan.map, &control))
		return;
	ktr__dropped(&control, now);
	for (unsigned i = 0; i < KTR_DROPS; i++) {
		n = now[i] - drain->dropped[i];
		if (n && n < UPKEEP_DROPPED && now[i] <= INT64_MAX) {
			housekeeping_tell_dropped(drain, &drain->describe.side[KTR_SIDECAR_INFO], i, n, now[i]);
			drain->stats.lost += n;
		}
		drain->dropped[i] = now[i];
	}
}

void ktr__housekeeping_dropped(struct ktr__drain *drain)
{
	struct ktr_ring ring;

	housekeeping_unplaced(drain);
	for (uint32_t i = 0; i < drain->n_rows; i++) {
		uint64_t n;

		if (ktr__map_ring(drain->plan.map, i, &ring))
			continue;
		n = ring.dropped - drain->pace[i].dropped;
		if (n && n < UPKEEP_DROPPED)
			housekeeping_dropped(drain, i, n);
		drain->pace[i].dropped = ring.dropped;
	}
}

/* Where the clocks are now: nobody needs it to read the trace, but it tells how they drift. */
void ktr__housekeeping_anchor(struct ktr__drain *drain)
{
	struct ktr_anchor anchor = { 0 };

	if (!drain->clock_map.ticking)
		return;
	ktr__clock_anchor(drain->plan.map->header.clock, &anchor);
	anchor.mono_ns += (uint64_t)drain->clock_map.frame_ns;
	ktr__describe_anchor(&drain->describe, &anchor);
}

/*
 * Somebody has removed the trace, or a file of it: another is begun. What lay in the files is gone, and
 * nobody can tell whether it was wanted, so that it counts as written; the new trace tells where it begins.
 */
static void housekeeping_gone(struct ktr__drain *drain)
{
	uint64_t events = drain->stats.events - drain->begun_events;

	ktr__drain_say(drain, "%s: was removed, or a file of it, with up to %" PRIu64 " events; beginning another",
		       drain->trace.name, events);
	ktr__trace_close(&drain->trace);
	drain->begun = 0;
	drain->partial = 1;
}

/*
 * Somebody has moved it: it is gone on with where it is, as who writes logs does, until it is rotated; the next one
 * gets the name.
 */
static void housekeeping_moved(struct ktr__drain *drain)
{
	char path[PATH_MAX];

	ktr__trace_where(&drain->trace, path, sizeof(path));
	ktr__drain_say(drain, "%s: was moved%s%s; it goes on there until it is rotated (debug.ktr.alq_rotate=1)",
		       drain->trace.name, path[0] ? " to " : "", path);
}

void ktr__housekeeping_place(struct ktr__drain *drain, uint64_t now)
{
	int moved;

	if (!drain->trace.published || (!drain->all && now - drain->place_ns < UPKEEP_NS))
		return;
	drain->place_ns = now;
	if (ktr__trace_gone(&drain->trace)) {
		housekeeping_gone(drain);
		return;
	}
	moved = ktr__trace_is_named(&drain->trace) == 0;
	if (moved && !drain->moved)
		housekeeping_moved(drain);
	drain->moved = moved;
}

/* What changes slowly. Nothing is read of the session while it is idle. */
void ktr__housekeeping(struct ktr__drain *drain, uint64_t now)
{
	ktr__ended_look(drain, now, false);
	if (drain->trace.bytes - drain->look_bytes >= UPKEEP_BYTES || drain->full == 1 ||
	    now - drain->look_ns >= UPKEEP_NS) {
		housekeeping_space(drain);
		drain->look_bytes = drain->trace.bytes;
	}
	if (now - drain->look_ns < UPKEEP_NS)
		return;
	if (drain->stats.events != drain->look_events) {
		ktr__housekeeping_dropped(drain);
		ktr__describe_all(&drain->describe);
		ktr__housekeeping_anchor(drain);
		drain->look_events = drain->stats.events;
	}
	drain->look_ns = now;
}
