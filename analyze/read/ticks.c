/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the map from ticks to nanoseconds for a session that no trace was made of: a trace has
 * its map stored in it.
 *
 * Two readings of both clocks that are 100 ms apart give the rate to about one part in a million
 * (each is off by some 50 ns at worst), which is better than the nominal rate; later is better
 * still.
 */
#include "analyze/read/ticks.h"

#include "ktr/session/clock.h"
#include "ktr/session/kernel.h"
#include "writer/format/clock_shift.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define TICKS_APART_NS 100000000ull
#define TICKS_NAP_NS 3000000

/* What can be read here. */
#if defined(__x86_64__)
#define TICKS_CLOCK KTR_CLOCK_TSC
#elif defined(__aarch64__)
#define TICKS_CLOCK KTR_CLOCK_CNTVCT
#else
#define TICKS_CLOCK 0u
#endif

/* How fast the clock ticks, roughly. */
static uint64_t ticks_rate(void)
{
	const struct timespec nap = { 0, TICKS_NAP_NS };
	struct ktr_anchor a = { 0 }, b = { 0 };

	ktr__clock_anchor(TICKS_CLOCK, &a);
	nanosleep(&nap, NULL);
	ktr__clock_anchor(TICKS_CLOCK, &b);
	return b.mono_ns > a.mono_ns ? (b.ticks - a.ticks) * 1000000000 / (b.mono_ns - a.mono_ns) : 0;
}

static int ticks_same_boot(const struct ktr_header *header)
{
	uint64_t id[2];

	ktr__kernel_boot_id(id);
	return (id[0] | id[1]) && id[0] == header->boot_id[0] && id[1] == header->boot_id[1];
}

/* The map through two moments: ticks below 2^62, ns(a) exact. -EINVAL unless b is later than a on both clocks. */
static int ticks_between(const struct ktr_anchor *a, const struct ktr_anchor *b, struct ktr_trace_clock *clock)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t ticks = b->ticks - a->ticks, ns = b->mono_ns - a->mono_ns;

	if (b->ticks <= a->ticks || b->mono_ns <= a->mono_ns)
		return -EINVAL;
	/* As much of a fraction as fits: products of 62 and 63 bits stay below 2^128. */
	for (unsigned shift = 62;; shift--) {
		wide mult = ((wide)ns << shift) / ticks;

		if (mult < 1ull << 62) {
			*clock = (struct ktr_trace_clock){ a->ticks, a->mono_ns, (uint64_t)mult,
							   shift, 0 };
			return mult ? 0 : -EINVAL;
		}
		if (!shift)
			return -EINVAL;
	}
}

/* The last anchor that is far enough from the first one. 1 when there is one. */
static int ticks_last(const struct ktr__session_map *map, uint32_t n,
		      const struct ktr_anchor *first, struct ktr_anchor *last)
{
	while (n-- > 1)
		if (ktr__map_anchor(map, n, last) == 0 && last->mono_ns > first->mono_ns &&
		    last->mono_ns - first->mono_ns >= TICKS_APART_NS)
			return 1;
	return 0;
}

int ktr__ticks_map(const struct ktr__session_map *map, const struct ktr_control *control,
		   struct ktr_trace_clock *clock, int64_t *utc_offset_ns)
{
	const struct ktr_header *header = &map->header;
	uint32_t n = ktr__map_n_rows(map, control, KTR_REGION_anchor);
	struct ktr_anchor first, last;
	int rc = ktr__map_anchor(map, 0, &first);

	*clock = (struct ktr_trace_clock){ 0, 0, 1, 0, 0 };
	*utc_offset_ns = 0;
	if (rc && rc != -ENOENT && rc != -ERANGE)
		return rc;
	if (rc)
		memset(&first, 0, sizeof(first));
	else
		*utc_offset_ns = (int64_t)(first.utc_ns - first.mono_ns);
	if (header->clock == KTR_CLOCK_MONOTONIC)
		return KTR__TICKS_NS;
	if (!rc && ticks_last(map, n, &first, &last) && !ticks_between(&first, &last, clock))
		return KTR__TICKS_ANCHORS;
	if (!rc && header->clock == TICKS_CLOCK && ticks_same_boot(header)) {
		/* Without a nominal rate a young session's own is the best there is. */
		ktr__clock_anchor(TICKS_CLOCK, &last);
		if (ktr__clock_differs(&first, &last))
			last.mono_ns += (uint64_t)ktr__clock_shift(
				&first, &last, header->ticks_per_s ? header->ticks_per_s : ticks_rate());
		if ((last.mono_ns - first.mono_ns >= TICKS_APART_NS || !header->ticks_per_s) &&
		    !ticks_between(&first, &last, clock))
			return KTR__TICKS_ANCHORS;
	}
	last = first;
	last.ticks += header->ticks_per_s;
	last.mono_ns += 1000000000u;
	if (header->ticks_per_s && !ticks_between(&first, &last, clock))
		return KTR__TICKS_NOMINAL;
	return KTR__TICKS_UNKNOWN;
}
