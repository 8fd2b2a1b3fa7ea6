/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process has its ranges in the order of their addresses, which do not overlap. There are hundreds, seldom
 * thousands: one is found by bisection, and put in or taken out by moving those behind it.
 *
 * What a thread takes away is told before it is done. It is kept until that thread's next event, which says if it
 * failed.
 */
#include "analyze/heap/mapped.h"

#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAPPED_PAGE 4096u

struct mapped_range {
	uint64_t begin, end;
	uint64_t number; /* pieces of one range have the same */
	struct ktr__heap_place *place;
};

struct mapped_list {
	struct mapped_range *range; /* owned */
	uint32_t n, room;
};

struct mapped_process {
	struct ktr__keyed_row keyed; /* first: process */
	struct mapped_list list;
	double n, bytes;
	int is_over;
};

struct mapped_thread {
	struct ktr__keyed_row keyed; /* first: thread */
	struct mapped_list taken; /* by its last call */
};

/* ---- lists ---- */

/* The first range that ends behind a moment of the address. */
static uint32_t mapped_find(const struct mapped_list *list, uint64_t at)
{
	uint32_t low = 0, high = list->n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		low = list->range[middle].end <= at ? middle + 1 : low;
		high = low > middle ? high : middle;
	}
	return low;
}

static int mapped_insert(struct mapped_list *list, uint32_t at, const struct mapped_range *range)
{
	if (ktr__array_grow(&list->range, &list->room, list->n, sizeof(*list->range)))
		return -ENOMEM;
	memmove(&list->range[at + 1], &list->range[at], (list->n - at) * sizeof(*list->range));
	list->range[at] = *range;
	list->n++;
	return 0;
}

static void mapped_remove(struct mapped_list *list, uint32_t at)
{
	list->n--;
	memmove(&list->range[at], &list->range[at + 1], (list->n - at) * sizeof(*list->range));
}

/* ---- sums ---- */

static void mapped_count(struct ktr__mapped *mapped, struct mapped_process *process, struct ktr__heap_place *place,
			 double n, double bytes)
{
	place->live.n += n;
	place->live.bytes += bytes;
	mapped->live.n += n;
	mapped->live.bytes += bytes;
	process->n += n;
	process->bytes += bytes;
	if (process->is_over)
		return; /* its last events came later than its end */
	mapped->now.n += n;
	mapped->now.bytes += bytes;
}

/* Adds a range where none is, or a piece of one to those beside it. */
static int mapped_put(struct ktr__mapped *mapped, struct mapped_process *process, const struct mapped_range *range)
{
	struct mapped_list *list = &process->list;
	uint32_t at = mapped_find(list, range->begin);
	struct mapped_range *after = at < list->n ? &list->range[at] : NULL;
	struct mapped_range *before = at ? &list->range[at - 1] : NULL;

	if (after && (after->number != range->number || after->begin != range->end))
		after = NULL;
	if (before && before->number == range->number && before->end == range->begin) {
		before->end = after ? after->end : range->end;
		mapped_count(mapped, process, range->place, after ? -1 : 0, (double)(range->end - range->begin));
		if (after)
			mapped_remove(list, at);
		return 0;
	}
	if (after) {
		after->begin = range->begin;
		mapped_count(mapped, process, range->place, 0, (double)(range->end - range->begin));
		return 0;
	}
	if (mapped_insert(list, at, range))
		return -ENOMEM;
	mapped_count(mapped, process, range->place, 1, (double)(range->end - range->begin));
	return 0;
}

/* Takes out what lies there, in pieces that are kept, if `taken` is not NULL. */
static int mapped_cut(struct ktr__mapped *mapped, struct mapped_process *process, uint64_t begin, uint64_t end,
		      struct mapped_list *taken)
{
	struct mapped_list *list = &process->list;
	uint32_t at = mapped_find(list, begin);

	while (at < list->n && list->range[at].begin < end) {
		struct mapped_range *range = &list->range[at], piece = *range, rest = *range;

		piece.begin = piece.begin > begin ? piece.begin : begin;
		piece.end = piece.end < end ? piece.end : end;
		rest.begin = piece.end;
		mapped_count(mapped, process, range->place, 0, -(double)(piece.end - piece.begin));
		if (taken && mapped_insert(taken, taken->n, &piece))
			return -ENOMEM;
		if (range->begin < piece.begin) { /* its beginning stays */
			range->end = piece.begin;
			at++;
			if (rest.begin < rest.end) {
				mapped_count(mapped, process, rest.place, 1, 0);
				return mapped_insert(list, at, &rest);
			}
		} else if (rest.begin < rest.end) {
			range->begin = rest.begin;
			return 0;
		} else {
			mapped_count(mapped, process, range->place, -1, 0);
			mapped_remove(list, at);
		}
	}
	return 0;
}

