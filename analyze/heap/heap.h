/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory by the events of the provider heap: what every place of a program got, gave back, has at the end and had
 * when the most was in use. A sink.
 *
 *	ktr__heap_init(&heap, reader);
 *	ktr_reader_walk(reader, (struct ktr_sink *[]){ &heap.sink }, 1);
 *	ktr__heap_finish(&heap);
 *	for each place: ktr__heap_place(&heap, i)
 *
 * A sample stands for as many blocks of its size as there are between two samples: sums are estimates then.
 */
#ifndef ANALYZE_HEAP_H
#define ANALYZE_HEAP_H

#include "analyze/heap/heap_events.h"
#include "analyze/heap/heap_sum.h"
#include "analyze/heap/mapped.h"

#define KTR__HEAP_CLASSES 48 /* of sizes: up to 2^i bytes, the last all that is more */

struct ktr__heap {
	struct ktr_sink sink; /* hand this to ktr_reader_walk() */
	struct ktr__heap_sites sites;
	struct ktr__keyed places, blocks, threads, processes;
	struct ktr__heap_sum got, gave;
	struct ktr__heap_sum live; /* at the end, of processes that have ended at theirs */
	struct ktr__heap_sum now;  /* of those that have not ended yet */
	struct ktr__heap_sum peak;
	struct ktr__heap_sum size_got[KTR__HEAP_CLASSES], size_live[KTR__HEAP_CLASSES];
	uint64_t peak_ns, first_ns, last_ns;
	uint64_t n_peaks;
	uint64_t next_end_ns; /* no process ends before */
	uint64_t n_samples, n_moved, n_failed;
	uint64_t n_unknown; /* given back, and not seen got */
	uint64_t n_unseen;  /* got again, and not seen given back */
	uint64_t n_lost;    /* events, of any kind */
	uint64_t n_other;   /* events of the other kind */
	enum ktr__heap_what kind; /* GOT or SAMPLED: what came first; the other kind is left out. 0: neither yet */
	uint64_t period;	  /* [bytes] between samples */
	struct ktr__mapped mapped; /* of mmap(2) and its like */
};

/* reader NULL: events will be given by ktr__heap_take(). 0 or -ENOMEM; free() is due in any case. */
int ktr__heap_init(struct ktr__heap *heap, const struct ktr_reader *reader);
int ktr__heap_take(struct ktr__heap *heap, const struct ktr__heap_event *e); /* what the sink does. 0 or -ENOMEM */
void ktr__heap_finish(struct ktr__heap *heap); /* after the walk */
void ktr__heap_free(struct ktr__heap *heap);

/* What a process, by its row, has in use now. */
struct ktr__heap_sum ktr__heap_live_of(const struct ktr__heap *heap, uint32_t proc);

/* A thread of a process, by its row; NULL: none that has told of memory. */
const struct ktr_reader_thread *ktr__heap_thread_of(const struct ktr__heap *heap, uint32_t proc);

static inline const struct ktr__heap_place *ktr__heap_place(const struct ktr__heap *heap, size_t i)
{
	return (const struct ktr__heap_place *)(const void *)heap->places.row[i];
}

#endif
