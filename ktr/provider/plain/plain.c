/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is loaded is looked at when somebody asks for functions, and once a second from then on, for what has come
 * and gone. An object whose name is asked for is read (judge.c), gets its stubs (stubs.c), and is one of fbt's from
 * then on, which offers the functions that are asked for and has them switched.
 *
 * Text is read and written only while the loader is kept from unloading it. All here is under the registry's lock.
 *
 * Functions of the C library and of the loader are left alone: recording calls them, also those that have no name,
 * and so does everything that runs between a thread's last instruction and its end, or in a child that has its
 * parent's memory.
 */
#include "ktr/provider/plain/plain.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/fbt/args.h"
#include "ktr/provider/fbt/fire.h"
#include "ktr/provider/fbt/object.h"
#include "ktr/provider/fbt/start.h"
#include "ktr/provider/plain/judge.h"
#include "ktr/provider/plain/stubs.h"
#include "ktr/provider/plain/text.h"
#include "ktr/record/own.h"

#include "conf/eval/spec.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_SPECS 64 /* that are remembered, for what is loaded later */

struct plain_object {
	struct plain_object *next;
	struct ktr__object loaded;
	struct ktr__plain_frames frames; /* their addresses alone are left */
	struct ktr__plain_function *functions;
	struct ktr__plain_stubs *stubs;
	struct ktr__fbt_object *object; /* NULL: none of its functions is asked for, or it has none */
	bool is_there; /* of the last look */
	bool was_read;
	const char *name; /* without folders */
};

static struct plain_object *plain_objects; /* those that are loaded, or were and have stubs */
static unsigned long long plain_changes; /* of what is loaded, when it was last looked at */
static bool plain_was_asked;
static char *plain_specs[PLAIN_SPECS];
static const char plain_anchor; /* in our own object */

static const char *const plain_texts[] = {
#define PLAIN_WHY(name, text) text,
	KTR__PLAIN_WHY_LIST(PLAIN_WHY)
#undef PLAIN_WHY
};

/* ---- what is asked for ---- */

/* The first two parts of a SPEC: may it mean functions of a module? */
static bool plain_means(const char *spec, size_t n, const char *module)
{
	const char *colon = memchr(spec, ':', n), *second;
	char full[KTR_PROVIDER_PART_MAX + 32];

	if (!colon)
		return false;
	second = memchr(colon + 1, ':', n - (size_t)(colon + 1 - spec));
	n = second ? (size_t)(second - spec) : n;
	for (int i = 0; i < 4; i++) {
		static const char *const providers[] = { "fbt", "fbt_args", "fbt_member", "fbt_caller" };

		snprintf(full, sizeof(full), "%s:%s::", providers[i], module);
		if (ktr__spec_fits(spec, n, full))
			return true;
	}
	return false;
}

/* debug.ktr.probes, and what was asked for since. */
static bool plain_is_asked(const char *module)
{
	const char *at = ktr__probes_list();
	size_t n;

	for (int i = 0; i < PLAIN_SPECS && plain_specs[i]; i++)
		if (plain_means(plain_specs[i], strlen(plain_specs[i]), module))
			return true;
	for (; *at; at += n + (at[n] == ',')) {
		at += strspn(at, " \t");
		n = strcspn(at, ",");
		if (plain_means(at, n, module))
			return true;
	}
	return false;
}

static void plain_remember(const char *spec)
{
	for (int i = 0; i < PLAIN_SPECS; i++)
		if (!plain_specs[i] || strcmp(plain_specs[i], spec) == 0) {
			plain_specs[i] = plain_specs[i] ? plain_specs[i] : strdup(spec);
			return;
		}
}

/* ---- what is loaded ---- */

static bool plain_is_recorder(const char *name)
{
	return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "ld-linux", 8) == 0 ||
	       strncmp(name, "libktr", 6) == 0 || strncmp(name, "libpthread.so.", 14) == 0 ||
	       strncmp(name, "linux-vdso", 10) == 0 || strncmp(name, "linux-gate", 10) == 0;
}

static struct plain_object *plain_find_object(const struct ktr__object *loaded)
{
	struct plain_object *at = plain_objects;

