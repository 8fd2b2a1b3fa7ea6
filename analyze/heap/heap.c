/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a place had when the most was in use is kept without a look at all places at each new peak: who changes has,
 * if there was a peak since its last change, what it had at that one; and who has not changed since has it still,
 * unless its process has ended.
 */
#include "analyze/heap/heap.h"

#include "analyze/read/tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

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
	uint64_t moving_at, moving_ns;
	int moving_gone; /* it was to be given back */
};

struct ktr__heap_process {
	struct ktr__keyed_row keyed; /* first */
	struct ktr__heap_place *newest;
	const struct ktr_reader_thread *thread; /* one of it */
	struct ktr__heap_sum live;
	uint64_t end_ns; /* UINT64_MAX: not known to end */
	int is_over;
};

/* ---- processes ---- */

static struct ktr__heap_process *heap_process(struct ktr__heap *heap, const struct ktr__heap_event *e)
{
	const struct ktr__process *process = ((const struct ktr__thread *)(const void *)e->event->thread)->process;
	const uint64_t key[4] = { e->proc };
	struct ktr__heap_process *row = ktr__keyed_get(&heap->processes, key, sizeof(*row));

	if (!row || row->end_ns)
		return row;
	row->thread = e->event->thread;
	row->end_ns = process && process->end.exit_ns ? process->end.exit_ns : process ? process->end.gone_ns : 0;
	row->end_ns = row->end_ns ? row->end_ns : UINT64_MAX;
	heap->next_end_ns = row->end_ns < heap->next_end_ns ? row->end_ns : heap->next_end_ns;
	return row;
}

struct ktr__heap_sum ktr__heap_live_of(const struct ktr__heap *heap, uint32_t proc)
{
	const struct ktr__heap_process *process =
		ktr__keyed_find(&heap->processes, (const uint64_t[4]){ proc, 0, 0, 0 });

	return process ? process->live : (struct ktr__heap_sum){ 0, 0 };
}

const struct ktr_reader_thread *ktr__heap_thread_of(const struct ktr__heap *heap, uint32_t proc)
{
	const struct ktr__heap_process *process =
		ktr__keyed_find(&heap->processes, (const uint64_t[4]){ proc, 0, 0, 0 });

	return process ? process->thread : NULL;
}

/* Before it changes: what it has now it had at the last peak. */
static void heap_seen(const struct ktr__heap *heap, struct ktr__heap_place *place)
{
	if (place->seen < heap->n_peaks)
		place->peak = place->process->is_over ? (struct ktr__heap_sum){ 0, 0 } : place->live;
	place->seen = heap->n_peaks;
}

/* What it had is no part of what is in use any more. */
static void heap_ended(struct ktr__heap *heap, struct ktr__heap_process *process)
{
	for (struct ktr__heap_place *place = process->newest; place; place = place->older)
		heap_seen(heap, place);
	heap->now.n -= process->live.n;
	heap->now.bytes -= process->live.bytes;
	ktr__mapped_ended(&heap->mapped, (uint32_t)process->keyed.key[0]);
	process->is_over = 1;
}

static void heap_ends(struct ktr__heap *heap, uint64_t ns)
{
	heap->next_end_ns = UINT64_MAX;
	for (size_t i = 0; i < heap->processes.n; i++) {
		struct ktr__heap_process *process = (struct ktr__heap_process *)(void *)heap->processes.row[i];

		if (process->is_over)
			continue;
		if (process->end_ns < ns)
			heap_ended(heap, process);
		else if (process->end_ns < heap->next_end_ns)
			heap->next_end_ns = process->end_ns;
	}
}

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

