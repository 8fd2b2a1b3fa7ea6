/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct has many members, and those of its pointers more, so none is offered unless its SPEC has its name. */
#include "ktr/provider/fbt/members.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/fbt/paths.h"
#include "ktr/provider/fbt/shapes.h"

#include "conf/eval/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_BOTH (1u << KTR__FBT_ENTRY | 1u << KTR__FBT_RETURN)

struct ktr__fbt_member {
	struct ktr__fbt_member *next; /* of its function */
	struct ktr_provider_probe *probe; /* NULL: it is gone */
	uint32_t number; /* of the function */
	bool on, of_result;
	uint8_t kind; /* enum ktr_arg_type */
	char *type; /* owned; NULL: there was no memory */
	char path[];
};

static struct ktr_provider *members_provider;

static struct ktr__fbt_member *members_list(const struct ktr__fbt_member *member)
{
	return ktr__fbt_function(member->number)->details->members;
}

/* ---- the provider's operations ---- */

static int members_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	struct ktr__fbt_member *member = probe->context;
	unsigned n = 0;
	int code;

	for (const struct ktr__fbt_member *at = members_list(member); at; at = at->next)
		n += at->on && at->of_result == member->of_result;
	if (n >= KTR__FBT_VALUES)
		return ktr_error_set(why, ENOSPC, "an event has room for %d values", KTR__FBT_VALUES);
	member->on = true;
	code = ktr__fbt_args_take(member->number, why);
	member->on = !code;
	return code;
}

static void members_disable(struct ktr_provider_probe *probe)
{
	struct ktr__fbt_member *member = probe->context;

	member->on = false;
	ktr__fbt_args_take(member->number, NULL);
}

static void members_destroy(struct ktr_provider_probe *probe)
{
	((struct ktr__fbt_member *)probe->context)->probe = NULL;
}

static int members_describe(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	const struct ktr__fbt_member *member = probe->context;

	if (number)
		return -ENOENT;
	arg->name = member->path;
	arg->type = member->type ? member->type : "";
	arg->kind = member->kind;
	return 0;
}

/* ---- offering ---- */

struct members_offer {
	const struct ktr__fbt_object *object;
	const struct ktr__types *types;
	uint32_t number, language;
	const char *spec, *name, *part;
};

static struct ktr__fbt_member *members_find(const struct ktr__fbt_details *details, const char *path)
{
	struct ktr__fbt_member *at = details->members;

	while (at && strcmp(at->path, path) != 0)
		at = at->next;
	return at;
}

static struct ktr__fbt_member *members_new(const struct members_offer *offer, struct ktr__fbt_details *details,
					   const struct ktr__fbt_path *path)
{
	size_t n = strlen(path->text) + 1;
	struct ktr__fbt_member *member = calloc(1, sizeof(*member) + n);

	if (!member)
		return NULL;
	memcpy(member->path, path->text, n);
	member->number = offer->number;
	member->of_result = path->arg < 0;
	member->kind = path->value.type;
	member->type = ktr__fbt_shape_type(offer->types, path->type, offer->language);
	member->next = details->members;
	details->members = member;
	return member;
}

static void members_found(void *context, struct ktr__fbt_path *path)
{
	struct members_offer *offer = context;
	struct ktr__fbt_function *function = ktr__fbt_function(offer->number);
	char full[3 * KTR_PROVIDER_PART_MAX];
	struct ktr_provider_probe *probe;
	struct ktr__fbt_details *details;
	struct ktr__fbt_member *member;

	ktr__fbt_shape_free(&path->value);
	snprintf(full, sizeof(full), "fbt_member:%s:%s:%s", offer->object->name, offer->part, path->text);
	if (!ktr__spec_fits(offer->spec, strlen(offer->spec), full) ||
	    (!function->name && !(function->name = strdup(offer->name))) || !(details = ktr__fbt_details(function)))
		return;
	__atomic_fetch_or(&function->asked, 1u << KTR__FBT_ASKED_MEMBER, __ATOMIC_RELAXED);
	member = members_find(details, path->text);
	if (!member && !(member = members_new(offer, details, path)))
		return;
	if (!member->probe && !ktr_provider_offer(members_provider, offer->object->name, offer->part, member->path,
						  member, &probe))
		member->probe = probe;
}

const char *ktr__fbt_members_glob(const char *spec)
{
	for (int i = 0; i < 3 && spec; i++) {
		spec = strchr(spec, ':');
		spec = spec ? spec + 1 : NULL;
	}
	return spec && *spec ? spec : NULL;
}

