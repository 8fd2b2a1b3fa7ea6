/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of the session are looked at each time that its probes are, which is when somebody outside has changed
 * something and says so, and once a second. Everything but the trampolines' modules is under the registry's lock.
 */
#include "ktr/provider/fbt/filter.h"

#include "ktr/provider/fbt/fire.h"
#include "ktr/provider/fbt/typed_sites.h"
#include "ktr/record/own.h"
#include "ktr/session/clock.h"
#include "ktr/start/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILTER_APART_NS 10000000 /* between two moments that tell the clock's rate: 10 ppm at the least */
#define FILTER_NAPS	50
#define FILTER_BUCKETS	4096u /* chains of callers; all of a hundred thousand functions may be asked for */

/* A function that somebody wanted as a caller. */
struct filter_caller {
	struct filter_caller *next;
	struct ktr_provider_probe *probe; /* NULL: it is gone */
	uint32_t number;
};

struct ktr__fbt_filter ktr__fbt_filter;

static struct ktr_provider *filter_provider;
static const struct ktr_class *filter_cls; /* NULL: no function is on */
static struct filter_caller *filter_callers[FILTER_BUCKETS]; /* by number */
static uint32_t filter_n_callers; /* whose probe is on */

/* ---- the clock ---- */

/* The session's first moment, and this one: the longer ago, the better. */
static uint32_t filter_rate(const struct ktr__session_rw *session)
{
	const struct ktr_anchor *row = ktr__session_at(session, KTR_REGION_anchor, 0);
	struct ktr_anchor first = { .state = KTR_ROW_FREE }, now;
	uint32_t clock = session->header.clock;

	if (clock == KTR_CLOCK_MONOTONIC)
		return 1u << KTR__FBT_RATE;
	if (row && __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == KTR_ROW_READY)
		first = *row;
	ktr__clock_anchor(clock, &now);
	if (!first.state || now.mono_ns <= first.mono_ns || now.ticks <= first.ticks)
		first = now;
	for (int i = 0; i < FILTER_NAPS && now.mono_ns - first.mono_ns < FILTER_APART_NS; i++) {
		ktr__nap();
		ktr__clock_anchor(clock, &now);
	}
	if (now.ticks == first.ticks)
		return 1u << KTR__FBT_RATE;
	return (uint32_t)((double)(now.mono_ns - first.mono_ns) * (1u << KTR__FBT_RATE) /
			  (double)(now.ticks - first.ticks));
}

/* ---- what is wanted ---- */

/* Beside its format stands how long ago it was, in the words that readers know: analyze/spans/spans.c. */
void ktr__fbt_filter_scope(struct ktr__fbt_function *function)
{
	struct ktr__fbt_scope *scope = function->scope;
	struct ktr_site *site = scope && !scope->late && ktr__fbt_filter.longer ? calloc(1, sizeof(*site)) : NULL;
	char format[KTR__FBT_FORMAT];
	int code;

	if (!site)
		return;
	*site = (struct ktr_site){ .cls = scope->begin.cls, .file = scope->begin.file, .func = scope->begin.func,
				   .names = "key,late_ns", .n_args = 2, .type = { KTR_ARG_U64, KTR_ARG_U64 } };
	ktr__fbt_scope_format(format, function->name, "start", "late_ns:%ju");
	site->format = format;
	code = ktr__site_make(site);
	site->format = "";
	if (code)
		free(site);
	else
		__atomic_store_n(&scope->late, site, __ATOMIC_RELEASE);
}

static void filter_scopes(void)
{
	for (struct ktr__fbt_object *at = ktr__fbt_objects(); at; at = at->next)
		for (uint32_t i = 0; i < at->n; i++)
			ktr__fbt_filter_scope(ktr__fbt_function(at->first + i));
}

static void filter_note(void)
{
	static struct ktr_site site = { .file = "fbt", .func = "filter", .names = "longer_ns,depth,within",
					.n_args = 3, .type = { KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_U64 } };

	if (!filter_cls || !ktr__fbt_filter.is_on || ktr__fbt_filter.note)
		return;
	site.cls = filter_cls;
	site.format = "only calls: longer_ns=%ju depth=%ju within=%ju";
	if (!ktr__site_make(&site))
		__atomic_store_n(&ktr__fbt_filter.note, &site, __ATOMIC_RELEASE);
}

void ktr__fbt_filter_class(const struct ktr_class *cls)
{
	filter_cls = cls;
	filter_note();
}

