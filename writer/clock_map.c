/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One clock_map map per trace, fixed before its first packet: a map refitted on the way makes time go
 * backwards. The further apart its two moments, the better: reading a pair of clocks is good to
 * some 30 ns, which over 100 ms is 0.3 ppm.
 */
#include "writer/clock_map.h"

#include "ktr/session/clock.h"
#include "writer/format/clock_shift.h"

#include <string.h>
#include <time.h>

/* mult is kept below 2^62, and as large as that and shift < 64 allow: as precise as 63 bits can be. */
#define AFFINE_NAP_NS 3000000
#define AFFINE_MULT_BITS 62

struct ktr_trace_clock ktr__clock_map_through(const struct ktr_anchor *a, const struct ktr_anchor *b,
				       uint64_t ticks_per_s)
{
	struct ktr_trace_clock clock = { a->ticks, a->mono_ns, 1, 0, 0 };
	uint64_t ns = 1000000000, ticks = ticks_per_s, rest;

	if (b->ticks > a->ticks && b->mono_ns > a->mono_ns) {
		ns = b->mono_ns - a->mono_ns;
		ticks = b->ticks - a->ticks;
	}
	if (!ticks || ns == ticks)
		return clock;
	/* Long division: mult is ns / ticks with as many binary places as there is room for. */
	clock.mult = ns / ticks;
	rest = ns % ticks;
	while (clock.shift < 63 && !(clock.mult >> (AFFINE_MULT_BITS - 1))) {
		uint64_t left = ticks - rest; /* rest < ticks, so 2 * rest >= ticks says it without overflow */

		clock.shift++;
		clock.mult <<= 1;
		if (rest >= left) {
			clock.mult |= 1;
			rest -= left;
		} else {
			rest += rest;
		}
	}
	return clock;
}

static int clock_map_same_boot(const struct ktr_header *header)
{
	uint64_t id[2];

	ktr__kernel_boot_id(id);
	return (id[0] | id[1]) && memcmp(id, header->boot_id, sizeof(id)) == 0;
}

/* The first and the last anchor of the session's table. */
static int clock_map_anchors(const struct ktr__session_map *map, struct ktr_anchor *first,
			  struct ktr_anchor *last)
{
	struct ktr_control control;
	struct ktr_anchor anchor;
	int rc = ktr__map_control(map, &control);
	uint32_t n = rc ? 0 : ktr__map_n_rows(map, &control, KTR_REGION_anchor);

	for (uint32_t i = 0; i < n; i++) {
		if (ktr__map_anchor(map, i, &anchor))
			continue;
		if (!first->mono_ns || anchor.ticks < first->ticks)
			*first = anchor;
		if (!last->mono_ns || anchor.ticks > last->ticks)
			*last = anchor;
	}
	return rc;
}

/* How fast the clock ticks, roughly, where nobody says: one percent will do. */
static uint64_t clock_map_rate(uint32_t clock)
{
	const struct timespec nap = { 0, AFFINE_NAP_NS };
	struct ktr_anchor a = { 0 }, b = { 0 };

	ktr__clock_anchor(clock, &a);
	nanosleep(&nap, NULL);
	ktr__clock_anchor(clock, &b);
	return b.mono_ns > a.mono_ns ? (b.ticks - a.ticks) * 1000000000 / (b.mono_ns - a.mono_ns) : 0;
}

/* The present moment, as the session's first anchor would have it. */
static void clock_map_now(const struct ktr_header *header, const struct ktr_anchor *first,
			  struct ktr__clock_map *clock_map,
		       struct ktr_anchor *now)
{
	uint64_t rate = header->ticks_per_s;

	ktr__clock_anchor(header->clock, now);
	if (header->clock == KTR_CLOCK_MONOTONIC || !ktr__clock_differs(first, now))
		return;
	clock_map->frame_ns = ktr__clock_shift(first, now, rate ? rate : clock_map_rate(header->clock));
	now->mono_ns += (uint64_t)clock_map->frame_ns;
}

int ktr__clock_map_make(const struct ktr__session_map *map, struct ktr__clock_map *clock_map)
{
	struct ktr_anchor first = { 0 }, last = { 0 };
	int rc = clock_map_anchors(map, &first, &last), ticking = clock_map->ticking ||
		clock_map_same_boot(&map->header);

	memset(clock_map, 0, sizeof(*clock_map));
	clock_map->ticking = ticking;
	if (clock_map->ticking) {
		clock_map_now(&map->header, &first, clock_map, &last);
		if (!first.mono_ns)
			first = last;
	}
	/* No trace begins before its session: what was lost before the first event was not lost since the boot. */
	if (map->header.clock == KTR_CLOCK_MONOTONIC)
		clock_map->clock = (struct ktr_trace_clock){ first.mono_ns, first.mono_ns, 1, 0, 0 };
	else
		clock_map->clock = ktr__clock_map_through(&first, &last, map->header.ticks_per_s);
	if (last.mono_ns > first.mono_ns)
		clock_map->apart_ns = last.mono_ns - first.mono_ns;
	clock_map->utc_offset_ns = (int64_t)(last.utc_ns - last.mono_ns);
	return rc;
}
