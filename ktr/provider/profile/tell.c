/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of each thread it is known how many ticks have been told (n_told), and by its CPU clock how many are due: so what
 * never came is told in the end, and the sum of a thread's ticks is its CPU time.
 */
#include "ktr/provider/profile/tell.h"

#include "ktr/record/count.h"
#include "ktr/record/freeze.h"
#include "ktr/record/own.h"
#include "ktr/record/payload.h"
#include "ktr/record/trigger.h"

#include <stdlib.h>
#include <string.h>

const char ktr__tell_user[] = "user", ktr__tell_kernel[] = "kernel", ktr__tell_missed[] = "missed",
	   ktr__tell_lost[] = "lost";

static struct ktr_provider_probe *tell_probe; /* atomic; NULL: it is off */
static uint64_t tell_period_ns;
static bool tell_its_end;

/* What is taken, until the next time. */
static struct tell_taken {
	struct ktr__kernel_entry entry;
	size_t slot;
	char name[16];
} *tell_taken;
static struct ktr__kernel_entry *tell_entries; /* the same, in the order of time */
static uint64_t (*tell_slots)[KTR__KERNEL_WORDS];
static size_t tell_n, tell_room, tell_n_slots, tell_slots_room;

/* ---- entries ---- */

static bool tell_rooms(size_t n_slots)
{
	if (tell_n == tell_room) {
		size_t room = tell_room ? 2 * tell_room : 256;
		struct tell_taken *more = realloc(tell_taken, room * sizeof(*more));
		struct ktr__kernel_entry *entries = more ? realloc(tell_entries, room * sizeof(*entries)) : NULL;

		tell_taken = more ? more : tell_taken;
		tell_entries = entries ? entries : tell_entries;
		if (!entries)
			return false;
		tell_room = room;
	}
	if (tell_n_slots + n_slots > tell_slots_room) {
		size_t room = 2 * tell_slots_room + 1024;
		void *more = realloc(tell_slots, room * sizeof(*tell_slots));

		if (!more)
			return false;
		tell_slots = more;
		tell_slots_room = room;
	}
	return true;
}

static struct tell_taken *tell_entry(const struct ktr__followed *thread, uint64_t ns)
{
	struct tell_taken *at;

	if (!tell_rooms(KTR_SLOTS_MAX)) {
		ktr__count_drop(&ktr__rec.control->drop_no_ring);
		return NULL;
	}
	at = &tell_taken[tell_n++];
	*at = (struct tell_taken){ .entry = { .ns = ns, .cpu = thread->cpu, .tid = thread->tid },
				   .slot = tell_n_slots };
	return at;
}

/* Is an event of the probe's recorded? Counts it where that is asked for, as ktr/record/record.c does. */
static bool tell_wants(const struct ktr_site *site, const uint64_t *arg)
{
	const struct ktr_control *control = ktr__rec.control;
	uint8_t override;

	if (!site->id || !(KTR__GATE() & site->mask) || __atomic_load_n(&control->frozen, __ATOMIC_RELAXED))
		return false;
	override = __atomic_load_n(&ktr__rec.site_ctl[site->id], __ATOMIC_RELAXED);
	if (override & KTR_SITE_COUNT || (!(override & KTR_SITE_OFF) &&
					  site->mask & __atomic_load_n(&control->count, __ATOMIC_RELAXED))) {
		uint64_t *counts = ktr__counts(site->id);

		if (counts)
			__atomic_fetch_add(&counts[site->id], 1, __ATOMIC_RELAXED);
	}
	if (override & KTR_SITE_OFF)
		return false;
	if (!(override & KTR_SITE_ON) && !(site->mask & __atomic_load_n(&control->record, __ATOMIC_RELAXED)))
		return false;
	if (override & KTR_SITE_TRIGGER && ktr__trigger_event(site, arg))
		ktr__freeze_event(site, false);
	return true;
}

bool ktr__tell_is_wanted(void)
{
	const struct ktr_provider_probe *probe = __atomic_load_n(&tell_probe, __ATOMIC_ACQUIRE);

	return probe && KTR__GATE() & probe->site.mask;
}

/* ---- ticks ---- */

