/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list is never changed: a look makes another one, publishes it, and frees the one before when no handler is
 * looking at it any more. Tables go with the last list that has them. A handler only counts itself in and out, and
 * waits for nobody; a look that finds one inside for long leaves the old list to a later one.
 *
 * Objects are told apart by where they lie and by the names that they were linked with. One that was unloaded, and
 * another one loaded at its place, between two looks, leads handlers to the wrong rows for so long: then a stack is
 * wrong, but only memory of the stack is read.
 */
#include "ktr/provider/profile/maps.h"

#include "ktr/provider/modules/modules.h"
#include "ktr/record/module.h"
#include "ktr/record/own.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAPS_MAX_BYTES (64ul << 20) /* all tables: that of a browser's largest library takes a third */
#define MAPS_NAPS      20           /* of 1 ms, for handlers to leave an old list */

struct maps_list {
	struct maps_list *older; /* not freed yet */
	uint32_t n;
	struct ktr__map_object *object[];
};

static struct maps_list *maps_now;         /* atomic; sorted */
static struct maps_list *maps_old;         /* of looks, newest first */
static struct ktr__map_object **maps_gone; /* objects that lists in maps_old may have */
static uint32_t maps_n_gone;
static uint32_t maps_inside;            /* handlers. Atomic */
static unsigned long long maps_changes; /* of what is loaded, at the last look */
static size_t maps_bytes;
static uint64_t maps_turn; /* of lists. Atomic */

/* ---- handlers ---- */

void ktr__maps_enter(void)
{
	__atomic_fetch_add(&maps_inside, 1, __ATOMIC_SEQ_CST);
}

void ktr__maps_leave(void)
{
	__atomic_fetch_sub(&maps_inside, 1, __ATOMIC_RELEASE);
}

const struct ktr__map_object *ktr__maps_at(uint64_t address)
{
	const struct maps_list *list = __atomic_load_n(&maps_now, __ATOMIC_SEQ_CST);
	uint32_t from = 0, to = list ? list->n : 0;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (list->object[middle]->begin <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from && address < list->object[from - 1]->end ? list->object[from - 1] : NULL;
}

uint64_t ktr__maps_turn(void)
{
	return __atomic_load_n(&maps_turn, __ATOMIC_ACQUIRE);
}

void ktr__maps_forked(void)
{
	__atomic_store_n(&maps_inside, 0, __ATOMIC_RELEASE);
}

/* ---- looking ---- */

struct maps_look {
	struct maps_list *list;
	uint32_t room;
	bool failed;
};

static void maps_range(struct ktr__map_object *to, const struct dl_phdr_info *info)
{
	*to = (struct ktr__map_object){ .begin = UINT64_MAX, .base = info->dlpi_addr, .is_there = true };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + phdr->p_vaddr, end = begin + phdr->p_memsz;

		if (phdr->p_type != PT_LOAD)
			continue;
		to->begin = begin < to->begin ? begin : to->begin;
		to->end = end > to->end ? end : to->end;
		if ((phdr->p_flags & (PF_R | PF_X)) == (PF_R | PF_X)) {
			to->text_begin = begin;
			to->text_end = end;
		}
	}
}

/* The one that was there before, if it is the same. */
static struct ktr__map_object *maps_known(const struct ktr__map_object *like)
{
	const struct maps_list *list = maps_now;

	for (uint32_t i = 0; list && i < list->n; i++) {
		struct ktr__map_object *at = list->object[i];

		if (at->begin == like->begin && at->end == like->end && at->base == like->base &&
		    at->text_begin == like->text_begin && at->text_end == like->text_end)
			return at;
	}
	return NULL;
}

static bool maps_room(struct maps_look *look)
{
	struct maps_list *more;

	if (look->list->n < look->room)
		return true;
	more = realloc(look->list, sizeof(*more) + 2 * look->room * sizeof(struct ktr__map_object *));
	if (!more) {
		look->failed = true;
		return false;
	}
	look->list = more;
	look->room *= 2;
	return true;
}

/* Within the loader's walk: what is looked at is there. */
static int maps_visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct maps_look *look = context;
	struct ktr__map_object range, *object;

	(void)size;
	maps_range(&range, info);
	if (range.begin >= range.end || !maps_room(look))
		return look->failed;
	object = maps_known(&range);
	if (!object) {
		object = malloc(sizeof(*object));
		if (!object) {
			look->failed = true;
			return 1;
		}
		*object = range;
		if (maps_bytes < MAPS_MAX_BYTES)
			ktr__cfi_make(&object->cfi, info, MAPS_MAX_BYTES - maps_bytes);
		maps_bytes += ktr__cfi_bytes(&object->cfi);
	}
	object->is_there = true;
	look->list->object[look->list->n++] = object;
	return 0;
}

static int maps_order(const void *a, const void *b)
{
	const struct ktr__map_object *x = *(struct ktr__map_object *const *)a,
				     *y = *(struct ktr__map_object *const *)b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void maps_object_free(struct ktr__map_object *object)
{
	maps_bytes -= ktr__cfi_bytes(&object->cfi);
	ktr__cfi_free(&object->cfi);
	free(object);
}

/* What nobody looks at any more. */
static void maps_reclaim(void)
{
	const struct timespec nap = { 0, 1000000 };

	if (!maps_old && !maps_n_gone)
		return;
	for (unsigned i = 0; __atomic_load_n(&maps_inside, __ATOMIC_SEQ_CST); i++) {
		if (i == MAPS_NAPS)
			return;
		nanosleep(&nap, NULL);
	}
	while (maps_old) {
		struct maps_list *next = maps_old->older;

		free(maps_old);
		maps_old = next;
	}
	while (maps_n_gone)
		maps_object_free(maps_gone[--maps_n_gone]);
}

/* Objects of the list before that are not in this one. */
static void maps_let_go(const struct maps_list *before)
{
	for (uint32_t i = 0; before && i < before->n; i++) {
		struct ktr__map_object **more;

		if (before->object[i]->is_there)
			continue;
		more = realloc(maps_gone, (maps_n_gone + 1) * sizeof(struct ktr__map_object *));
		if (!more)
			continue; /* it stays for good */
		maps_gone = more;
		maps_gone[maps_n_gone++] = before->object[i];
	}
}

/* ---- rows of the session ---- */

static int maps_count(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned long long *changes = context;

	(void)size;
	*changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

bool ktr__maps_look(void)
{
	struct maps_list *before = maps_now;
	struct maps_look look = { .room = 64 };
	unsigned long long changes = 0;

	dl_iterate_phdr(maps_count, &changes);
	maps_reclaim();
	if (before && changes == maps_changes)
		return false;
	look.list = malloc(sizeof(*look.list) + look.room * sizeof(struct ktr__map_object *));
	if (!look.list)
		return false;
	look.list->n = 0;
	for (uint32_t i = 0; before && i < before->n; i++)
		before->object[i]->is_there = false;
	dl_iterate_phdr(maps_visit, &look);
	qsort(look.list->object, look.list->n, sizeof(struct ktr__map_object *), maps_order);
	if (look.failed) {
		/* What is known stays so; what this look has made is in no list, and is left. */
		free(look.list);
		return false;
	}
	maps_changes = changes;
	__atomic_store_n(&maps_now, look.list, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&maps_turn, 1, __ATOMIC_RELEASE);
	maps_let_go(before);
	if (before) {
		before->older = maps_old;
		maps_old = before;
	}
	maps_reclaim();
	if (ktr__own.map && ktr__rec.proc)
		ktr__modules_all();
	return true;
}
