/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider fbt: function boundaries. A program may have a hundred thousand functions of which one is of
 * interest, so names are looked up and probes offered only where a SPEC asks for them: debug.ktr.probes when an
 * object is loaded, or whoever asks later.
 *
 * Objects are never freed, so that lists can be walked at any time; one that comes again takes its old place.
 * What a provider's operations do is under the registry's lock; an object that goes says so before it has its
 * probes removed, under that lock, so that none is offered afterwards.
 */
#include "ktr/knob/probes_asked.h"
#include "ktr/provider/arcs/arcs.h"
#include "ktr/provider/fbt/args.h"
#include "ktr/provider/fbt/excluded.h"
#include "ktr/provider/fbt/filter.h"
#include "ktr/provider/fbt/fire.h"
#include "ktr/provider/fbt/members.h"
#include "ktr/provider/fbt/nearest.h"
#include "ktr/provider/fbt/object.h"
#include "ktr/provider/fbt/patch.h"
#include "ktr/provider/fbt/start.h"
#include "ktr/provider/fbt/typed_sites.h"
#include "ktr/start/attach.h"

#include "conf/eval/spec.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fbt_end[] = { [KTR__FBT_ENTRY] = "entry", [KTR__FBT_RETURN] = "return" };

static struct ktr_provider *fbt_provider;
static ktr__fbt_finder *fbt_find; /* NULL: all functions are built for it */
static pthread_once_t fbt_once = PTHREAD_ONCE_INIT;
/* A probe's context says which function, and which of its two ends. */
static void *fbt_context(uint32_t number, int end)
{
	return (void *)((uintptr_t)number << 1 | (uintptr_t)end);
}

static uint32_t fbt_number(const struct ktr_provider_probe *probe)
{
	return (uint32_t)((uintptr_t)probe->context >> 1);
}

static int fbt_which(const struct ktr_provider_probe *probe)
{
	return (int)((uintptr_t)probe->context & 1);
}

/* ---- scopes ---- */

static int fbt_scope_site(struct ktr_site *site, const struct ktr_provider_probe *probe, const char *name,
			  const char *verb)
{
	char format[KTR__FBT_FORMAT];
	int code;

	ktr__fbt_scope_format(format, name, verb, "none");
	site->cls = probe->site.cls;
	site->file = probe->module;
	site->func = probe->function;
	site->names = "key";
	site->n_args = 1;
	site->type[0] = KTR_ARG_U64;
	site->format = format;
	code = ktr__site_make(site);
	site->format = "";
	return code;
}

/* Without room in the session the two ends are events of their own. */
static void fbt_scope(struct ktr__fbt_function *function, const struct ktr_provider_probe *probe)
{
	struct ktr__fbt_scope *scope = function->scope ? NULL : calloc(1, sizeof(*scope));
	int code;

	if (!scope)
		return;
	code = fbt_scope_site(&scope->begin, probe, function->name, "start");
	code = code ? code : fbt_scope_site(&scope->end, probe, function->name, "stop");
	if (code)
		free(scope);
	else
		__atomic_store_n(&function->scope, scope, __ATOMIC_RELEASE);
}

/* ---- the provider's operations ---- */

static int fbt_lead(const struct ktr__fbt_object *object, uint32_t number)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	int code;

	if (object->kind)
		return object->kind->lead(object, number - object->first);
	code = ktr__fbt_patch_room(function, number, &object->module->trampoline);
	return code ? code : ktr__fbt_patch_switch(function, true);
}

