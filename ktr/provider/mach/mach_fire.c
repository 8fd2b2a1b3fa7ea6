/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe fires: it is counted, recorded as a CTR point is, and its handler called. Nothing here locks, allocates
 * (but for a thread's first handler, by mmap(2)), or asks the kernel for anything but the time of some fires.
 *
 * Counts are atomic, and several for each probe, so that threads seldom meet. The first fires and then one of
 * MACH_FIRE_SAMPLE are timed, and stand for the others.
 */
#include "ktr/provider/mach/mach.h"

#include "ktr/provider/handler/handler.h"
#include "ktr/record/own.h"
#include "ktr/record/record_words.h"
#include "ktr/session/clock.h"

#define MACH_FIRE_SAMPLE 256u /* two readings of the clock for so many fires: less than one per cent */
#define MACH_FIRE_FIRST	 16u  /* all of the first */

static uint32_t mach_fire_threads; /* that have fired. Atomic */
static __thread uint32_t mach_fire_self; /* 0: not yet */

static struct ktr__mach_count *mach_fire_count(struct ktr__mach_probe *probe)
{
	if (!mach_fire_self)
		mach_fire_self = __atomic_add_fetch(&mach_fire_threads, 1, __ATOMIC_RELAXED) | 1u << 31;
	return &probe->count[mach_fire_self % KTR__MACH_COUNTS];
}

/* The view lies in the thread's stack: handlers of one probe may run in several threads. */
static void mach_fire_handler(void *fired, const uint64_t *arg)
{
	struct ktr__mach_probe *probe = fired;
	dtrace_handler_t handler = __atomic_load_n(&probe->handler, __ATOMIC_SEQ_CST);
	dtrace_probe_t view;

	if (!handler)
		return;
	ktr__mach_view(probe, &view);
	handler(&view, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* How many fires the one that comes next, the nth of this count, stands for; 0: it is not timed. */
static uint64_t mach_fire_weight(uint64_t n)
{
	uint64_t weight = n < MACH_FIRE_FIRST ? 1 : n % MACH_FIRE_SAMPLE == MACH_FIRE_FIRST ? MACH_FIRE_SAMPLE : 0;

	return weight && !ktr__own_session()->sealed ? weight : 0;
}

struct mach_fired {
	struct ktr__mach_probe *probe;
	struct ktr_site *site;
	uint32_t n_args;
	ktr__handler_run *then; /* NULL: we are in it already */
};

static void mach_fire(const struct mach_fired *fired, const uint64_t a[KTR_ARGS_MAX])
{
	struct ktr__mach_probe *probe = fired->probe;
	struct ktr__mach_count *count = mach_fire_count(probe);
	uint64_t n = __atomic_fetch_add(&count->fires, 1, __ATOMIC_RELAXED), weight = mach_fire_weight(n);
	uint64_t began = weight ? ktr__clock_now(KTR_CLOCK_MONOTONIC) : 0;

	if (__atomic_load_n(&probe->n_args, __ATOMIC_RELAXED) < fired->n_args)
		__atomic_store_n(&probe->n_args, fired->n_args, __ATOMIC_RELAXED);
	if (KTR__GATE() & __atomic_load_n(&ktr_class_mach.mask, __ATOMIC_RELAXED))
		ktr__record_words(fired->site, fired->n_args, a[0], a[1], a[2], a[3], a[4], a[5]);
	else
		__atomic_fetch_add(&count->filtered, 1, __ATOMIC_RELAXED);
	if (!fired->then)
		mach_fire_handler(probe, a);
	else if (__atomic_load_n(&probe->handler, __ATOMIC_RELAXED))
		ktr__handler_call(probe, fired->then, a);
	if (!weight)
		return;
	weight *= ktr__clock_now(KTR_CLOCK_MONOTONIC) - began;
	__atomic_fetch_add(&count->ns, weight, __ATOMIC_RELAXED);
}

void ktr__dtrace_fire(struct ktr__dtrace_point *point, uint32_t n_args, uint64_t a0, uint64_t a1, uint64_t a2,
		      uint64_t a3, uint64_t a4, uint64_t a5)
{
	const uint64_t a[KTR_ARGS_MAX] = { a0, a1, a2, a3, a4, a5 };
	const struct mach_fired fired = { __atomic_load_n(&point->probe, __ATOMIC_ACQUIRE), point->site, n_args,
					  mach_fire_handler };

	/* Threads still fire when the process ends, which takes the points away. */
	if (fired.probe)
		mach_fire(&fired, a);
}

/* By name: it stays offered while the thread is in it, as in a handler. */
static void mach_fire_named(void *named, const uint64_t *arg)
{
	struct ktr__mach_probe *probe = named;
	struct ktr_provider_probe *offered = __atomic_load_n(&probe->offered, __ATOMIC_SEQ_CST);
	struct mach_fired fired = { .probe = probe };

	if (!__atomic_load_n(&probe->id, __ATOMIC_SEQ_CST) || !offered || !ktr__provider_on(offered))
		return;
	fired.site = &offered->site;
	fired.n_args = offered->site.n_args;
	mach_fire(&fired, arg);
}

void dtrace_probe_fire(dtrace_probe_type_t type, const char *name, uint64_t a0, uint64_t a1, uint64_t a2,
		       uint64_t a3, uint64_t a4, uint64_t a5)
{
	const uint64_t a[KTR_ARGS_MAX] = { a0, a1, a2, a3, a4, a5 };
	struct ktr__mach_probe *probe = name ? ktr__mach_find(type, name) : NULL;

	if (probe && __atomic_load_n(&probe->id, __ATOMIC_RELAXED))
		ktr__handler_call(probe, mach_fire_named, a);
}
