/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider usdt: usdt:MODULE:PROVIDER:NAME, the third part being the provider of the note. A probe has as many
 * places as it was compiled to.
 *
 * Files are read where debug.ktr.probes, or somebody later, asks for a probe of ours; from then on also those of
 * objects that are loaded later, which is seen once a second, as is that one is gone. Text is looked at and written
 * only while the loader is kept from unloading it.
 *
 * Points of ktr's own that are static probes, too (KTR_USDT), are none here: they are recorded already.
 */
#include "ktr/provider/usdt/usdt.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/usdt/notes.h"
#include "ktr/provider/usdt/parts.h"
#include "ktr/provider/usdt/point.h"
#include "ktr/provider/usdt/trap.h"
#include "ktr/provider/usdt/values.h"
#include "ktr/provider/usdt/watch.h"

#include "conf/eval/spec.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct usdt_object {
	struct usdt_object *next;
	struct usdt_probe *probes;
	struct ktr__object loaded;
	bool is_there; /* of the last look */
	bool was_read;
	const char *name; /* without folders */
};

struct usdt_probe {
	struct usdt_probe *next;
	struct usdt_object *object;
	struct ktr__usdt_point *points;
	struct ktr_provider_probe *probe; /* NULL: not offered */
	struct ktr__usdt_arguments known;
	uint32_t hash; /* of its text */
	char *text; /* provider and name */
	const char *provider, *name;
};

static struct ktr_provider *usdt_provider;
static struct usdt_object *usdt_objects; /* those that are loaded; under the registry's lock, as all here */
static bool usdt_was_asked; /* for one of ours */
static uint32_t usdt_n_on; /* probes */
static unsigned long long usdt_changes; /* of what is loaded, when it was last looked at */

/* ---- what a file has ---- */

/* In include/ktr/usdt.h the nop has five bytes, and the name is a file's with a line. */
static bool usdt_is_ktr(const struct ktr__usdt_note *note, uint8_t n_nop)
{
	const char *line = strrchr(note->name, '_');

	return note->may_be_ktr && n_nop == 5 && line && line[1] &&
	       line[1 + strspn(line + 1, "0123456789")] == '\0';
}

/* FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t usdt_hash(const char *text, uint32_t hash)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x01000193u;
	return hash;
}

static struct usdt_probe *usdt_probe(struct usdt_object *object, const struct ktr__usdt_note *note)
{
	uint32_t hash = usdt_hash(note->name, usdt_hash(note->provider, 0x811c9dc5u));
	struct usdt_probe *at = object->probes;
	size_t n = strlen(note->provider) + 1;

	while (at && (at->hash != hash || strcmp(at->provider, note->provider) != 0 ||
		      strcmp(at->name, note->name) != 0))
		at = at->next;
	if (at || !(at = calloc(1, sizeof(*at))))
		return at;
	at->text = malloc(n + strlen(note->name) + 1);
	if (!at->text) {
		free(at);
		return NULL;
	}
	at->provider = strcpy(at->text, note->provider);
	at->name = strcpy(at->text + n, note->name);
	at->object = object;
	at->hash = hash;
	ktr__usdt_arguments(at->provider, at->name, &at->known);
	at->next = object->probes;
	object->probes = at;
	return at;
}

struct usdt_symbols {
	const struct ktr__usdt_note *note;
	uint64_t base;
};

static uint64_t usdt_symbol(void *context, const char *name, size_t n)
{
	const struct usdt_symbols *symbols = context;
	uint64_t address = ktr__usdt_notes_symbol(symbols->note, name, n);

	return address ? address + symbols->base : 0;
}

/* An object whose notes are read, and what of it is in memory. */
struct usdt_read {
	struct usdt_object *object;
	struct ktr__usdt_parts parts;
};