int ktr__fbt_want(uint32_t number, uint32_t bit, struct ktr_error *why)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	const struct ktr__fbt_object *object = ktr__fbt_object_of(number);
	uint32_t before = function->wanted;
	int code;

	if (!object || ktr__fbt_object_gone(object))
		return ktr_error_set(why, ENOENT, "its module is gone");
	if (bit != KTR__FBT_COUNTED && ktr__fbt_is_excluded(function))
		return ktr_error_set(why, ENOTSUP, KTR__FBT_EXCLUDED);
	__atomic_fetch_or(&function->wanted, bit, __ATOMIC_RELAXED);
	if (before)
		return 0;
	code = fbt_lead(object, number);
	if (!code)
		return 0;
	__atomic_store_n(&function->wanted, before, __ATOMIC_RELAXED);
	/* Unloaded since it was looked for. */
	if (code == -ENOENT)
		return ktr_error_set(why, ENOENT, "its module is gone");
	return ktr_error_set(why, -code, "its text cannot be written: %s", strerror(-code));
}

void ktr__fbt_unwant(uint32_t number, uint32_t bit)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	const struct ktr__fbt_object *object = ktr__fbt_object_of(number);

	if (__atomic_and_fetch(&function->wanted, ~bit, __ATOMIC_RELAXED))
		return;
	if (object->kind)
		object->kind->let_go(object, number - object->first);
	else
		ktr__fbt_patch_switch(function, false);
}

static int fbt_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	uint32_t number = fbt_number(probe), bit = 1u << fbt_which(probe);
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	const struct ktr__fbt_object *object = ktr__fbt_object_of(number);
	int code;

	if (!object || ktr__fbt_object_gone(object))
		return ktr_error_set(why, ENOENT, "its module is gone");
	if (ktr__fbt_is_excluded(function))
		return ktr_error_set(why, ENOTSUP, KTR__FBT_EXCLUDED);
	/* By who offers it: that has not returned yet. */
	ktr__fbt_args_put(function, fbt_which(probe), probe);
	ktr__fbt_filter_class(probe->site.cls);
	if (((function->wanted | bit) & 3) == 3) {
		fbt_scope(function, probe);
		ktr__fbt_filter_scope(function);
	}
	code = ktr__fbt_want(number, bit, why);
	if (!code)
		ktr__fbt_args_look(function, object->name);
	return code;
}

static void fbt_disable(struct ktr_provider_probe *probe)
{
	struct ktr__fbt_function *function = ktr__fbt_function(fbt_number(probe));

	ktr__fbt_unwant(fbt_number(probe), 1u << fbt_which(probe));
	ktr__fbt_args_look(function, ktr__fbt_object_of(fbt_number(probe))->name);
}

static void fbt_destroy(struct ktr_provider_probe *probe)
{
	struct ktr__fbt_function *function = ktr__fbt_function(fbt_number(probe));

	ktr__fbt_args_put(function, fbt_which(probe), &ktr__fbt_none);
}

static int fbt_no_argument(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	(void)probe;
	(void)number;
	(void)arg;
	return -ENOENT;
}

void ktr__fbt_part(char part[KTR_PROVIDER_PART_MAX + 1], const char *name)
{
	size_t n = 0;

	for (; *name && n < KTR_PROVIDER_PART_MAX; name++)
		if (*name != ':')
			part[n++] = *name;
		else if (name[1] == ':')
			part[n++] = '.';
	part[n] = '\0';
}

bool ktr__fbt_is_asked(const struct ktr__fbt_asked *asked, struct ktr__fbt_function *function, int which,
		       const char *full)
{
	uint8_t bit = (uint8_t)(1u << which);

	if (__atomic_load_n(&function->asked, __ATOMIC_RELAXED) & bit)
		return true;
	if (!(asked->spec ? ktr__spec_fits(asked->spec, strlen(asked->spec), full) : ktr__probe_asked("", full)))
		return false;
	__atomic_fetch_or(&function->asked, bit, __ATOMIC_RELAXED);
	return true;
}

/* NULL: it can be probed. */
static const char *fbt_why_not(const struct ktr__fbt_object *object, uint32_t number, const char *name, int end)
{
	const struct ktr__fbt_function *function = ktr__fbt_function(number);
	uint8_t out = __atomic_load_n(&function->excluded, __ATOMIC_RELAXED);
	const char *why = NULL;

	if (out & KTR__FBT_OUT_KIND)
		why = object->kind->why_not(object, number - object->first, *name == '+' ? NULL : name);
	else if (out & KTR__FBT_OUT_RECORDER)
		why = KTR__FBT_EXCLUDED;
	else if (out & KTR__FBT_OUT_RETURN && end == KTR__FBT_RETURN)
		why = KTR__FBT_NO_RETURN;
	return why;
}

