/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * While they are on, a function's probe of its entry is in its typed, and the function has one that is never on:
 * then fire.c looks further.
 */
#include "ktr/provider/fbt/args.h"

#include "ktr/provider/fbt/fire.h"
#include "ktr/provider/fbt/members.h"
#include "ktr/provider/fbt/typed_sites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ktr_provider *args_provider;
static __thread struct ktr__fbt_types *args_types; /* of this thread, which is offering; NULL: it is not */

static struct ktr__fbt_function *args_function(const struct ktr_provider_probe *probe)
{
	return ktr__fbt_function((uint32_t)(uintptr_t)probe->context);
}

/* ---- where the probe of an entry is ---- */

void ktr__fbt_args_put(struct ktr__fbt_function *function, int end, struct ktr_provider_probe *probe)
{
	struct ktr__fbt_typed *typed = function->typed;

	if (end == KTR__FBT_ENTRY && typed && typed->on)
		__atomic_store_n(&typed->entry, probe, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&function->probe[end], probe, __ATOMIC_RELEASE);
}

/* Another one takes over: who is in the old one finds it as it was. */
static void args_on(struct ktr__fbt_function *function, struct ktr__fbt_typed *typed)
{
	struct ktr__fbt_typed *old = function->typed;
	bool was_on = old && old->on;
	struct ktr_provider_probe *probe = was_on ? old->entry : function->probe[KTR__FBT_ENTRY];

	__atomic_store_n(&typed->entry, probe, __ATOMIC_RELEASE);
	__atomic_store_n(&typed->on, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&function->typed, typed, __ATOMIC_RELEASE);
	__atomic_store_n(&function->probe[KTR__FBT_ENTRY], &ktr__fbt_none, __ATOMIC_RELEASE);
	if (!was_on || old == typed)
		return;
	__atomic_store_n(&old->on, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&old->entry, &ktr__fbt_none, __ATOMIC_RELEASE);
}

static void args_off(struct ktr__fbt_function *function)
{
	struct ktr__fbt_typed *typed = function->typed;

	if (!typed || !typed->on)
		return;
	__atomic_store_n(&function->probe[KTR__FBT_ENTRY], typed->entry, __ATOMIC_RELEASE);
	__atomic_store_n(&typed->on, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&typed->entry, &ktr__fbt_none, __ATOMIC_RELEASE);
}

void ktr__fbt_args_look(struct ktr__fbt_function *function, const char *module)
{
	struct ktr__fbt_typed *typed = function->typed;
	const struct ktr_provider_probe *probe;

	if (!typed || !typed->on || !(function->wanted & 3))
		return;
	probe = typed->entry != &ktr__fbt_none ? typed->entry : function->probe[KTR__FBT_RETURN];
	ktr__fbt_typed_sites(typed, module, probe->site.cls, function->wanted & 3);
}

struct ktr__fbt_details *ktr__fbt_details(struct ktr__fbt_function *function)
{
	if (!function->details)
		function->details = calloc(1, sizeof(*function->details));
	return function->details;
}

struct ktr__fbt_types *ktr__fbt_args_offers(struct ktr__fbt_types *types)
{
	struct ktr__fbt_types *before = args_types;

	args_types = types;
	return before;
}

int ktr__fbt_args_take(uint32_t number, struct ktr_error *why)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	const struct ktr__fbt_object *object = ktr__fbt_object_of(number);
	struct ktr__fbt_wish wish = { .args = function->details->args_on };
	struct ktr__fbt_types types = { NULL, NULL };
	struct ktr__fbt_typed *typed;
	int code;

	ktr__fbt_members_wished(function->details->members, &wish);
	if (!wish.args && !wish.n) {
		args_off(function);
		return 0;
	}
	if (!object || ktr__fbt_object_gone(object))
		return ktr_error_set(why, ENOENT, "its module is gone");
	code = ktr__fbt_typed_make(args_types ? args_types : &types, object, number, &wish, &typed);
	ktr__fbt_types_free(&types);
	if (code)
		return ktr_error_set(why, -code, code == -ENOMEM ? "there is no memory" :
				     "its types are not known: ktr types %s", object->path);
	args_on(function, typed);
	ktr__fbt_args_look(function, object->name);
	return 0;
}

/* ---- the provider's operations ---- */

static int args_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	struct ktr__fbt_details *details = args_function(probe)->details;
	int code;

	details->args_on = true;
	code = ktr__fbt_args_take((uint32_t)(uintptr_t)probe->context, why);
	details->args_on = !code;
	return code;
}

static void args_disable(struct ktr_provider_probe *probe)
{
	args_function(probe)->details->args_on = false;
	if (ktr__fbt_args_take((uint32_t)(uintptr_t)probe->context, NULL))
		args_off(args_function(probe));
}

static void args_destroy(struct ktr_provider_probe *probe)
{
	args_function(probe)->details->args = NULL;
}

/* Its arguments that are recorded, then its result. */
static int args_describe(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	const struct ktr__fbt_typed *typed = args_function(probe)->details->described;

	if (!typed || number >= typed->n + typed->n_results)
		return -ENOENT;
	arg->name = number < typed->n ? typed->name[number] : "result";
	arg->type = number < typed->n ? typed->type[number] : typed->result_type;
	arg->kind = number < typed->n ? typed->value[number].type : typed->result[0].type;
	return 0;
}

void ktr__fbt_args_offer(struct ktr__fbt_asked *asked, const struct ktr__fbt_object *object, uint32_t number,
			 const char *name, const char *part)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	const struct ktr__fbt_wish wish = { .args = true };
	char full[3 * KTR_PROVIDER_PART_MAX];
	struct ktr_provider_probe *probe;
	struct ktr__fbt_types *before;
	struct ktr__fbt_typed *typed;

	if (!args_provider || (function->details && function->details->args))
		return;
	snprintf(full, sizeof(full), "fbt_args:%s:%s:args", object->name, part);
	if (!ktr__fbt_is_asked(asked, function, KTR__FBT_ASKED_ARGS, full) ||
	    (!function->name && !(function->name = strdup(name))) || !ktr__fbt_details(function))
		return;
	/* First, for it is asked about them as it is offered. Without types it says so when it is enabled. */
	ktr__fbt_typed_make(&asked->types, object, number, &wish, &typed);
	function->details->described = typed;
	before = ktr__fbt_args_offers(&asked->types);
	if (!ktr_provider_offer(args_provider, object->name, part, "args", (void *)(uintptr_t)number, &probe))
		function->details->args = probe;
	ktr__fbt_args_offers(before);
}

void ktr__fbt_args_leave(struct ktr__fbt_function *function)
{
	if (!function->details)
		return;
	if (function->details->args)
		ktr_provider_remove(function->details->args);
	ktr__fbt_members_leave(function->details->members);
}

static const struct ktr_provider_ops args_ops = {
	.size = sizeof(args_ops),
	.provide = ktr__fbt_provide,
	.enable = args_enable,
	.disable = args_disable,
	.arg_desc = args_describe,
	.destroy = args_destroy,
};

void ktr__fbt_args_begin(void)
{
	if (ktr_provider_register("fbt_args", &args_ops, NULL, &args_provider))
		args_provider = NULL;
}