	while (at && (at->loaded.base != loaded->base || at->loaded.end != loaded->end ||
		      at->loaded.build_id_bytes != loaded->build_id_bytes ||
		      memcmp(at->loaded.build_id, loaded->build_id, loaded->build_id_bytes) != 0 ||
		      strcmp(at->loaded.path, loaded->path) != 0))
		at = at->next;
	return at;
}

static const struct ktr__fbt_kind plain_kind;

/* Within the loader's walk. */
static bool plain_read(struct plain_object *object)
{
	const struct ktr__object *loaded = &object->loaded;

	if (ktr__plain_frames_read(loaded, &object->frames))
		return false;
	object->functions = ktr__plain_judge(&object->frames);
	free(object->frames.at);
	object->frames.at = NULL;
	if (object->functions)
		object->stubs = ktr__plain_stubs_near(loaded, object->frames.n);
	return object->functions && object->stubs;
}

/* Whatever else would be in the way: that is what can be changed. */
static void plain_none(struct plain_object *object)
{
	for (uint32_t i = 0; i < object->frames.n; i++) {
		struct ktr__plain_function *function = &object->functions[i];

		function->form = KTR__PLAIN_NOT;
		if (function->why != KTR__PLAIN_WHY_PART && function->why != KTR__PLAIN_WHY_REBUILT)
			function->why = KTR__PLAIN_WHY_TEXT;
	}
}

/* It is one of fbt's from now on. */
static void plain_enter(struct plain_object *object)
{
	struct ktr__fbt_object *made = ktr__fbt_object_plain(&object->stubs->module, &object->loaded, &plain_kind,
							     object, object->frames.n);

	if (!made)
		return;
	if (ktr__plain_stubs_write(object->stubs, made->first, object->functions))
		plain_none(object);
	for (uint32_t i = 0; i < object->frames.n; i++) {
		struct ktr__fbt_function *function = ktr__fbt_function(made->first + i);

		function->body = ktr__plain_stub_body(object->stubs, i, &object->functions[i]);
		function->away = 0;
		object->functions[i].is_on = false;
	}
	object->object = made;
}

/* Unloaded, and loaded at the same place again, between two looks: it is as its file is. */
static void plain_again(struct plain_object *object)
{
	for (uint32_t i = 0; i < object->frames.n; i++) {
		struct ktr__plain_function *function = &object->functions[i];

		if (function->is_on && ktr__plain_text_is_new(function))
			ktr__plain_text_lead(function, ktr__plain_stub_at(object->stubs, i));
	}
}

static struct plain_object *plain_new(const struct ktr__object *loaded)
{
	struct plain_object *object = calloc(1, sizeof(*object));
	const char *slash;

	if (!object)
		return NULL;
	object->loaded = *loaded;
	slash = strrchr(object->loaded.path, '/');
	object->name = slash ? slash + 1 : object->loaded.path;
	object->next = plain_objects;
	plain_objects = object;
	return object;
}

static void plain_found(void *context, const struct ktr__object *loaded)
{
	struct plain_object *object = plain_find_object(loaded);
	uintptr_t ours = (uintptr_t)&plain_anchor;
	bool *is_new = context;

	if (!object && !(object = plain_new(loaded)))
		return;
	object->is_there = true;
	if (object->object) {
		plain_again(object);
		return;
	}
	if ((ours >= loaded->base && ours < loaded->end) || !*loaded->path || plain_is_recorder(object->name) ||
	    !plain_is_asked(object->name))
		return;
	if (!object->was_read) {
		object->was_read = true;
		plain_read(object);
	}
	if (!object->functions || !object->stubs)
		return;
	plain_enter(object);
	*is_new |= object->object != NULL;
}

static void plain_is_still(void *context, const struct ktr__object *loaded)
{
	struct plain_object *object = plain_find_object(loaded);

	(void)context;
	if (object)
		object->is_there = true;
}

/* What it had stays: its stubs, and what is known of it, for when it comes to the same place again. */
static void plain_gone(struct plain_object *object)
{
	if (!object->object)
		return;
	object->object = NULL;
	for (uint32_t i = 0; i < object->frames.n; i++)
		object->functions[i].is_on = false;
	ktr__fbt_detach(&object->stubs->module);
}