static void fbt_offer(void *context, struct ktr__fbt_object *object, uint32_t number, const char *name)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	char full[3 * KTR_PROVIDER_PART_MAX], part[KTR_PROVIDER_PART_MAX + 1];
	struct ktr__fbt_asked *asked = context;
	struct ktr_provider_probe *probe;
	const char *why;

	if (ktr__fbt_object_gone(object))
		return;
	ktr__fbt_part(part, name);
	for (int end = 0; end < 2; end++) {
		snprintf(full, sizeof(full), "fbt:%s:%s:%s", object->name, part, fbt_end[end]);
		if (!ktr__fbt_is_asked(asked, function, end, full))
			continue;
		why = fbt_why_not(object, number, name, end);
		if (why && !*why)
			return;
		if (!function->name && !(function->name = strdup(name)))
			return;
		if (ktr_provider_offer(fbt_provider, object->name, part, fbt_end[end], fbt_context(number, end),
				       &probe))
			continue;
		ktr__fbt_args_put(function, end, probe);
		if (why)
			ktr_provider_exclude(probe, why);
	}
	if (ktr__fbt_is_excluded(function))
		return;
	ktr__fbt_args_offer(asked, object, number, name, part);
	ktr__fbt_members_offer(asked, object, number, name, part);
	if (ktr__fbt_returns(function))
		ktr__fbt_filter_offer(asked, object, number, name, part);
}

static void fbt_offer_all(struct ktr__fbt_asked *asked)
{
	for (struct ktr__fbt_object *at = ktr__fbt_objects(); at; at = at->next)
		ktr__fbt_object_names(at, fbt_offer, asked);
	ktr__fbt_types_free(&asked->types);
}

/* May a SPEC be for us? What is before its first colon is a glob, too. */
static bool fbt_is_meant(const char *spec, const char *ours)
{
	const char *colon = strchr(spec, ':');
	char first[64];

	if (!colon || (size_t)(colon - spec) >= sizeof(first) - 4)
		return false;
	snprintf(first, sizeof(first), "%.*s:::", (int)(colon - spec), spec);
	return ktr__spec_fits(first, strlen(first), ours);
}

static int fbt_found(void *context, const char *name, int on)
{
	(void)context;
	(void)name;
	(void)on;
	return 1;
}

/* What it may have meant. */
static void fbt_offer_nearest(const char *spec)
{
	char nearest[3 * KTR_PROVIDER_PART_MAX];
	struct ktr__fbt_asked asked = { .spec = nearest };

	if (fbt_is_meant(spec, "fbt_member::x:") && ktr__fbt_members_beside(spec, nearest, sizeof(nearest))) {
		fbt_offer_all(&asked);
		if (ktr_provider_walk(nearest, fbt_found, NULL))
			return;
	}
	if (ktr__fbt_nearest(spec, nearest, sizeof(nearest)))
		fbt_offer_all(&asked);
}

/* All providers are asked: the first offers all of a function's. */
void ktr__fbt_provide(struct ktr_provider *provider, const char *spec)
{
	struct ktr__fbt_asked asked = { .spec = spec };

	if (!spec || provider != fbt_provider ||
	    (!fbt_is_meant(spec, "fbt::x:") && !fbt_is_meant(spec, "fbt_args::x:") &&
	     !fbt_is_meant(spec, "fbt_member::x:") && !fbt_is_meant(spec, "fbt_caller::x:")))
		return;
	if (fbt_find)
		fbt_find(provider, spec);
	fbt_offer_all(&asked);
	if (!ktr_provider_walk(spec, fbt_found, NULL))
		fbt_offer_nearest(spec);
}