/* A debugger's breakpoint may be at the place: then it is what the file has there. */
static uint8_t usdt_nop(const struct ktr__usdt_note *note, const uint8_t *at, uint8_t bytes[KTR__USDT_NOP])
{
	memcpy(bytes, at, KTR__USDT_NOP);
	if (bytes[0] == KTR__USDT_TRAP && !ktr__usdt_notes_bytes(note, note->at, bytes, KTR__USDT_NOP))
		return 0;
	return ktr__usdt_point_nop(bytes);
}

/* Within the loader's walk, so that the text is there. */
static void usdt_note(void *context, const struct ktr__usdt_note *note)
{
	const struct usdt_read *read = context;
	uint64_t base = read->object->loaded.base, at = base + note->at;
	uint64_t semaphore = note->semaphore ? base + note->semaphore : 0;
	struct usdt_symbols symbols = { note, base };
	const struct ktr__usdt_point *there = ktr__usdt_point_at((const uint8_t *)(uintptr_t)at); // NOLINT
	uint8_t n_nop = there ? there->n_nop : 0, bytes[KTR__USDT_NOP] = { there ? there->first : 0 };
	struct ktr__usdt_point *point;
	struct usdt_probe *probe;

	/* Not in what is loaded, or not what the note says: no place of ours. */
	if (!ktr__usdt_parts_have(&read->parts, at, KTR__USDT_NOP, PF_X) ||
	    (semaphore && !ktr__usdt_parts_have(&read->parts, semaphore, sizeof(*point->semaphore), PF_W)))
		return;
	if (!there)
		n_nop = usdt_nop(note, (const uint8_t *)(uintptr_t)at, bytes); // NOLINT
	if (!n_nop || usdt_is_ktr(note, n_nop) || !(probe = usdt_probe(read->object, note)) ||
	    !(point = ktr__usdt_point_make((uint8_t *)(uintptr_t)at))) // NOLINT
		return;
	point->first = bytes[0];
	point->n_nop = n_nop;
	point->semaphore = (uint16_t *)(uintptr_t)semaphore; // NOLINT
	point->n_args = (uint8_t)ktr__usdt_args_parse(note->args, point->arg, KTR__USDT_ARGS, usdt_symbol,
						      &symbols);
	memcpy(point->kind, probe->known.kind, sizeof(point->kind));
	point->next = probe->points;
	probe->points = point;
	ktr__usdt_point_add(point);
}

/* ---- what is loaded ---- */

static struct usdt_object *usdt_find(const struct ktr__object *loaded)
{
	struct usdt_object *at = usdt_objects;

	while (at && (at->loaded.base != loaded->base || at->loaded.end != loaded->end ||
		      at->loaded.build_id_bytes != loaded->build_id_bytes ||
		      memcmp(at->loaded.build_id, loaded->build_id, loaded->build_id_bytes) != 0 ||
		      strcmp(at->loaded.path, loaded->path) != 0))
		at = at->next;
	return at;
}

/* Unloaded, and loaded at the same place again, between two looks: it is as its file is. */
static void usdt_points_again(struct usdt_object *object)
{
	for (struct usdt_probe *probe = object->probes; probe; probe = probe->next)
		for (struct ktr__usdt_point *at = probe->points; at; at = at->next)
			if (at->is_on && *at->at == at->first && !ktr__usdt_point_on(at) && at->semaphore)
				__atomic_fetch_add(at->semaphore, 1, __ATOMIC_RELAXED);
}

/* What the recorder calls may have no traps. */
static bool usdt_is_recorder(const char *name)
{
	return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "ld-linux", 8) == 0 ||
	       strncmp(name, "libktr", 6) == 0 || strncmp(name, "libpthread.so.", 14) == 0;
}

