/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules, call sites and classes: what is known before an event can be recorded.
 *
 * A module (executable or shared object) registers when it is loaded. Each of its sites gets a row of
 * the session's site table, found by the hash of (build-id, offset), so that all processes of one build
 * share its rows. Rows hold copies of everything: a module may be gone when its events are read.
 *
 * Where there is no build-id, what a site says takes its place. The hash table has a slot per (build-id, position
 * in the module), linear probing; a slot is an index + 1 and is taken by one compare-and-swap. Two processes that
 * register the same site at the same time may both make a row; the one whose slot is found first is used by whoever
 * comes later, and both decode.
 *
 * Registration is not async-signal-safe: it runs in constructors and dlopen(3), under site_lock, which a fork
 * takes before there is a child.
 */
#include "ktr/record/site.h"

#include "ktr/control/counts.h"
#include "ktr/control/rules.h"
#include "ktr/record/module.h"
#include "ktr/record/own.h"
#include "ktr/record/trigger.h"
#include "ktr/session/cpu.h"
#include "ktr/session/format.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define SITE_PROBES 1024 /* slots of the hash that are looked at for one site */

static pthread_mutex_t site_lock = PTHREAD_MUTEX_INITIALIZER;

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t site_hash(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t hash = 0xcbf29ce484222325ull;

	while (n--)
		hash = (hash ^ *p++) * 0x100000001b3ull;
	return hash;
}

/*
 * What a site says, where no build-id tells whether it is that of another build at the same place: of a plugin
 * that was made anew.
 */
static uint64_t site_texts(const struct ktr_site *site)
{
	uint64_t hash = site_hash(site->format, strlen(site->format)) ^ site->line;

	for (unsigned i = 0; i < KTR_ARGS_MAX; i++)
		if (site->literal[i])
			hash = 31 * hash ^ site_hash(site->literal[i], strlen(site->literal[i]));
	return hash;
}

/* The bit of a class name, bound if need be. Its place is its order among application classes. */
static uint64_t class_bind(const char *name, const char *help)
{
	uint64_t mask = ktr__session_class(&ktr__own, name, help);

	if (!mask && __atomic_fetch_add(&ktr__own.control->drop_no_class, 1, __ATOMIC_RELAXED) == 0 &&
	    ktr__own_asked)
		ktr__complain("class %s is off: the session has bits for %u application classes, all taken",
			      name, KTR_CLASS_MAX - KTR_CLASS_APP_FIRST);
	return mask;
}

static bool site_same(uint32_t index, uint64_t key, uint64_t offset)
{
	const struct ktr_site_row *row = ktr__session_ready(&ktr__own, KTR_REGION_site, index);

	/* Its byte is looked at with each event. */
	return row && row->key == key && row->offset == offset && ktr__table_touch(KTR_REGION_site_ctl, index, 1);
}

/* Literals go into the session with the site; one that does not fit is copied with each event, as others are. */
static void site_literals(struct ktr_site_row *row, const struct ktr_site *site)
{
	for (unsigned i = 0; i < site->n_args; i++) {
		size_t n;

		if (site->how[i] != KTR_HOW_LITERAL)
			continue;
		n = strlen(site->literal[i]);
		row->literal[i] = ktr__table_string(site->literal[i], n);
		if (n && !row->literal[i])
			row->how[i] = KTR_HOW_COPY;
	}
}

static uint32_t site_fill(const struct ktr_site *site, const struct ktr__object *object, uint64_t key,
			  uint64_t offset, uint32_t path)
{
	uint32_t index = ktr__table_row(&ktr__own.control->n_sites, KTR_REGION_site);
	struct ktr_site_row *row = ktr__region_rows(&ktr__own, site, struct ktr_site_row) + index;

	if (!index || !ktr__table_touch(KTR_REGION_site_ctl, index, 1))
		return 0;
	if (ktr__load_word(&ktr__own.control->count) && ktr__counts_open(&ktr__own, index + 1))
		return 0;
	row->line = site->line;
	row->mask = site->mask;
	row->key = key;
	row->offset = offset;
	row->file = ktr__table_string(site->file, strlen(site->file));
	row->func = ktr__table_string(site->func, strlen(site->func));
	row->names = ktr__table_string(site->names, strlen(site->names));
	row->format = ktr__table_string(site->format, strlen(site->format));
	/* Strings that are full stay so: the last one tells. Nobody may read of a site what it does not say. */
	if (!row->format && *site->format)
		return 0;
	row->module = path;
	row->n_args = site->n_args;
	memcpy(row->type, site->type, sizeof(row->type));
	memcpy(row->how, site->how, sizeof(row->how));
	site_literals(row, site);
	memcpy(row->limit, site->limit, sizeof(row->limit));
	row->build_id_bytes = object->build_id_bytes;
	memcpy(row->build_id, object->build_id, sizeof(row->build_id));
	__atomic_store_n(&row->state, KTR_ROW_READY, __ATOMIC_SEQ_CST);
	ktr__rules_site(&ktr__own, index);
	return index;
}