/* What has been loaded meanwhile, of what debug.ktr.probes asks for. */
static void fbt_look(struct ktr_provider *provider)
{
	struct ktr__fbt_asked asked = { .spec = NULL };

	if (fbt_find && provider == fbt_provider && fbt_find(provider, NULL) && ktr__probe_asked("", ""))
		fbt_offer_all(&asked);
}

/* Whatever was loaded: ktr__fbt_start() has the lock that way. */
static void fbt_module(struct ktr_provider *provider, const struct ktr_provider_module *module)
{
	(void)module;
	fbt_look(provider);
}

static const struct ktr_provider_ops fbt_ops = {
	.size = sizeof(fbt_ops),
	.provide = ktr__fbt_provide,
	.enable = fbt_enable,
	.disable = fbt_disable,
	.arg_desc = fbt_no_argument,
	.destroy = fbt_destroy,
	.look = fbt_look,
	.provide_module = fbt_module,
};

/* ---- modules ---- */

static bool fbt_ends; /* the process: its threads may go on until it is no more. Atomic */

static void fbt_exit(void)
{
	__atomic_store_n(&fbt_ends, true, __ATOMIC_RELEASE);
}

static void fbt_begin(void)
{
	atexit(fbt_exit); /* before any destructor */
	ktr__module_attach(&ktr__module_entry); /* the gate that we look at */
	ktr__fbt_fire_begin();
	if (ktr_provider_register("fbt", &fbt_ops, NULL, &fbt_provider))
		fbt_provider = NULL;
	if (!fbt_provider)
		return;
	ktr__fbt_args_begin();
	ktr__fbt_members_begin();
	ktr__fbt_filter_begin();
	ktr__arcs_begin();
}

void ktr__fbt_start(ktr__fbt_finder *find)
{
	pthread_once(&fbt_once, fbt_begin);
	if (!fbt_provider)
		return;
	fbt_find = find;
	ktr_provider_module_loaded(&(struct ktr_provider_module){ .path = "" });
}

/* It was loaded before, and somebody has asked for functions of it. */
static bool fbt_comes_back(const struct ktr__fbt_object *object)
{
	for (uint32_t i = 0; i < object->n; i++)
		if (__atomic_load_n(&ktr__fbt_function(object->first + i)->asked, __ATOMIC_RELAXED))
			return true;
	return false;
}

__attribute__((visibility("default"))) int ktr__fbt_attach(struct ktr__fbt_module *module)
{
	struct ktr__fbt_asked asked = { .spec = NULL };
	struct ktr__fbt_object *object;
	int code;

	if (module->attached)
		return 0;
	module->attached = 1;
	pthread_once(&fbt_once, fbt_begin);
	code = fbt_provider ? ktr__fbt_object_new(module, &object) : -ENXIO;
	if (!code && object && (ktr__probe_asked("", "") || fbt_comes_back(object)))
		ktr__fbt_object_names(object, fbt_offer, &asked);
	if (!code && object)
		ktr__arcs_object(object);
	ktr__fbt_types_free(&asked.types);
	return code;
}

/*
 * It is unloaded. Its text is there still: whatever is on is switched off as it is removed. Not when the
 * process ends, when other threads may be in the trampoline.
 */
__attribute__((visibility("default"))) int ktr__fbt_detach(struct ktr__fbt_module *module)
{
	bool ends = __atomic_load_n(&fbt_ends, __ATOMIC_ACQUIRE);
	struct ktr__fbt_object *object = ends ? NULL : ktr__fbt_object_leave(module);

	if (object) {
		ktr__fbt_filter_leave(object);
		ktr__arcs_leave(object);
	}
	for (uint32_t i = 0; object && i < object->n; i++) {
		struct ktr__fbt_function *function = ktr__fbt_function(object->first + i);

		ktr__fbt_args_leave(function);
		for (int end = 0; end < 2; end++)
			if (function->probe[end] != &ktr__fbt_none)
				ktr_provider_remove(function->probe[end]);
	}
	return 0;
}