static void usdt_found(void *context, const struct ktr__object *loaded)
{
	struct usdt_read read = { .object = usdt_find(loaded) };
	struct usdt_object *object = read.object;
	const char *slash;

	(void)context;
	if (!object) {
		if (!(object = calloc(1, sizeof(*object))))
			return;
		object->loaded = *loaded;
		slash = strrchr(object->loaded.path, '/');
		object->name = slash ? slash + 1 : object->loaded.path;
		object->next = usdt_objects;
		usdt_objects = object;
	}
	object->is_there = true;
	if (object->was_read)
		usdt_points_again(object);
	if (object->was_read)
		return;
	object->was_read = true;
	if (!*object->loaded.path || usdt_is_recorder(object->name))
		return;
	read.object = object;
	ktr__usdt_parts(object->loaded.base, object->loaded.end, &read.parts);
	/* What is run may have another name by now, or none. */
	ktr__usdt_notes(object->loaded.executable ? "/proc/self/exe" : object->loaded.path, &object->loaded, usdt_note,
			&read);
}

static void usdt_gone(struct usdt_object *object)
{
	for (struct usdt_probe *at = object->probes, *next; at; at = next) {
		next = at->next;
		for (struct ktr__usdt_point *point = at->points; point; point = point->next)
			__atomic_store_n(&point->is_gone, 1, __ATOMIC_SEQ_CST);
		if (at->probe)
			ktr_provider_remove(at->probe);
		free(at->text);
		free(at);
	}
	free(object);
}