static void heap_live(struct ktr__heap *heap, struct ktr__heap_place *place, double n, uint64_t size)
{
	heap_seen(heap, place);
	heap_add(&place->live, n, size);
	heap_add(&heap->live, n, size);
	heap_add(&heap->size_live[heap_class(size)], n, size);
	heap_add(&place->process->live, n, size);
	if (place->process->is_over)
		return; /* its last events came later than its end */
	heap_add(&heap->now, n, size);
	if (heap->now.bytes <= heap->peak.bytes)
		return;
	heap->peak = heap->now;
	heap->peak_ns = heap->last_ns;
	heap->n_peaks++;
}

/* ---- events ---- */

static struct ktr__heap_place *heap_place(struct ktr__heap *heap, const struct ktr__heap_event *e)
{
	struct ktr__heap_place *place;

	place = ktr__framed_get(&heap->places, e->proc, e->stack, e->caller, sizeof(*place));
	if (!place || place->process)
		return place;
	place->process = heap_process(heap, e);
	if (!place->process)
		return NULL;
	place->older = place->process->newest;
	place->process->newest = place;
	return place;
}

static struct heap_block *heap_block(struct ktr__heap *heap, uint32_t proc, uint64_t address, int make)
{
	const uint64_t key[4] = { proc, address };

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

/* It was given back for good: how. */
static void heap_gone(const struct heap_block *block, const struct heap_thread *thread, uint32_t id, uint64_t ns)
{
	struct ktr__heap_place *place = block->place;

	place->n_other += block->thread != id ? block->weight : 0;
	place->n_brief += block->thread == id && block->number == thread->n ? block->weight : 0;
	if (ns > block->since_ns)
		place->age_ns += block->weight * (double)(ns - block->since_ns);
}

static int heap_got(struct ktr__heap *heap, const struct ktr__heap_event *e, struct heap_thread *thread)
{
	struct heap_block *block = heap_block(heap, e->proc, e->block, 1);
	struct ktr__heap_place *place = heap_place(heap, e);

	if (!block || !place)
		return -ENOMEM;
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
	heap->period = e->period ? e->period : heap->period;
	return 0;
}

/* The block, which is in use no more; NULL: it was not known. */
static struct heap_block *heap_drop(struct ktr__heap *heap, const struct ktr__heap_event *e)
{
	struct heap_block *block = heap_block(heap, e->proc, e->block, 0);

