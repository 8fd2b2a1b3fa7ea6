/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that programs map (mmap(2) and its like), by the events of the provider heap: what each place has mapped.
 * Ranges are whole pages; one that is mapped anew by MAP_FIXED is that place's, and parts may be given back alone.
 */
#ifndef ANALYZE_HEAP_MAPPED_H
#define ANALYZE_HEAP_MAPPED_H

#include "analyze/heap/heap_events.h"
#include "analyze/heap/heap_sum.h"

struct ktr__mapped {
	struct ktr__keyed places; /* struct ktr__heap_place: got and live, in ranges and bytes */
	struct ktr__keyed processes, threads;
	struct ktr__heap_sum got, live; /* live: at the end, of processes that have ended at theirs */
	struct ktr__heap_sum now;	/* of those that have not ended yet */
	struct ktr__heap_sum peak;
	uint64_t peak_ns;
	uint64_t n_failed;
	uint64_t n_ranges; /* that there ever were */
	uint64_t unknown_bytes; /* given back, and not seen mapped */
};

/* Takes in an event of MAPPED, UNMAPS, REMAPS or MAP_FAILED. 0 or -ENOMEM. */
int ktr__mapped_take(struct ktr__mapped *mapped, const struct ktr__heap_event *e);

/* A process, by its row, has ended: what it had is no part of what is mapped any more. */
void ktr__mapped_ended(struct ktr__mapped *mapped, uint32_t proc);
void ktr__mapped_free(struct ktr__mapped *mapped);

/* [bytes] What a process, by its row, has mapped now. */
double ktr__mapped_of(const struct ktr__mapped *mapped, uint32_t proc);

#endif