void ktr__fbt_filter_look(struct ktr_provider *provider)
{
	const struct ktr__session_rw *session = ktr__own_session();
	const struct ktr_control *control = session->map ? session->control : NULL;
	uint64_t longer_ns = control ? __atomic_load_n(&control->fbt_longer_ns, __ATOMIC_RELAXED) : 0, longer = 0;
	uint32_t depth = control ? (uint32_t)__atomic_load_n(&control->fbt_depth, __ATOMIC_RELAXED) : 0, rate;
	bool within = filter_n_callers || (control && __atomic_load_n(&control->fbt_within, __ATOMIC_RELAXED));

	(void)provider;
	if (longer_ns) {
		rate = filter_rate(session);
		ktr__fbt_filter.clock = session->header.clock;
		__atomic_store_n(&ktr__fbt_filter.ns_per_tick, rate, __ATOMIC_RELAXED);
		longer = rate ? (uint64_t)((double)longer_ns * (1u << KTR__FBT_RATE) / rate) : 0;
		longer += !longer;
	}
	if (longer && !ktr__fbt_filter.longer) {
		__atomic_store_n(&ktr__fbt_filter.longer, longer, __ATOMIC_RELAXED);
		filter_scopes();
	}
	__atomic_store_n(&ktr__fbt_filter.longer, longer, __ATOMIC_RELAXED);
	__atomic_store_n(&ktr__fbt_filter.depth, depth, __ATOMIC_RELAXED);
	__atomic_store_n(&ktr__fbt_filter.within, within, __ATOMIC_RELAXED);
	ktr__fbt_filter.is_on = longer || depth || within;
	filter_note();
	ktr__fbt_objects_lead(ktr__fbt_filter.is_on);
}

/* ---- callers ---- */

static int filter_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	uint32_t number = ((struct filter_caller *)probe->context)->number;
	int code;

	filter_n_callers++;
	ktr__fbt_filter_look(filter_provider);
	code = ktr__fbt_want(number, KTR__FBT_CALLER, why);
	if (code) {
		filter_n_callers--;
		ktr__fbt_filter_look(filter_provider);
	}
	return code;
}

static void filter_disable(struct ktr_provider_probe *probe)
{
	ktr__fbt_unwant(((struct filter_caller *)probe->context)->number, KTR__FBT_CALLER);
	filter_n_callers--;
	ktr__fbt_filter_look(filter_provider);
}

static void filter_destroy(struct ktr_provider_probe *probe)
{
	((struct filter_caller *)probe->context)->probe = NULL;
}

static int filter_no_argument(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	(void)probe;
	(void)number;
	(void)arg;
	return -ENOENT;
}

/* One that was there before comes back. */
static struct filter_caller *filter_caller(uint32_t number)
{
	struct filter_caller **bucket = &filter_callers[number % FILTER_BUCKETS], *at = *bucket;

	while (at && at->number != number)
		at = at->next;
	if (at)
		return at;
	at = calloc(1, sizeof(*at));
	if (at) {
		at->number = number;
		at->next = *bucket;
		*bucket = at;
	}
	return at;
}

void ktr__fbt_filter_offer(struct ktr__fbt_asked *asked, const struct ktr__fbt_object *object, uint32_t number,
			   const char *name, const char *part)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	char full[3 * KTR_PROVIDER_PART_MAX];
	struct ktr_provider_probe *probe;
	struct filter_caller *caller;

	if (!filter_provider)
		return;
	snprintf(full, sizeof(full), "fbt_caller:%s:%s:within", object->name, part);
	if (!ktr__fbt_is_asked(asked, function, KTR__FBT_ASKED_CALLER, full) ||
	    (!function->name && !(function->name = strdup(name))))
		return;
	caller = filter_caller(number);
	if (caller && !caller->probe &&
	    !ktr_provider_offer(filter_provider, object->name, part, "within", caller, &probe))
		caller->probe = probe;
}

void ktr__fbt_filter_leave(const struct ktr__fbt_object *object)
{
	for (uint32_t i = 0; i < FILTER_BUCKETS; i++)
		for (struct filter_caller *at = filter_callers[i]; at; at = at->next)
			if (at->probe && at->number - object->first < object->n)
				ktr_provider_remove(at->probe);
}

static const struct ktr_provider_ops filter_ops = {
	.size = sizeof(filter_ops),
	.provide = ktr__fbt_provide,
	.enable = filter_enable,
	.disable = filter_disable,
	.arg_desc = filter_no_argument,
	.destroy = filter_destroy,
	.look = ktr__fbt_filter_look,
};

void ktr__fbt_filter_begin(void)
{
	if (ktr_provider_register("fbt_caller", &filter_ops, NULL, &filter_provider))
		filter_provider = NULL;
}