	if (!block || !block->place) {
		heap->n_unknown++;
		return NULL;
	}
	heap_add(&heap->gave, block->weight, block->size);
	heap_live(heap, block->place, -block->weight, block->size);
	return block;
}

static void heap_gives(struct ktr__heap *heap, const struct ktr__heap_event *e, const struct heap_thread *thread)
{
	struct heap_block *block = heap_drop(heap, e);

	if (!block)
		return;
	heap_gone(block, thread, e->event->thread->id, e->event->time_ns);
	block->place = NULL;
}

static void heap_moves(struct ktr__heap *heap, const struct ktr__heap_event *e, struct heap_thread *thread)
{
	struct heap_block *block = heap_drop(heap, e);

	heap->n_moved++;
	if (!block)
		return;
	thread->moving = *block;
	thread->moving_at = e->block;
	thread->moving_ns = e->event->time_ns;
	thread->moving_gone = e->size == 0;
	block->place = NULL;
}

/* What became of a block that was being moved: this event is of its thread. */
static int heap_moved(struct ktr__heap *heap, const struct ktr__heap_event *e, struct heap_thread *thread)
{
	struct heap_block it = thread->moving, *block;
	struct ktr__keyed_row keyed;

	thread->moving.place = NULL;
	if (e->what != KTR__HEAP_FAILED || thread->moving_gone) {
		heap_gone(&it, thread, e->event->thread->id, thread->moving_ns);
		return 0;
	}
	/* It could not be moved, and is there still. */
	block = heap_block(heap, e->proc, thread->moving_at, 1);
	if (!block)
		return -ENOMEM;
	if (block->place)
		return 0;
	keyed = block->keyed;
	*block = it;
	block->keyed = keyed;
	heap_add(&heap->gave, -it.weight, it.size);
	heap_live(heap, it.place, it.weight, it.size);
	return 0;
}

/* A trace that has all blocks and samples has some twice. */
static int heap_is_other(struct ktr__heap *heap, const struct ktr__heap_event *e)
{
	int sampled = e->what == KTR__HEAP_SAMPLED || e->what == KTR__HEAP_GAVE;

	if (!heap->kind && (e->what == KTR__HEAP_GOT || e->what == KTR__HEAP_SAMPLED))
		heap->kind = e->what;
	if (!heap->kind || e->what == KTR__HEAP_FAILED || sampled == (heap->kind == KTR__HEAP_SAMPLED))
		return 0;
	heap->n_other++;
	return 1;
}

int ktr__heap_take(struct ktr__heap *heap, const struct ktr__heap_event *e)
{
	struct heap_thread *thread;
	int rc;

	heap->first_ns = heap->first_ns ? heap->first_ns : e->event->time_ns;
	heap->last_ns = e->event->time_ns;
	if (e->event->time_ns > heap->next_end_ns)
		heap_ends(heap, e->event->time_ns);
	if (ktr__heap_is_map(e->what))
		/* Its end is due, too. */
		return heap_process(heap, e) ? ktr__mapped_take(&heap->mapped, e) : -ENOMEM;
	if (heap_is_other(heap, e))
		return 0;
	thread = heap_thread(heap, e);
	rc = thread ? 0 : -ENOMEM;
	/* realloc(3) with nothing to give back is told, and no failure, by an answer without a block. */
	if (!rc && e->what == KTR__HEAP_FAILED)
		heap->n_failed += e->size != 0;
	if (!rc && thread->moving.place)
		rc = heap_moved(heap, e, thread);
	if (rc)
		return rc;
	switch (e->what) {
	case KTR__HEAP_GOT:
	case KTR__HEAP_SAMPLED:
		return heap_got(heap, e, thread);
	case KTR__HEAP_MOVES:
		heap_moves(heap, e, thread);
		return 0;
	case KTR__HEAP_GIVES:
	case KTR__HEAP_GAVE:
		heap_gives(heap, e, thread);
		return 0;
	default:
		return 0;
	}
}

static int heap_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__heap *heap = (struct ktr__heap *)(void *)sink;
	struct ktr__heap_event e;

	heap->first_ns = heap->first_ns ? heap->first_ns : event->time_ns;
	return ktr__heap_event(&heap->sites, event, &e) ? ktr__heap_take(heap, &e) : 0;
}

/* The answer of a move may be among what is lost. */
static int heap_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__heap *heap = (struct ktr__heap *)(void *)sink;

	heap->n_lost += loss->n_events;
	for (size_t i = 0; i < heap->threads.n; i++)
		((struct heap_thread *)(void *)heap->threads.row[i])->moving.place = NULL;
	return 0;
}

/* ---- life ---- */

int ktr__heap_init(struct ktr__heap *heap, const struct ktr_reader *reader)
{
	*heap = (struct ktr__heap){ .sink = { heap_event, heap_loss, NULL }, .next_end_ns = UINT64_MAX };
	return ktr__heap_sites_init(&heap->sites, reader);
}

void ktr__heap_finish(struct ktr__heap *heap)
{
	for (size_t i = 0; i < heap->places.n; i++) {
		struct ktr__heap_place *place = (struct ktr__heap_place *)(void *)heap->places.row[i];

		if (place->process) /* else there was no memory for it, and the place got nothing */
			heap_seen(heap, place);
	}
}

void ktr__heap_free(struct ktr__heap *heap)
{
	ktr__framed_free(&heap->places);
	ktr__keyed_free(&heap->blocks);
	ktr__keyed_free(&heap->threads);
	ktr__keyed_free(&heap->processes);
	ktr__heap_sites_free(&heap->sites);
	ktr__mapped_free(&heap->mapped);
}