static int plain_count(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned long long *changes = context;

	(void)size;
	*changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

static bool plain_scan(bool asked)
{
	unsigned long long changes = 0;
	bool is_new = false;

	dl_iterate_phdr(plain_count, &changes);
	if (changes == plain_changes && !asked)
		return false;
	plain_changes = changes;
	for (struct plain_object *at = plain_objects; at; at = at->next)
		at->is_there = false;
	/* What has gone goes first: the same file may have come to another place. */
	ktr__object_walk(plain_is_still, NULL);
	for (struct plain_object *at = plain_objects; at; at = at->next)
		if (!at->is_there)
			plain_gone(at);
	ktr__object_walk(plain_found, &is_new);
	return is_new;
}

/* ---- what fbt asks for ---- */

static bool plain_find(struct ktr_provider *provider, const char *spec)
{
	if (ktr__own_session()->sealed)
		return false;
	if (spec) {
		plain_was_asked = true;
		plain_remember(spec);
		return plain_scan(true);
	}
	plain_was_asked |= ktr__probe_asked("", "");
	if (!plain_was_asked || !plain_scan(false))
		return false;
	for (int i = 0; i < PLAIN_SPECS && plain_specs[i]; i++)
		ktr__fbt_provide(provider, plain_specs[i]);
	return true;
}

static uint64_t plain_address(const struct ktr__fbt_object *object, uint32_t i)
{
	return ((const struct plain_object *)object->context)->functions[i].at;
}

struct plain_switched {
	struct plain_object *object;
	uint32_t i;
	bool on;
	int code;
};

/* While it is there, and cannot go. */
static void plain_switch_found(void *context, const struct ktr__object *loaded)
{
	struct plain_switched *to = context;
	struct ktr__plain_function *function = &to->object->functions[to->i];
	const uint8_t *stub = ktr__plain_stub_at(to->object->stubs, to->i);

	if (to->code != -ENOENT || plain_find_object(loaded) != to->object)
		return;
	to->code = to->on ? ktr__plain_text_lead(function, stub) : ktr__plain_text_let_go(function, stub);
}

static int plain_switch(struct plain_object *object, uint32_t i, bool on)
{
	struct plain_switched to = { object, i, on, -ENOENT };

	ktr__object_walk(plain_switch_found, &to);
	return to.code;
}

static int plain_lead(const struct ktr__fbt_object *object, uint32_t i)
{
	struct plain_object *plain = object->context;
	int code;

	if (ktr__own_session()->sealed)
		return -EPERM;
	if (!plain->object || !plain->functions[i].form)
		return -ENOENT;
	code = plain_switch(plain, i, true);
	plain->functions[i].is_on = !code;
	return code;
}

static void plain_let_go(const struct ktr__fbt_object *object, uint32_t i)
{
	struct plain_object *plain = object->context;

	if (plain->object && plain->functions[i].is_on)
		plain_switch(plain, i, false);
	plain->functions[i].is_on = false;
}

/* Where nobody tells a name, only what is called is a function for sure: others jump to parts of themselves. */
static const char *plain_why_not(const struct ktr__fbt_object *object, uint32_t i, const char *name)
{
	const struct ktr__plain_function *function = &((struct plain_object *)object->context)->functions[i];

	if (!function->form)
		return plain_texts[function->why];
	if (name ? strstr(name, ".cold") != NULL : function->is_jumped_to && !function->is_called)
		return plain_texts[KTR__PLAIN_WHY_PART];
	return NULL;
}

static bool plain_may_return(const struct ktr__fbt_object *object, uint32_t i)
{
	return !((struct plain_object *)object->context)->functions[i].asks;
}

static const struct ktr__fbt_kind plain_kind = {
	.trampoline = { (uintptr_t)ktr__plain_trampoline, (uintptr_t)ktr__plain_trampoline_filtered },
	.address = plain_address,
	.lead = plain_lead,
	.let_go = plain_let_go,
	.why_not = plain_why_not,
	.may_return = plain_may_return,
};

static void plain_begin(void)
{
	ktr__fbt_returned_plain = (uintptr_t)ktr__plain_returned;
	ktr__fbt_start(plain_find);
}

void ktr__plain_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, plain_begin);
}
