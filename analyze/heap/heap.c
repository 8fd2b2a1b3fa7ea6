/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a place had when the most was in use is kept without a look at all places at each new peak: who changes has,
 * if there was a peak since its last change, what it had at that one; and who has not changed since has it still.
 */
#include "analyze/heap/heap.h"

#include <errno.h>
#include <math.h>

/* A block, by its address: it stays when it was given back, for its address comes again. */
struct heap_block {
	struct ktr__keyed_row keyed; /* first */
	struct ktr__heap_place *place; /* NULL: it is not in use */
	uint64_t size, since_ns;
	double weight; /* blocks that it stands for */
	uint32_t thread;
	uint64_t number; /* of its thread's blocks */
};

struct heap_thread {
	struct ktr__keyed_row keyed; /* first */
	uint64_t n;		     /* blocks that it got */
	struct heap_block moving;    /* by realloc(3), not told where to; place NULL: none */
	uint64_t moving_at;
};

/* ---- sums ---- */

static void heap_add(struct ktr__heap_sum *sum, double n, uint64_t size)
{
	sum->n += n;
	sum->bytes += n * (double)size;
}

static unsigned heap_class(uint64_t size)
{
	unsigned bits = size > 1 ? 64 - (unsigned)__builtin_clzll(size - 1) : 0;

	return bits < KTR__HEAP_CLASSES ? bits : KTR__HEAP_CLASSES - 1;
}

/* Before it changes: what it has now it had at the last peak. */
static void heap_seen(const struct ktr__heap *heap, struct ktr__heap_place *place)
{
	if (place->seen < heap->n_peaks)
		place->peak = place->live;
	place->seen = heap->n_peaks;
}

static void heap_live(struct ktr__heap *heap, struct ktr__heap_place *place, double n, uint64_t size)
{
	heap_seen(heap, place);
	heap_add(&place->live, n, size);
	heap_add(&heap->live, n, size);
	heap_add(&heap->size_live[heap_class(size)], n, size);
	if (heap->live.bytes <= heap->peak.bytes)
		return;
	heap->peak = heap->live;
	heap->peak_ns = heap->last_ns;
	heap->n_peaks++;
}

/* ---- events ---- */

static struct heap_block *heap_block(struct ktr__heap *heap, const struct ktr__heap_event *e, int make)
{
	const uint64_t key[4] = { e->proc, e->block };

	return make ? ktr__keyed_get(&heap->blocks, key, sizeof(struct heap_block)) :
		      ktr__keyed_find(&heap->blocks, key);
}

static struct heap_thread *heap_thread(struct ktr__heap *heap, const struct ktr__heap_event *e)
{
	const uint64_t key[4] = { e->event->thread->id };

	return ktr__keyed_get(&heap->threads, key, sizeof(struct heap_thread));
}

/* How many blocks of its size a sample stands for: it was one with the chance of a gap that ends within it. */
static double heap_weight(const struct ktr__heap_event *e)
{
	double size = e->size ? (double)e->size : 1;

	if (e->what != KTR__HEAP_SAMPLED || !e->period)
		return 1;
	return 1 / -expm1(-size / (double)e->period);
}

static int heap_got(struct ktr__heap *heap, const struct ktr__heap_event *e, struct heap_thread *thread)
{
	struct heap_block *block = heap_block(heap, e, 1);
	struct ktr__heap_place *place = ktr__stack_get(&heap->places, e->proc, e->stack, e->caller, sizeof(*place));

	if (!block || !place)
		return -ENOMEM;
	thread->moving.place = NULL;
	if (block->place) {
		heap->n_unseen++;
		heap_live(heap, block->place, -block->weight, block->size);
	}
	block->place = place;
	block->size = e->size;
	block->since_ns = e->event->time_ns;
	block->weight = heap_weight(e);
	block->thread = e->event->thread->id;
	block->number = ++thread->n;
	heap_add(&place->got, block->weight, e->size);
	heap_add(&heap->got, block->weight, e->size);
	heap_add(&heap->size_got[heap_class(e->size)], block->weight, e->size);
	heap_live(heap, place, block->weight, e->size);
	heap->n_samples += e->what == KTR__HEAP_SAMPLED;
	heap->is_sampled |= e->what == KTR__HEAP_SAMPLED;
	heap->period = e->period ? e->period : heap->period;
	return 0;
}