static void members_of_spec(struct ktr__fbt_asked *asked, struct members_offer *offer)
{
	const char *glob = ktr__fbt_members_glob(offer->spec);
	const struct ktr__types_function *f;
	char full[3 * KTR_PROVIDER_PART_MAX];
	struct ktr__fbt_types *before;

	/* A SPEC without a function means those that are asked for. */
	if (glob && glob[-2] == ':' &&
	    !(__atomic_load_n(&ktr__fbt_function(offer->number)->asked, __ATOMIC_RELAXED) & MEMBERS_BOTH))
		return;
	snprintf(full, sizeof(full), "fbt_member:%s:%s:", offer->object->name, offer->part);
	if (!glob || !ktr__spec_fits(offer->spec, (size_t)(glob - offer->spec), full))
		return;
	f = ktr__fbt_typed_function(&asked->types, offer->object, offer->number);
	if (!f)
		return;
	offer->types = asked->types.image;
	offer->language = f->language;
	before = ktr__fbt_args_offers(&asked->types);
	ktr__fbt_paths(offer->types, f, glob, members_found, offer);
	ktr__fbt_args_offers(before);
}

/* What was there before, and comes back. */
static void members_again(struct ktr__fbt_asked *asked, const struct members_offer *offer)
{
	const struct ktr__fbt_details *details = ktr__fbt_function(offer->number)->details;
	char spec[KTR__FBT_PATH + 16];
	struct members_offer again = *offer;

	again.spec = spec;
	for (struct ktr__fbt_member *at = details ? details->members : NULL; at; at = at->next) {
		snprintf(spec, sizeof(spec), "fbt_member::*:%s", at->path);
		if (!at->probe)
			members_of_spec(asked, &again);
	}
}

void ktr__fbt_members_offer(struct ktr__fbt_asked *asked, const struct ktr__fbt_object *object, uint32_t number,
			    const char *name, const char *part)
{
	struct members_offer offer = { .object = object, .number = number, .spec = asked->spec, .name = name,
				       .part = part };
	char spec[KTR_KNOB_STRING_BYTES];
	const char *at = ktr__probes_asked;
	size_t n;

	if (!members_provider)
		return;
	if (asked->spec) {
		members_of_spec(asked, &offer);
		return;
	}
	members_again(asked, &offer);
	for (; *at; at += n + (at[n] == ',')) {
		at += strspn(at, " \t");
		n = strcspn(at, ",");
		snprintf(spec, sizeof(spec), "%.*s", (int)n, at);
		offer.spec = spec;
		members_of_spec(asked, &offer);
	}
}

bool ktr__fbt_members_beside(const char *spec, char *beside, size_t size)
{
	const char *glob = ktr__fbt_members_glob(spec), *dot, *arrow;

	if (!glob || snprintf(beside, size, "%s", spec) >= (int)size)
		return false;
	dot = strrchr(glob, '.');
	arrow = strrchr(glob, '>');
	dot = dot && (!arrow || dot > arrow) ? dot : arrow;
	if (!dot || (size_t)(dot + 2 - spec) >= size)
		return false;
	strcpy(beside + (dot + 1 - spec), "*");
	return true;
}

/* ---- of a function ---- */

void ktr__fbt_members_wished(const struct ktr__fbt_member *members, struct ktr__fbt_wish *wish)
{
	for (; members; members = members->next)
		if (members->on && wish->n < sizeof(wish->member) / sizeof(wish->member[0]))
			wish->member[wish->n++] = members->path;
	/* The first that was asked for comes first. */
	for (unsigned i = 0; i < wish->n / 2; i++) {
		const char *one = wish->member[i];

		wish->member[i] = wish->member[wish->n - 1 - i];
		wish->member[wish->n - 1 - i] = one;
	}
}

void ktr__fbt_members_leave(struct ktr__fbt_member *members)
{
	for (; members; members = members->next)
		if (members->probe)
			ktr_provider_remove(members->probe);
}

static const struct ktr_provider_ops members_ops = {
	.size = sizeof(members_ops),
	.provide = ktr__fbt_provide,
	.enable = members_enable,
	.disable = members_disable,
	.arg_desc = members_describe,
	.destroy = members_destroy,
};

void ktr__fbt_members_begin(void)
{
	if (ktr_provider_register("fbt_member", &members_ops, NULL, &members_provider))
		members_provider = NULL;
}
