/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session's ticks as nanoseconds.
 */
#ifndef ANALYZE_TICKS_H
#define ANALYZE_TICKS_H

#include "ktr/session/session_map.h"

#include <ktr/trace_file.h>

/* How good the map is. */
enum ktr__ticks_from {
	KTR__TICKS_NS,      /* ticks are nanoseconds */
	KTR__TICKS_ANCHORS, /* two moments on both clocks, far enough apart */
	KTR__TICKS_NOMINAL, /* only the rate that the CPU claims */
	KTR__TICKS_UNKNOWN  /* nothing: a tick is taken for a nanosecond */
};

/*
 * Finds the affine map through the session's first anchor and the last other one, or the present
 * moment where the session belongs to this boot of this machine and its clock can be read here.
 * Fills *clock and
 * *utc_offset_ns. Returns an enum ktr__ticks_from, or -errno when the session cannot be read.
 */
int ktr__ticks_map(const struct ktr__session_map *map, const struct ktr_control *control,
		   struct ktr_trace_clock *clock, int64_t *utc_offset_ns);

#endif
