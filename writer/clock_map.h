/* SPDX-License-Identifier: BSD-2-Clause */
/* The map from ticks to nanoseconds that a trace is written with. */
#ifndef WRITER_CLOCK_MAP_H
#define WRITER_CLOCK_MAP_H

#include "ktr/session/session_map.h"

#include <ktr/trace_file.h>

struct ktr__clock_map {
	struct ktr_trace_clock clock;
	int64_t utc_offset_ns; /* UTC = CLOCK_MONOTONIC + this */
	uint64_t apart_ns;     /* between the two moments the map was made from; 0: one moment only */
	int64_t frame_ns;      /* what to add to our CLOCK_MONOTONIC to have the session's: clock_shift.h */
	int ticking;	       /* 1: the session's clock can be read here and now */
};

/*
 * Makes the map from the session's first anchor and the latest moment known: now, where the
 * session is of this boot, else its last anchor. Always gives a map that can be used; 0 or -errno
 * of reading. The map is all zero, or what was made before: where the host has another root by now, nobody tells
 * the boot any more.
 */
int ktr__clock_map_make(const struct ktr__session_map *map, struct ktr__clock_map *clock_map);

/*
 * The map through two anchors; the same one twice: at ticks_per_s, 0 meaning one tick per
 * nanosecond.
 */
struct ktr_trace_clock ktr__clock_map_through(const struct ktr_anchor *a, const struct ktr_anchor *b,
				       uint64_t ticks_per_s);

#endif
