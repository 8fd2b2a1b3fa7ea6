/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider fbt_count: a probe for each object, without events, whose functions are patched while it is on. What
 * they do then is in table.c.
 */
#include "ktr/provider/arcs/arcs.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/arcs/table.h"
#include "ktr/provider/modules/modules.h"
#include "ktr/record/own.h"

#include "conf/eval/spec.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct ktr_provider *arcs_provider;
static bool arcs_all; /* ktr_control.prof_all, when last looked at. Atomic */

/* Are calls of what is loaded to be counted, too? */
static bool arcs_look_all(void)
{
	const struct ktr__session_rw *own = ktr__own_session();

	if (own->map)
		__atomic_store_n(&arcs_all,
				 __atomic_load_n(&own->control->prof_all, __ATOMIC_ACQUIRE) != KTR_PROF_NONE,
				 __ATOMIC_RELAXED);
	return own->map && __atomic_load_n(&arcs_all, __ATOMIC_RELAXED);
}

/* ---- objects that come and go ---- */

static uint32_t arcs_row(const struct ktr__fbt_object *object)
{
	struct ktr__object of = { .base = object->base, .end = object->end };

	of.build_id_bytes = object->build_id_bytes;
	memcpy(of.build_id, object->build_id, sizeof(of.build_id));
	snprintf(of.path, sizeof(of.path), "%s", object->path);
	return ktr__modules_row(&of);
}

/* It is there: calls that were counted while it lay here before are known by their addresses again. */
static void arcs_come(struct ktr__fbt_object *object)
{
	struct ktr__arcs_past *past = &object->past;

	arcs_row(object);
	if (past->row && past->epoch == ktr__arcs_epoch() && past->base == object->base)
		ktr__arcs_mark(object->base, object->end, past->row, 0);
	past->row = 0;
	past->is_counted = true;
}

/* It goes, and another one may come to lie there. */
static void arcs_go(struct ktr__fbt_object *object)
{
	struct ktr__arcs_past *past = &object->past;
	uint32_t row = past->is_counted ? arcs_row(object) : 0;

	if (!past->is_counted)
		return;
	past->row = row && row < KTR_ARC_GONE ? row : KTR_ARC_GONE;
	past->epoch = ktr__arcs_epoch();
	past->base = object->base;
	past->is_counted = false;
	ktr__arcs_mark(object->base, object->end, 0, past->row);
}

/* ---- the provider's operations ---- */

static int arcs_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	struct ktr__fbt_object *object = probe->context;
	int code = 0, one;
	uint32_t n = 0;

	if (ktr__fbt_object_gone(object))
		return ktr_error_set(why, ENOENT, "its module is gone");
	if (!ktr__arcs_follow())
		return ktr_error_set(why, ENOSPC, "there is no session, or no memory in it");
	arcs_look_all();
	arcs_come(object);
	ktr__fbt_object_count(object, true);
	for (uint32_t i = 0; i < object->n; i++) {
		one = ktr__fbt_want(object->first + i, KTR__FBT_COUNTED, why);
		n += one == 0;
		code = one ? one : code;
	}
	if (n)
		return 0;
	ktr__fbt_object_count(object, false);
	return code;
}

static void arcs_disable(struct ktr_provider_probe *probe)
{
	struct ktr__fbt_object *object = probe->context;

	arcs_look_all();
	for (uint32_t i = 0; i < object->n; i++)
		ktr__fbt_unwant(object->first + i, KTR__FBT_COUNTED);
	ktr__fbt_object_count(object, false);
}

static void arcs_destroy(struct ktr_provider_probe *probe)
{
	struct ktr__fbt_object *object = probe->context;

	object->arcs = NULL;
	if (ktr__fbt_object_gone(object))
		arcs_go(object);
}

static int arcs_no_argument(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	(void)probe;
	(void)number;
	(void)arg;
	return -ENOENT;
}

static void arcs_offer(struct ktr__fbt_object *object, const char *spec)
{
	char full[KTR_PROVIDER_PART_MAX + 32];
	struct ktr_provider_probe *probe;

	if (!arcs_provider || object->kind || ktr__fbt_object_gone(object) || object->arcs)
		return;
	snprintf(full, sizeof(full), "fbt_count:%s::arcs", object->name);
	object->arcs_asked |= spec ? ktr__spec_fits(spec, strlen(spec), full) :
				     ktr__probe_asked("", full) || arcs_look_all();
	if (object->arcs_asked &&
	    !ktr_provider_offer(arcs_provider, object->name, "", "arcs", object, &probe))
		object->arcs = probe;
}

static void arcs_provide(struct ktr_provider *provider, const char *spec)
{
	if (provider != arcs_provider)
		return;
	for (struct ktr__fbt_object *at = ktr__fbt_objects(); at; at = at->next)
		arcs_offer(at, spec);
}

/* The process may have another session by now. */
static void arcs_look(struct ktr_provider *provider)
{
	(void)provider;
	for (struct ktr__fbt_object *at = ktr__fbt_objects(); at; at = at->next)
		if (at->counted) {
			ktr__arcs_follow();
			break;
		}
}

void ktr__arcs_object(struct ktr__fbt_object *object)
{
	arcs_offer(object, NULL);
	/* Whoever switches all of them off says so first. */
	if (object->arcs && arcs_look_all() && !ktr_provider_enabled(object->arcs)) {
		ktr_provider_switch(object->arcs, 1, NULL);
		if (!arcs_look_all())
			ktr_provider_switch(object->arcs, 0, NULL);
	}
}

void ktr__arcs_leave(struct ktr__fbt_object *object)
{
	if (object->arcs)
		ktr_provider_remove(object->arcs);
}

static const struct ktr_provider_ops arcs_ops = {
	.size = sizeof(arcs_ops),
	.provide = arcs_provide,
	.enable = arcs_enable,
	.disable = arcs_disable,
	.arg_desc = arcs_no_argument,
	.destroy = arcs_destroy,
	.look = arcs_look,
};

/* What a child has in the place of its parent's session is as that was. */
static void arcs_forked(void)
{
	const struct ktr__session_rw *own = ktr__own_session();
	uint64_t was = ktr__arcs_ino();

	ktr__arcs_forked();
	if (own->map && was && own->ino != was && __atomic_load_n(&arcs_all, __ATOMIC_RELAXED))
		__atomic_store_n(&own->control->prof_all, KTR_PROF_ALL, __ATOMIC_RELEASE);
}

void ktr__arcs_begin(void)
{
	if (ktr_provider_register("fbt_count", &arcs_ops, NULL, &arcs_provider))
		arcs_provider = NULL;
	if (arcs_provider)
		pthread_atfork(NULL, NULL, arcs_forked);
}
