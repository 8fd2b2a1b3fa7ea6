/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider heap: who asks for memory, and who gives it back. It is there in programs that were started with a
 * probe of it asked for (debug.ktr.probes), where their calls come to us (calls.c); and in those that the agent was
 * put into, which call the C library whatever is loaded later: there the objects' pointers are led to us.
 *
 * heap:::sample-512k is offered where it is asked for, for whatever number of bytes; one at a time is on.
 *
 * While no probe is on, a call of the program's goes through a few instructions and a jump.
 */
#include "ktr/provider/heap/heap.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/heap/calls.h"
#include "ktr/provider/heap/operators.h"
#include "ktr/provider/heap/probes.h"
#include "ktr/provider/heap/sampled.h"
#include "ktr/provider/heap/traced.h"
#include "ktr/provider/imports/image.h"
#include "ktr/provider/profile/stacks.h"
#include "ktr/record/module.h"
#include "ktr/record/own.h"
#include "ktr/start/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAP_PERIOD_MOST (1ull << 40) /* [bytes] */

struct ktr_provider_probe *ktr__heap_probe[KTR__HEAP_N];
uint64_t ktr__heap_period;

static const char *const heap_name[] = {
#define HEAP_NAME(id, name, arguments) [KTR__HEAP_##id] = name,
	KTR__HEAP_PROBES(HEAP_NAME)
};

static const char *const heap_arguments[] = {
#define HEAP_ARGUMENTS(id, name, arguments) [KTR__HEAP_##id] = arguments,
	KTR__HEAP_PROBES(HEAP_ARGUMENTS)
};

/* ---- which calls are led to us ---- */

#define HEAP_GETS  (KTR__HEAP_BIT(ALLOC) | KTR__HEAP_BIT(ALLOC_STACK) | KTR__HEAP_BIT(SAMPLE) | KTR__HEAP_BIT(FAIL))
#define HEAP_GIVES (KTR__HEAP_BIT(FREE) | KTR__HEAP_BIT(SAMPLED_FREE) | KTR__HEAP_BIT(SAMPLE))

#define HEAP_MAPS  (KTR__HEAP_BIT(MAP) | KTR__HEAP_BIT(MAP_FAIL))

static void heap_lead(void)
{
	uint32_t on = ktr__heap_near.on;

#define HEAP_LEAD(name, probes)                                                                  \
	__atomic_store_n(&ktr__heap_near.way.name,                                                    \
			 on & (probes) ? ktr__traced_##name : ktr__heap_near.real.name, __ATOMIC_RELEASE)
	HEAP_LEAD(malloc, HEAP_GETS);
	HEAP_LEAD(calloc, HEAP_GETS);
	HEAP_LEAD(posix_memalign, HEAP_GETS);
	HEAP_LEAD(aligned_alloc, HEAP_GETS);
	HEAP_LEAD(memalign, HEAP_GETS);
	HEAP_LEAD(valloc, HEAP_GETS);
	HEAP_LEAD(pvalloc, HEAP_GETS);
	HEAP_LEAD(realloc, HEAP_GETS | HEAP_GIVES | KTR__HEAP_BIT(REALLOC));
	HEAP_LEAD(free, KTR__HEAP_BIT(FREE)); /* of samples: calls.c */
	HEAP_LEAD(mmap, HEAP_MAPS);
	HEAP_LEAD(mmap64, HEAP_MAPS);
	HEAP_LEAD(munmap, KTR__HEAP_BIT(UNMAP) | KTR__HEAP_BIT(MAP_FAIL));
	HEAP_LEAD(mremap, HEAP_MAPS | KTR__HEAP_BIT(UNMAP) | KTR__HEAP_BIT(REMAP));
}

/* ---- samples ---- */

/* Of "sample-512k": bytes; 0: it is no name of ours. k, m and g are powers of 1,024. */
static uint64_t heap_sample_period(const char *name, size_t length)
{
	static const char begin[] = "sample-", units[] = "kmg";
	uint64_t n = 0;
	size_t at = sizeof(begin) - 1;
	const char *unit;

	if (length <= at || length > at + 16 || memcmp(name, begin, at) != 0)
		return 0;
	for (; at < length && name[at] >= '0' && name[at] <= '9' && n <= HEAP_PERIOD_MOST; at++)
		n = n * 10 + (uint64_t)(name[at] - '0');
	unit = at + 1 == length ? strchr(units, name[at]) : NULL;
	if ((at != length && !unit) || n > HEAP_PERIOD_MOST)
		return 0;
	n = unit ? n << 10 * (unit - units + 1) : n;
	return n <= HEAP_PERIOD_MOST ? n : 0;
}

static void heap_offer_sample(struct ktr_provider *provider, const char *spec, size_t length)
{
	const char *colon = memrchr(spec, ':', length);
	struct ktr_provider_probe *probe;
	char name[32];

	if (colon) {
		length -= (size_t)(colon + 1 - spec);
		spec = colon + 1;
	}
	if (!heap_sample_period(spec, length))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)length, spec);
	ktr_provider_offer(provider, NULL, NULL, name, (void *)(uintptr_t)KTR__HEAP_SAMPLE, &probe);
}

/* ---- the provider's operations ---- */

static bool heap_is_late; /* the program ran already */

static enum ktr__heap_number heap_number(const struct ktr_provider_probe *probe)
{
	return (enum ktr__heap_number)(uintptr_t)probe->context;
}

