/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * While they are on, a function's probe of its entry is in its typed, and the function has one that is never on:
 * then fire.c looks further.
 */
#include "ktr/provider/fbt/args.h"

#include "ktr/provider/fbt/fire.h"
#include "ktr/provider/fbt/typed_sites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct ktr_provider *args_provider;

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

static void args_on(struct ktr__fbt_function *function)
{
	struct ktr__fbt_typed *typed = function->typed;

	__atomic_store_n(&typed->entry, function->probe[KTR__FBT_ENTRY], __ATOMIC_RELEASE);
	__atomic_store_n(&typed->on, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&function->probe[KTR__FBT_ENTRY], &ktr__fbt_none, __ATOMIC_RELEASE);
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

/* ---- the provider's operations ---- */

static int args_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	uint32_t number = (uint32_t)(uintptr_t)probe->context;
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	const struct ktr__fbt_object *object = ktr__fbt_object_of(number);
	struct ktr__fbt_types types = { NULL, NULL };
	int code = 0;

	if (!object || ktr__fbt_object_gone(object))
		return ktr_error_set(why, ENOENT, "its module is gone");
	if (!function->typed)
		code = ktr__fbt_typed_make(&types, object, number);
	ktr__fbt_types_free(&types);
	if (code)
		return ktr_error_set(why, -code, code == -ENOMEM ? "there is no memory" :
				     "its types are not known: ktr types %s", object->path);
	args_on(function);
	ktr__fbt_args_look(function, object->name);
	return 0;
}

static void args_disable(struct ktr_provider_probe *probe)
{
	args_off(args_function(probe));
}

static void args_destroy(struct ktr_provider_probe *probe)
{
	args_function(probe)->args = NULL;
}

/* Its arguments that are recorded, then its result. */
static int args_describe(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	const struct ktr__fbt_typed *typed = args_function(probe)->typed;

	if (!typed || number >= typed->n + typed->has_result)
		return -ENOENT;
	arg->name = number < typed->n ? typed->name[number] : "result";
	arg->type = number < typed->n ? typed->type[number] : typed->result_type;
	arg->kind = number < typed->n ? typed->value[number].type : typed->result.type;
	return 0;
}

void ktr__fbt_args_offer(struct ktr__fbt_asked *asked, const struct ktr__fbt_object *object, uint32_t number,
			 const char *name, const char *part)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	char full[3 * KTR_PROVIDER_PART_MAX];
	struct ktr_provider_probe *probe;

	if (!args_provider || function->args)
		return;
	snprintf(full, sizeof(full), "fbt_args:%s:%s:args", object->name, part);
	if (!ktr__fbt_is_asked(asked, function, KTR__FBT_ASKED_ARGS, full) ||
	    (!function->name && !(function->name = strdup(name))))
		return;
	/* First, for it is asked about them as it is offered. Without types it says so when it is enabled. */
	ktr__fbt_typed_make(&asked->types, object, number);
	if (!ktr_provider_offer(args_provider, object->name, part, "args", (void *)(uintptr_t)number, &probe))
		function->args = probe;
}

void ktr__fbt_args_leave(struct ktr__fbt_function *function)
{
	if (function->args)
		ktr_provider_remove(function->args);
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