void ktr__tell_ticks(struct ktr__followed *thread, uint64_t ns, uint64_t n_ticks, const char *how,
		     const struct ktr__frames *frames)
{
	struct ktr_provider_probe *probe = __atomic_load_n(&tell_probe, __ATOMIC_ACQUIRE);
	const uint64_t arg[KTR_ARGS_MAX] = { n_ticks, n_ticks * tell_period_ns, (uintptr_t)how, (uintptr_t)frames };
	struct tell_taken *at;
	struct ktr__image image;

	thread->n_told += n_ticks;
	/* What was due before it was switched off is told after that, too. */
	if (!probe || !(ktr__provider_on(probe) || tell_its_end) || !tell_wants(&probe->site, arg))
		return;
	at = tell_entry(thread, ns);
	if (!at)
		return;
	ktr__image_make(&image, &probe->site, arg);
	tell_slots[tell_n_slots][1] = probe->site.id;
	memcpy(&tell_slots[tell_n_slots][2], image.arg, sizeof(image.arg));
	for (unsigned i = 1; i < image.n_slots; i++)
		memcpy(&tell_slots[tell_n_slots + i][1], image.cont[i - 1], KTR_CONT_BYTES);
	at->entry.n_slots = (unsigned)image.n_slots;
	tell_n_slots += image.n_slots;
}

/* Without a stack. */
static void tell_bare(struct ktr__followed *thread, uint64_t n_ticks, const char *how, uint64_t ns)
{
	const struct ktr__frames none = { .word = 0 };

	ktr__tell_ticks(thread, ns, n_ticks, how, &none);
}

/* Where the kernel does not let us see its own, it is that. */
void ktr__tell_due(struct ktr__followed *thread, uint64_t due, uint64_t ns)
{
	if (due > thread->n_told)
		tell_bare(thread, due - thread->n_told,
			  thread->event.user_only ? ktr__tell_kernel : ktr__tell_missed, ns);
}

void ktr__tell_missing(struct ktr__followed *thread, uint64_t cpu_ns, uint64_t ns)
{
	ktr__tell_due(thread, ktr__followed_due(thread, cpu_ns), ns);
}

void ktr__tell_late(struct ktr__followed *thread, uint64_t ns)
{
	/* One that ended before it had its event has been told of. */
	if (thread->n_late > thread->n_told)
		tell_bare(thread, thread->n_late - thread->n_told, ktr__tell_missed, ns);
	thread->n_late = 0;
}

void ktr__tell_in_kernel(struct ktr__followed *thread, uint64_t ns)
{
	uint64_t due = thread->n_due;

	thread->n_due = ktr__followed_due(thread, ktr__followed_cpu_ns(thread->tid));
	ktr__tell_due(thread, due, ns);
}

/* ---- threads ---- */

static void tell_name(const struct ktr__followed *thread, const char *name, size_t n, uint64_t ns, bool ends)
{
	struct tell_taken *at = tell_entry(thread, ns);

	if (!at)
		return;
	memcpy(at->name, name, n < sizeof(at->name) ? n : sizeof(at->name) - 1);
	at->entry.name = ends && !at->name[0] ? NULL : at->name;
	at->entry.ends = ends;
}

void ktr__tell_name(const struct ktr__followed *thread, const char *name, size_t n, uint64_t ns)
{
	tell_name(thread, name, n, ns, false);
}

void ktr__tell_ends(const struct ktr__followed *thread, uint64_t ns)
{
	tell_name(thread, thread->name, strnlen(thread->name, sizeof(thread->name)), ns, true);
}

/* ---- rounds ---- */

void ktr__tell_round(bool its_end)
{
	tell_n = tell_n_slots = 0;
	tell_its_end = its_end;
}

static int tell_order(const void *a, const void *b)
{
	const struct ktr__kernel_entry *x = a, *y = b;

	/* What is due to a thread comes before its end. */
	return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : x->ends - y->ends;
}


const struct ktr__kernel_entry *ktr__tell_all(size_t *n)
{
	for (size_t i = 0; i < tell_n; i++) {
		struct ktr__kernel_entry *entry = &tell_entries[i];

		*entry = tell_taken[i].entry;
		entry->slot = (const uint64_t(*)[KTR__KERNEL_WORDS])tell_slots + tell_taken[i].slot;
		entry->name = entry->name ? tell_taken[i].name : NULL;
	}
	if (tell_n)
		qsort(tell_entries, tell_n, sizeof(*tell_entries), tell_order);
	*n = tell_n;
	return tell_entries;
}

/* ---- life ---- */

void ktr__tell_begin(struct ktr_provider_probe *probe, uint64_t period_ns)
{
	tell_period_ns = period_ns;
	__atomic_store_n(&tell_probe, probe, __ATOMIC_RELEASE);
}

bool ktr__tell_end(void)
{
	return __atomic_exchange_n(&tell_probe, NULL, __ATOMIC_ACQ_REL) != NULL;
}

bool ktr__tell_is_on(void)
{
	return __atomic_load_n(&tell_probe, __ATOMIC_ACQUIRE) != NULL;
}

void ktr__tell_forked(void)
{
	tell_taken = NULL;
	tell_entries = NULL;
	tell_slots = NULL;
	tell_room = tell_slots_room = 0;
}