/* ---- events ---- */

static uint64_t mapped_up(uint64_t address)
{
	return address > UINT64_MAX - MAPPED_PAGE ? address : (address + MAPPED_PAGE - 1) & -(uint64_t)MAPPED_PAGE;
}

static int mapped_got(struct ktr__mapped *mapped, const struct ktr__heap_event *e, struct mapped_process *process)
{
	struct mapped_range range = { e->block, mapped_up(e->block + e->size), ++mapped->n_ranges, NULL };

	if (range.end <= range.begin)
		return 0;
	range.place = ktr__framed_get(&mapped->places, e->proc, e->stack, e->caller, sizeof(*range.place));
	if (!range.place || mapped_cut(mapped, process, range.begin, range.end, NULL))
		return -ENOMEM;
	range.place->got.n++;
	range.place->got.bytes += (double)(range.end - range.begin);
	mapped->got.n++;
	mapped->got.bytes += (double)(range.end - range.begin);
	if (mapped_put(mapped, process, &range))
		return -ENOMEM;
	if (mapped->now.bytes > mapped->peak.bytes) {
		mapped->peak = mapped->now;
		mapped->peak_ns = e->event->time_ns;
	}
	return 0;
}

static int mapped_takes(struct ktr__mapped *mapped, const struct ktr__heap_event *e, struct mapped_process *process,
			struct mapped_thread *thread)
{
	uint64_t begin = e->block, end = mapped_up(e->block + e->size);
	double before = mapped->live.bytes;
	int rc;

	if (end <= begin)
		return 0;
	rc = mapped_cut(mapped, process, begin, end, &thread->taken);
	if (before - mapped->live.bytes < (double)(end - begin))
		mapped->unknown_bytes += end - begin - (uint64_t)(before - mapped->live.bytes);
	return rc;
}

/* It is as it was before. */
static int mapped_again(struct ktr__mapped *mapped, struct mapped_process *process, const struct mapped_list *taken)
{
	for (uint32_t i = 0; i < taken->n; i++)
		if (mapped_cut(mapped, process, taken->range[i].begin, taken->range[i].end, NULL) ||
		    mapped_put(mapped, process, &taken->range[i]))
			return -ENOMEM;
	return 0;
}

int ktr__mapped_take(struct ktr__mapped *mapped, const struct ktr__heap_event *e)
{
	struct mapped_process *process =
		ktr__keyed_get(&mapped->processes, (const uint64_t[4]){ e->proc, 0, 0, 0 }, sizeof(*process));
	struct mapped_thread *thread = ktr__keyed_get(
		&mapped->threads, (const uint64_t[4]){ e->event->thread->id, 0, 0, 0 }, sizeof(*thread));
	int rc = 0;

	if (!process || !thread)
		return -ENOMEM;
	if (e->what == KTR__HEAP_MAP_FAILED) {
		mapped->n_failed++;
		rc = mapped_again(mapped, process, &thread->taken);
	}
	thread->taken.n = 0;
	if (e->what == KTR__HEAP_MAPPED)
		return mapped_got(mapped, e, process);
	if (e->what == KTR__HEAP_UNMAPS || e->what == KTR__HEAP_REMAPS)
		return mapped_takes(mapped, e, process, thread);
	return rc;
}

void ktr__mapped_ended(struct ktr__mapped *mapped, uint32_t proc)
{
	struct mapped_process *process =
		ktr__keyed_find(&mapped->processes, (const uint64_t[4]){ proc, 0, 0, 0 });

	if (!process || process->is_over)
		return;
	mapped->now.n -= process->n;
	mapped->now.bytes -= process->bytes;
	process->is_over = 1;
}

double ktr__mapped_of(const struct ktr__mapped *mapped, uint32_t proc)
{
	const struct mapped_process *process =
		ktr__keyed_find(&mapped->processes, (const uint64_t[4]){ proc, 0, 0, 0 });

	return process ? process->bytes : 0;
}

void ktr__mapped_free(struct ktr__mapped *mapped)
{
	for (size_t i = 0; i < mapped->processes.n; i++)
		free(((struct mapped_process *)(void *)mapped->processes.row[i])->list.range);
	for (size_t i = 0; i < mapped->threads.n; i++)
		free(((struct mapped_thread *)(void *)mapped->threads.row[i])->taken.range);
	ktr__framed_free(&mapped->places);
	ktr__keyed_free(&mapped->processes);
	ktr__keyed_free(&mapped->threads);
}