/* Finds the site's row, or makes it. path is the module's, copied into the session when first needed. */
static uint32_t site_index(const struct ktr_site *site, const struct ktr__object *object, uint64_t key,
			   uint32_t *path)
{
	const struct ktr_region *region = &ktr__own.header.region[KTR_REGION_site_hash];
	uint64_t offset = (uint64_t)(uintptr_t)site - object->base;
	uint64_t at = key + offset / sizeof(*site);
	uint32_t made = 0;

	for (uint32_t probe = 0; probe < SITE_PROBES; probe++, at++) {
		uint32_t *slot = ktr__session_at(&ktr__own, KTR_REGION_site_hash, at % region->n_rows);
		uint32_t index;

		if (!slot)
			return 0;
		index = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (!index) {
			if (!made) {
				if (!*path)
					*path = ktr__table_string(object->path, strlen(object->path));
				made = site_fill(site, object, key, offset, *path);
			}
			if (!made || __atomic_compare_exchange_n(slot, &index, made, 0,
								 __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
				return made;
		}
		if (site_same(index, key, offset))
			return index;
	}
	return made;
}

/* How each word is made: which are strings to copy, and which strings the session has. */
static void site_how(struct ktr_site *site)
{
	size_t room = KTR_LITERALS_MAX;

	if (site->n_args > KTR_ARGS_MAX)
		site->n_args = KTR_ARGS_MAX;
	ktr__format_how(site->format, site->n_args, site->type, site->how, site->limit);
	for (unsigned i = 0; i < site->n_args; i++) {
		size_t n;

		if (site->type[i] == KTR_ARG_STACK)
			site->how[i] = KTR_HOW_STACK;
		if (site->how[i] != KTR_HOW_COPY || !site->literal[i])
			continue;
		n = strlen(site->literal[i]) + 1;
		if (n <= room) {
			site->how[i] = KTR_HOW_LITERAL;
			room -= n;
		}
	}
}

/* What of it the usual way has to do. A literal that the session has no room for is copied. */
static void site_copies(struct ktr_site *site)
{
	const struct ktr_site_row *row = ktr__session_ready(&ktr__own, KTR_REGION_site, site->id);
	uint8_t copies = 0, text_at = 0;

	for (unsigned i = 0; i < site->n_args; i++) {
		if (site->how[i] == KTR_HOW_LITERAL && !(row && row->how[i] == KTR_HOW_LITERAL))
			site->how[i] = KTR_HOW_COPY;
		if (site->how[i] == KTR_HOW_VALUE || site->how[i] == KTR_HOW_LITERAL)
			continue;
		copies |= (uint8_t)(1u << i);
		text_at = site->how[i] == KTR_HOW_COPY ? (uint8_t)(i + 1) : KTR_TEXT_AT_ANY;
	}
	if (copies == 1 && site->n_args <= 2 && site->how[0] == KTR_HOW_COPY)
		text_at = KTR_TEXT_AT_FIRST;
	if (copies & (copies - 1))
		text_at = site->n_args == 2 && site->how[0] == KTR_HOW_COPY && site->how[1] == KTR_HOW_COPY ?
				  KTR_TEXT_AT_BOTH : KTR_TEXT_AT_ANY;
	if (site->n_args == 1 && site->how[0] == KTR_HOW_STACK)
		text_at = KTR_TEXT_AT_STACK;
#if defined(__x86_64__)
	else if (text_at && ktr__on_valgrind())
		text_at = KTR_TEXT_AT_ANY;
#endif
	site->copies = copies;
	site->text_at = text_at;
}

void ktr__class_bind(struct ktr_class *cls)
{
	if (!cls->mask)
		__atomic_store_n(&cls->mask, class_bind(cls->name, cls->help), __ATOMIC_RELEASE);
}

static void site_register(struct ktr_site *site, const struct ktr__object *object, uint64_t key,
			  uint32_t *path)
{
	if (site->cls) {
		/* The class may live in a module whose constructor has not run: bind it from here. */
		struct ktr_class *cls = (struct ktr_class *)(uintptr_t)site->cls;

		ktr__class_bind(cls);
		site->mask = cls->mask;
	}
	site_how(site);
	site->id = site_index(site, object, key, path);
	site_copies(site);
	ktr__trigger_site(site);
}

bool ktr__sites_register(struct ktr_module *module, bool *executable)
{
	struct ktr__object object;
	uint64_t key;
	uint32_t path = 0;

	if (!ktr__object_find(module, &object))
		return false;
	/* Site 0 is none: an event whose site is not registered, or has a payload, finds it off. */
	if (!ktr__table_touch(KTR_REGION_site_ctl, 0, 1))
		return false;
	ktr__rec.site_ctl[0] = KTR_SITE_OFF;
	key = site_hash(object.build_id, object.build_id_bytes);
	if (!object.build_id_bytes)
		key ^= site_hash(object.path, strlen(object.path));
	for (struct ktr_site **site = module->begin; site != module->end; site++)
		if (*site && !(*site)->id)
			site_register(*site, &object, object.build_id_bytes ? key : key ^ site_texts(*site), &path);
	*executable = object.executable;
	return true;
}

void ktr__site_register(struct ktr_site *site)
{
	struct ktr__object object = { .base = (uintptr_t)site };
	uint32_t path = 0;

	if (!site->id)
		site_register(site, &object,
			      site_hash(site->file, strlen(site->file)) ^
			      site_hash(site->format, strlen(site->format)) ^
				      site->line,
			      &path);
}

/* Copies the first n rows of a table, all that have been handed out. */
static bool site_copy(const struct ktr__session_rw *from, enum ktr_region_id id, uint64_t n)
{
	const struct ktr_region *theirs = &from->header.region[id], *ours = &ktr__own.header.region[id];

	if (n > theirs->n_rows)
		n = theirs->n_rows;
	if (n > ours->n_rows || theirs->row_bytes != ours->row_bytes ||
	    !ktr__session_touch(from, id, 0, n * ours->row_bytes))
		return false;
	ktr__table_forget(); /* that was another session's */
	if (!ktr__table_touch(id, 0, n * ours->row_bytes))
		return false;
	memcpy(ktr__own.map + ours->offset, from->map + theirs->offset, n * ours->row_bytes);
	return true;
}

/* A site's number is in the program's memory: it must stay what it is, and so must a class's bit. */
bool ktr__sites_copy(const struct ktr__session_rw *from)
{
	const struct ktr_region *region = &ktr__own.header.region[KTR_REGION_site_hash];
	const struct ktr_site_row *rows = ktr__region_rows(&ktr__own, site, struct ktr_site_row);
	struct ktr_control *control = ktr__own.control;

	control->n_classes = from->control->n_classes;
	control->n_sites = from->control->n_sites;
	control->string_bytes = from->control->string_bytes;
	if (!site_copy(from, KTR_REGION_class_, control->n_classes) ||
	    !site_copy(from, KTR_REGION_site, control->n_sites) ||
	    !site_copy(from, KTR_REGION_site_ctl, control->n_sites) ||
	    !site_copy(from, KTR_REGION_string, control->string_bytes))
		return false;
	for (uint32_t i = 1; i < control->n_sites && i < ktr__own.header.region[KTR_REGION_site].n_rows; i++) {
		uint64_t at = rows[i].key + rows[i].offset / sizeof(struct ktr_site);
		uint32_t *slot, probe = 0;

		if (rows[i].state < KTR_ROW_READY)
			continue;
		/* One that finds no slot is registered anew by whoever comes upon it. */
		do {
			slot = ktr__session_at(&ktr__own, KTR_REGION_site_hash, at++ % region->n_rows);
			if (!slot)
				return false;
		} while (*slot && ++probe < SITE_PROBES);
		if (probe < SITE_PROBES)
			*slot = i;
	}
	return true;
}

void ktr__sites_lock(void)
{
	pthread_mutex_lock(&site_lock);
}

void ktr__sites_unlock(void)
{
	pthread_mutex_unlock(&site_lock);
}