static void heap_gives(struct ktr__heap *heap, const struct ktr__heap_event *e, const struct heap_thread *thread)
{
	struct heap_block *block = heap_block(heap, e, 0);
	struct ktr__heap_place *place = block ? block->place : NULL;

	if (!place) {
		heap->n_unknown++;
		return;
	}
	place->n_other += block->thread != e->event->thread->id ? block->weight : 0;
	place->n_brief += block->thread == e->event->thread->id && block->number == thread->n ? block->weight : 0;
	if (e->event->time_ns > block->since_ns)
		place->age_ns += block->weight * (double)(e->event->time_ns - block->since_ns);
	heap_add(&heap->gave, block->weight, block->size);
	heap_live(heap, place, -block->weight, block->size);
	block->place = NULL;
}

static void heap_moves(struct ktr__heap *heap, const struct ktr__heap_event *e, struct heap_thread *thread)
{
	struct heap_block *block = heap_block(heap, e, 0);

	if (block && block->place) {
		thread->moving = *block;
		thread->moving_at = e->size ? e->block : 0;
	}
	heap->n_moved++;
	heap_gives(heap, e, thread);
}

/* What realloc(3) has not moved is there still, unless it was to give it back. */
static int heap_failed(struct ktr__heap *heap, const struct ktr__heap_event *e, struct heap_thread *thread)
{
	struct ktr__heap_event it = *e;
	struct heap_block *block;
	struct ktr__keyed_row keyed;

	if (!thread->moving.place || e->size)
		heap->n_failed++;
	if (!thread->moving.place || !thread->moving_at)
		goto done;
	it.block = thread->moving_at;
	block = heap_block(heap, &it, 1);
	if (!block)
		return -ENOMEM;
	if (block->place)
		goto done;
	keyed = block->keyed;
	*block = thread->moving;
	block->keyed = keyed;
	heap_add(&heap->gave, -block->weight, block->size);
	heap_live(heap, block->place, block->weight, block->size);
done:
	thread->moving.place = NULL;
	return 0;
}

static int heap_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__heap *heap = (struct ktr__heap *)(void *)sink;
	struct heap_thread *thread;
	struct ktr__heap_event e;

	heap->first_ns = heap->first_ns ? heap->first_ns : event->time_ns;
	heap->last_ns = event->time_ns;
	if (!ktr__heap_event(&heap->sites, event, &e))
		return 0;
	thread = heap_thread(heap, &e);
	if (!thread)
		return -ENOMEM;
	switch (e.what) {
	case KTR__HEAP_GOT:
	case KTR__HEAP_SAMPLED:
		return heap_got(heap, &e, thread);
	case KTR__HEAP_FAILED:
		return heap_failed(heap, &e, thread);
	case KTR__HEAP_MOVES:
		heap_moves(heap, &e, thread);
		return 0;
	case KTR__HEAP_GIVES:
	case KTR__HEAP_GAVE:
		heap_gives(heap, &e, thread);
		return 0;
	}
	return 0;
}

static int heap_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	((struct ktr__heap *)(void *)sink)->n_lost += loss->n_events;
	return 0;
}

/* ---- life ---- */

int ktr__heap_init(struct ktr__heap *heap, const struct ktr_reader *reader)
{
	*heap = (struct ktr__heap){ .sink = { heap_event, heap_loss, NULL } };
	return ktr__heap_sites_init(&heap->sites, reader);
}

void ktr__heap_finish(struct ktr__heap *heap)
{
	for (size_t i = 0; i < heap->places.n; i++)
		heap_seen(heap, (struct ktr__heap_place *)(void *)heap->places.row[i]);
}

void ktr__heap_free(struct ktr__heap *heap)
{
	ktr__stacks_free(&heap->places);
	ktr__keyed_free(&heap->blocks);
	ktr__keyed_free(&heap->threads);
	ktr__heap_sites_free(&heap->sites);
}