static int usdt_count(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned long long *changes = context;

	(void)size;
	*changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

/* True: there is something that was not there before. */
static bool usdt_scan(void)
{
	unsigned long long changes = 0;

	dl_iterate_phdr(usdt_count, &changes);
	if (changes == usdt_changes)
		return false;
	usdt_changes = changes;
	for (struct usdt_object *at = usdt_objects; at; at = at->next)
		at->is_there = false;
	ktr__object_walk(usdt_found, NULL);
	for (struct usdt_object **link = &usdt_objects; *link;) {
		struct usdt_object *at = *link;

		if (at->is_there) {
			link = &at->next;
			continue;
		}
		*link = at->next;
		usdt_gone(at);
	}
	return true;
}

/* Does something while the object is there, and cannot go. */
struct usdt_held {
	const struct usdt_object *object;
	struct usdt_probe *probe;
	int (*call)(struct usdt_probe *probe);
	int code;
};

static void usdt_hold_found(void *context, const struct ktr__object *loaded)
{
	struct usdt_held *held = context;

	if (held->code == -ENOENT && usdt_find(loaded) == held->object)
		held->code = held->call(held->probe);
}

static int usdt_hold(struct usdt_probe *probe, int (*call)(struct usdt_probe *probe))
{
	struct usdt_held held = { probe->object, probe, call, -ENOENT };

	ktr__object_walk(usdt_hold_found, &held);
	return held.code;
}

/* ---- the provider's operations ---- */

static int usdt_points_off(struct usdt_probe *probe)
{
	for (struct ktr__usdt_point *at = probe->points; at; at = at->next)
		if (at->is_on) {
			ktr__usdt_point_off(at);
			if (at->semaphore)
				__atomic_fetch_sub(at->semaphore, 1, __ATOMIC_RELAXED);
		}
	return 0;
}

static int usdt_points_on(struct usdt_probe *probe)
{
	int code = 0;

	for (struct ktr__usdt_point *at = probe->points; at && !code; at = at->next) {
		__atomic_store_n(&at->probe, probe->probe, __ATOMIC_RELEASE);
		code = ktr__usdt_point_on(at);
		if (!code && at->semaphore)
			__atomic_fetch_add(at->semaphore, 1, __ATOMIC_RELAXED);
	}
	if (code)
		usdt_points_off(probe);
	return code;
}

static int usdt_enable(struct ktr_provider_probe *offered, struct ktr_error *why)
{
	struct usdt_probe *probe = offered->context;
	int code = ktr__usdt_watch_may(why);

	/* It may be enabled before who offers it has been told. */
	probe->probe = offered;
	code = code ? code : ktr__usdt_watch_on(why);
	if (code)
		return code;
	code = usdt_hold(probe, usdt_points_on);
	if (!code) {
		usdt_n_on++;
		return 0;
	}
	if (!usdt_n_on)
		ktr__usdt_watch_off();
	if (code == -ENOENT)
		return ktr_error_set(why, ENOENT, "its module is gone");
	if (code == -EBUSY)
		return ktr_error_set(why, EBUSY, "something else is at its place: another tool's breakpoint");
	return ktr_error_set(why, -code, "its text cannot be written: %s", strerror(-code));
}

static void usdt_disable(struct ktr_provider_probe *offered)
{
	usdt_hold(offered->context, usdt_points_off);
	if (usdt_n_on && !--usdt_n_on)
		ktr__usdt_watch_off();
}

/* The registry frees it after this: it is never removed while its text is there. */
static void usdt_destroy(struct ktr_provider_probe *offered)
{
	struct usdt_probe *probe = offered->context;

	for (struct ktr__usdt_point *at = probe->points; at; at = at->next)
		__atomic_store_n(&at->probe, NULL, __ATOMIC_SEQ_CST);
	probe->probe = NULL;
}

static int usdt_describe(struct ktr_provider_probe *offered, unsigned number, struct ktr_provider_arg *arg)
{
	const struct usdt_probe *probe = offered->context;

	return ktr__usdt_describe(probe->points, &probe->known, number, arg);
}

/* A part of a name has no colons and no control characters. */
static bool usdt_name_ok(const char *name)
{
	for (; *name; name++)
		if (*name == ':' || iscntrl((unsigned char)*name))
			return false;
	return true;
}

static void usdt_offer(const char *spec)
{
	char full[3 * KTR_PROVIDER_PART_MAX];

	for (struct usdt_object *object = usdt_objects; object; object = object->next)
		for (struct usdt_probe *at = object->probes; at; at = at->next) {
			if (at->probe || !usdt_name_ok(at->provider) || !usdt_name_ok(at->name) || !*at->name)
				continue;
			snprintf(full, sizeof(full), "usdt:%s:%s:%s", object->name, at->provider, at->name);
			if (spec && !ktr__spec_fits(spec, strlen(spec), full))
				continue;
			if (ktr_provider_offer(usdt_provider, object->name, at->provider, at->name, at, &at->probe))
				at->probe = NULL;
		}
}

/* May a SPEC be for us? What is before its first colon is a glob, too. */
static bool usdt_is_meant(const char *spec)
{
	const char *colon = strchr(spec, ':');
	char first[64];

	if (!colon || (size_t)(colon - spec) >= sizeof(first) - 4)
		return false;
	snprintf(first, sizeof(first), "%.*s:::", (int)(colon - spec), spec);
	return ktr__spec_fits(first, strlen(first), "usdt::x:");
}

/* As soon as it is registered all that debug.ktr.probes may ask for are offered; then what somebody asks for. */
static void usdt_provide(struct ktr_provider *provider, const char *spec)
{
	usdt_provider = provider;
	if (spec ? !usdt_is_meant(spec) : !ktr__probe_asked("", ""))
		return;
	usdt_was_asked = true;
	usdt_scan();
	usdt_offer(spec);
}

/* Once a second. What has been loaded meanwhile is offered whole. */
static void usdt_look(struct ktr_provider *provider)
{
	usdt_provider = provider;
	if (usdt_was_asked && usdt_scan())
		usdt_offer(NULL);
	if (usdt_n_on)
		ktr__usdt_trap_install();
}

static const struct ktr_provider_ops usdt_ops = {
	.size = sizeof(usdt_ops),
	.provide = usdt_provide,
	.enable = usdt_enable,
	.disable = usdt_disable,
	.arg_desc = usdt_describe,
	.destroy = usdt_destroy,
	.look = usdt_look,
};

static void usdt_begin(void)
{
	struct ktr_provider *provider;

	ktr__usdt_watch_find();
	ktr_provider_register("usdt", &usdt_ops, NULL, &provider);
}

void ktr__usdt_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, usdt_begin);
}
