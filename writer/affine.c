/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One affine map per trace, fixed before its first packet: a map refitted on the way makes time go
 * backwards. The further apart its two moments, the better: reading a pair of clocks is good to
 * some 30 ns, which over 100 ms is 0.3 ppm.
 */
#include "writer/affine.h"

#include "ktr/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* mult is kept in [2^61, 2^62) where shift allows: as precise as 63 bits can be. */
#define AFFINE_MULT_BITS 62

struct ktr_trace_clock ktr__affine_map(const struct ktr_anchor *a, const struct ktr_anchor *b,
				       uint64_t ticks_per_s)
{
	struct ktr_trace_clock clock = { a->ticks, a->mono_ns, 1, 0, 0 };
	uint64_t ns = 1000000000, ticks = ticks_per_s;

	if (b->ticks > a->ticks && b->mono_ns > a->mono_ns) {
		ns = b->mono_ns - a->mono_ns;
		ticks = b->ticks - a->ticks;
	}
	if (!ticks || ns == ticks)
		return clock;
	for (uint32_t shift = 63; shift > 0; shift--) {
		__extension__ unsigned __int128 mult = ((unsigned __int128)ns << shift) / ticks;

		if (mult >> AFFINE_MULT_BITS)
			continue;
		clock.mult = (uint64_t)mult;
		clock.shift = shift;
		break;
	}
	return clock;
}

static int affine_same_boot(const struct ktr_header *header)
{
	static const char digits[] = "0123456789abcdef";
	char text[64] = "";
	uint64_t id[2] = { 0, 0 };
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	unsigned n = 0;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	for (const char *p = text; *p && n < 32; p++) {
		const char *digit = strchr(digits, *p);

		if (!digit)
			continue;
		id[n / 16] = id[n / 16] << 4 | (uint64_t)(digit - digits);
		n++;
	}
	return n == 32 && memcmp(id, header->boot_id, sizeof(id)) == 0;
}

/* The first and the last anchor of the session's table. */
static int affine_anchors(const struct ktr__session_map *map, struct ktr_anchor *first,
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

int ktr__affine_make(const struct ktr__session_map *map, struct ktr__affine *affine)
{
	struct ktr_anchor first = { 0 }, last = { 0 };
	int rc = affine_anchors(map, &first, &last);

	memset(affine, 0, sizeof(*affine));
	affine->ticking = affine_same_boot(&map->header);
	if (affine->ticking) {
		ktr__clock_anchor(map->header.clock, &last);
		if (!first.mono_ns)
			first = last;
	}
	if (map->header.clock == KTR_CLOCK_MONOTONIC)
		affine->clock = (struct ktr_trace_clock){ 0, 0, 1, 0, 0 };
	else
		affine->clock = ktr__affine_map(&first, &last, map->header.ticks_per_s);
	if (last.mono_ns > first.mono_ns)
		affine->apart_ns = last.mono_ns - first.mono_ns;
	affine->utc_offset_ns = (int64_t)(last.utc_ns - last.mono_ns);
	return rc;
}
