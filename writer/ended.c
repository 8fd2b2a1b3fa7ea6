/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a drain knows of ends: /proc tells who is gone (lives.c), the rings when that one was last heard of.
 *
 * The rings still hold what a process recorded since it was last seen alive, or most of it. They are read backwards
 * from their heads down to that moment, when somebody has been found gone and at no other time.
 */
#include "writer/ended.h"

#include "writer/drain.h"
#include "writer/fill.h"

#define ENDED_SLOTS (1u << 17) /* [slots] of a ring that are read at most: 8 MiB */

static void ended_see(struct ktr__life *life, uint64_t ns)
{
	if (life->is_new && life->gone_ns && ns > life->alive_ns && ns < life->gone_ns)
		life->alive_ns = ns;
}

/* The thread of an entry was alive then, and so was its process. */
static void ended_entry(struct ktr__lives *lives, uint32_t row, uint64_t ns)
{
	if (!row || row >= lives->end_threads)
		return;
	ended_see(&lives->thread[row], ns);
	ended_see(&lives->proc[lives->thread[row].proc], ns);
}

/*
 * The slots [from, to) of a ring. False: there is nothing before them that matters. What is missing is not counted:
 * the cursor says that no continuations are to be looked for, which else were, from each batch up to the head.
 */
static bool ended_batch(struct ktr__drain *drain, uint32_t row, uint64_t from, uint64_t to, uint64_t since_ns)
{
	struct ktr__ring_cursor cursor = { row, 1, from, 0, UINT64_MAX, 0 };
	struct ktr__ring_batch batch;
	bool more = true;

	/* A batch may be shorter than what it was asked for. */
	while (ktr__ring_read(&drain->source, &cursor, to, drain->entries, KTR_FILL_ENTRIES, &batch) > 0) {
		more &= batch.first <= from + KTR_SLOTS_MAX;
		for (uint32_t i = batch.n; i-- > 0;) {
			const struct ktr_entry *entry = &batch.entry[i];
			uint64_t ns;

			if (ktr__slot_is_cont(entry))
				continue;
			ns = ktr__lives_ns(&drain->clock_map.clock, entry->timestamp & KTR_TIME_TICKS);
			if (ns < since_ns) {
				more = false;
				break;
			}
			ended_entry(&drain->describe.watched, entry->thread & KTR_THREAD_INDEX, ns);
		}
		from = cursor.next;
	}
	return more;
}

static void ended_ring(struct ktr__drain *drain, uint32_t row, uint64_t since_ns)
{
	uint64_t geom, head = ktr__ring_head(&drain->source, row, &geom), to = head, from;
	bool more = geom != 0 && !drain->pace[row].broken;

	drain->source.leap = 0;
	drain->source.held = drain->pace[row].held;
	drain->source.held_base = drain->pace[row].held_base;
	while (more && to && head - to < ENDED_SLOTS) {
		from = to > KTR_FILL_ENTRIES ? to - KTR_FILL_ENTRIES : 0;
		more = ended_batch(drain, row, from, to, since_ns);
		to = from;
	}
	drain->source.held = 0;
}

void ktr__ended_look(struct ktr__drain *drain, uint64_t now, bool last)
{
	struct ktr__lives *lives = &drain->describe.watched;
	uint64_t since_ns;

	if (!last && now < lives->next_ns)
		return;
	lives->clock = drain->clock_map.clock;
	lives->frame_ns = drain->clock_map.frame_ns;
	ktr__describe_new(&drain->describe);
	since_ns = ktr__lives_look(lives, now, last);
	for (uint32_t i = 0; since_ns && i < drain->n_rows; i++)
		ended_ring(drain, i, since_ns);
	ktr__describe_lives(&drain->describe);
}