static void heap_provide(struct ktr_provider *provider, const char *spec)
{
	struct ktr_provider_probe *probe;
	size_t length;

	if (spec) {
		heap_offer_sample(provider, spec, strlen(spec));
		return;
	}
	for (unsigned i = 0; i < KTR__HEAP_SAMPLE; i++)
		ktr_provider_offer(provider, NULL, NULL, heap_name[i], (void *)(uintptr_t)i, &probe);
	for (const char *at = ktr__probes_list(); *at; at += length + (at[length] == ',')) {
		at += strspn(at, " \t");
		length = strcspn(at, ",");
		heap_offer_sample(provider, at, length);
	}
}

static int heap_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	enum ktr__heap_number number = heap_number(probe);

	if (!ktr__heap_is_first)
		return ktr_error_set(why, ENOTSUP, "the program gets its memory of another object than the agent's, "
				     "which was there first");
	if (number == KTR__HEAP_SAMPLE && ktr__heap_is_on(KTR__HEAP_SAMPLE))
		return ktr_error_set(why, EBUSY, "%s is on, and there is one rate at a time",
				     ktr__heap_probe[KTR__HEAP_SAMPLE]->name);
	if (ktr__own_session()->sealed)
		return ktr_error_set(why, EPERM, "it is in a sandbox");
	/* What was sampled before was given back while nobody looked, it may be. */
	if (number == KTR__HEAP_SAMPLE) {
		ktr__sampled_clear();
		__atomic_store_n(&ktr__heap_period, heap_sample_period(probe->name, strlen(probe->name)),
				 __ATOMIC_RELEASE);
	}
	if (heap_is_late && ktr__imports_lead(&ktr__heap_imports, why))
		return -why->code;
	ktr__operators_lead();
	ktr__image_look();
	if (number == KTR__HEAP_SAMPLE || number == KTR__HEAP_ALLOC_STACK || number == KTR__HEAP_MAP)
		ktr__stacks_look();
	__atomic_store_n(&ktr__heap_probe[number], probe, __ATOMIC_RELEASE);
	/* Threads see that there is something new by a word that never was before. */
	__atomic_fetch_add(&ktr__heap_near.on, KTR__HEAP_TURN, __ATOMIC_RELEASE);
	__atomic_fetch_or(&ktr__heap_near.on, KTR__HEAP_BIT_OF(number), __ATOMIC_RELEASE);
	heap_lead();
	return 0;
}

static void heap_restore(void)
{
	ktr__imports_restore(&ktr__heap_imports);
	ktr__operators_restore();
}

static void heap_disable(struct ktr_provider_probe *probe)
{
	if (ktr__heap_probe[heap_number(probe)] != probe)
		return;
	__atomic_fetch_and(&ktr__heap_near.on, ~KTR__HEAP_BIT_OF(heap_number(probe)), __ATOMIC_RELEASE);
	heap_lead();
	if (!(ktr__heap_near.on & (KTR__HEAP_TURN - 1)))
		heap_restore();
}

static const struct ktr_provider_arg heap_kinds[] = {
	{ "block", "void *", KTR_ARG_PTR },   { "size", "size_t", KTR_ARG_I64 },
	{ "period", "size_t", KTR_ARG_I64 },  { "caller", "void *", KTR_ARG_PTR },
	{ "stack", "stack", KTR_ARG_STACK },  { "new_size", "size_t", KTR_ARG_I64 },
	{ "flags", "int", KTR_ARG_I32 },
};

static int heap_argument(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	const char *at = heap_arguments[heap_number(probe)];
	size_t length = strcspn(at, " ");

	for (; number && at[length]; number--) {
		at += length + 1;
		length = strcspn(at, " ");
	}
	for (unsigned i = 0; !number && i < sizeof(heap_kinds) / sizeof(heap_kinds[0]); i++)
		if (strlen(heap_kinds[i].name) == length && strncmp(heap_kinds[i].name, at, length) == 0) {
			*arg = heap_kinds[i];
			return 0;
		}
	return -ENOENT;
}

/* Once a second, and when a stack went through something new. */
static void heap_look(struct ktr_provider *provider)
{
	(void)provider;
	ktr__image_look();
	ktr__imports_look(&ktr__heap_imports);
	ktr__operators_again();
	if (ktr__heap_near.on & (KTR__HEAP_BIT(SAMPLE) | KTR__HEAP_BIT(ALLOC_STACK) | KTR__HEAP_BIT(MAP)))
		ktr__stacks_look();
}

static const struct ktr_provider_ops heap_ops = {
	.size = sizeof(heap_ops),
	.provide = heap_provide,
	.enable = heap_enable,
	.disable = heap_disable,
	.arg_desc = heap_argument,
	.look = heap_look,
};

/* Is any of them wanted from the start? */
static bool heap_is_asked(void)
{
	size_t length;

	for (const char *at = ktr__probes_list(); *at; at += length + (at[length] == ',')) {
		at += strspn(at, " \t");
		length = strcspn(at, ",");
		if (length > 5 && strncmp(at, "heap:", 5) == 0)
			return true;
	}
	return false;
}

static bool heap_is_there;

static void heap_begin_it(bool at_start)
{
	struct ktr_provider *provider;

	heap_is_there = true;
	if (!heap_is_late)
		ktr__operators_look(at_start);
	ktr__stacks_want();
	ktr_provider_register("heap", &heap_ops, NULL, &provider);
}

void ktr__heap_begin(void)
{
	if (heap_is_there)
		return;
	ktr__heap_resolve();
	if (heap_is_late)
		ktr__heap_is_first = 1;
	else
		ktr__heap_look_first();
	heap_begin_it(false);
}

__attribute__((constructor)) static void heap_loaded(void)
{
	heap_is_late = gettid() != getpid();
	if (heap_is_late)
		return; /* `ktr attach` */
	ktr__heap_resolve();
	ktr__module_attach(&ktr__module_entry);
	if (!heap_is_asked())
		return;
	ktr__heap_look_first();
	heap_begin_it(true);
}
