/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes by type and name, and what is switched on.
 *
 * One mutex, registry_lock, guards everything but what firing reads: on words and handlers (atomic). It is never
 * held while a handler runs or is waited for, nor while somebody is called back: a handler may call what takes it,
 * may fork, which takes it too, and may never return. Who waits for a probe's handler has said so in the probe
 * (changing), so that no other one takes its place until then; a child of a fork has nobody who waits.
 *
 * Whether a probe is on is a word of its row in the session (shared.c), to which its points and its handle lead
 * as long as the probe is there and probes are on as a whole; otherwise they lead to a word that stays 0. Where
 * there is no session, or no room in it, the word is the probe's own.
 *
 * A probe's struct is never freed: whoever has its handle may go on firing it. Its index is its own for good; its
 * id is a new one each time it is registered.
 */
#include "ktr/provider/probe/registry.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/probe/fire.h"
#include "ktr/provider/handler/handler.h"
#include "ktr/provider/probe/probe_site.h"
#include "ktr/provider/handler/rcu.h"
#include "ktr/provider/probe/shared.h"
#include "ktr/start/attach.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ktr_class ktr_class_probe __attribute__((visibility("default"))) = { 0, KTR__PROBE_CLASS,
									     KTR__PROBE_CLASS_HELP };

static const uint32_t registry_zero; /* what points test that are off */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ktr_probe **registry_bucket; /* by type and name; a power of two */
static uint32_t registry_n_buckets;
static struct ktr_probe **registry_index; /* by index, from 1 */
static uint32_t registry_n;		  /* probes there ever were, and 1 */
static uint32_t registry_room;
static struct ktr_probe **registry_id; /* by id */
static uint32_t registry_n_ids = 1, registry_id_room;
static uint32_t registry_off;	    /* 1: all are off */
static uint64_t registry_overhead_ns;
static bool registry_shared; /* rows of the session can be had */
static bool registry_begun; /* atomic */
static bool registry_masked; /* the class has been put into the mask, once */

const char *ktr_probe_type_name(enum ktr_probe_type type)
{
	static const char names[][16] = { "",
#define REGISTRY_NAME(NAME, name) name,
					  KTR_PROBE_TYPES(REGISTRY_NAME)
#undef REGISTRY_NAME
	};

	return type > KTR_PROBE_NONE && type < KTR_PROBE_TYPES_END ? names[type] : "";
}

static bool registry_grow(struct ktr_probe ***array, uint32_t *room, uint32_t n)
{
	uint32_t more = *room ? 2 * *room : 256;
	struct ktr_probe **grown;

	if (n < *room)
		return true;
	grown = realloc(*array, more * sizeof(struct ktr_probe *));
	if (!grown)
		return false;
	memset(grown + *room, 0, (more - *room) * sizeof(struct ktr_probe *));
	*array = grown;
	*room = more;
	return true;
}

static struct ktr_probe *registry_find(uint32_t type, const char *name)
{
	struct ktr_probe *probe = NULL;

	if (registry_n_buckets)
		probe = registry_bucket[ktr__probe_hash(type, name) & (registry_n_buckets - 1)];
	while (probe && (probe->type != type || strcmp(probe->name, name) != 0))
		probe = probe->chain;
	return probe;
}

static void registry_link(struct ktr_probe *probe)
{
	uint32_t hash = ktr__probe_hash(probe->type, probe->name);
	struct ktr_probe **at = &registry_bucket[hash & (registry_n_buckets - 1)];

	probe->chain = *at;
	*at = probe;
}

static bool registry_rehash(void)
{
	uint32_t n = registry_n_buckets ? 2 * registry_n_buckets : 256;
	struct ktr_probe **bucket;

	if (registry_n < registry_n_buckets)
		return true;
	bucket = calloc(n, sizeof(struct ktr_probe *));
	if (!bucket)
		return registry_n_buckets != 0; /* chains become longer */
	free(registry_bucket);
	registry_bucket = bucket;
	registry_n_buckets = n;
	for (uint32_t i = 1; i < registry_n; i++)
		registry_link(registry_index[i]);
	return true;
}

static struct ktr_probe *registry_make(uint32_t type, const char *name, const char *function)
{
	struct ktr_probe *probe;

	if (!registry_n)
		registry_n = 1;
	if (!registry_grow(&registry_index, &registry_room, registry_n) || !registry_rehash())
		return NULL;
	probe = calloc(1, sizeof(*probe));
	if (!probe)
		return NULL;
	probe->name = strdup(name);
	probe->function = strdup(function ? function : "");
	if (!probe->name || !probe->function) {
		free((char *)(uintptr_t)probe->name);
		free((char *)(uintptr_t)probe->function);
		free(probe);
		return NULL;
	}
	probe->type = type;
	probe->on = &registry_zero;
	probe->word = &probe->own_on;
	probe->site.format = "";
	/* All of the site but its number, which firing may find in the session. */
	probe->site.cls = &ktr_class_probe;
	probe->site.file = KTR__PROBE_SITE_FILE;
	probe->site.func = probe->name;
	probe->site.names = KTR__PROBE_SITE_NAMES;
	probe->site.line = type;
	probe->site.n_args = KTR_ARGS_MAX;
	memset(probe->site.type, KTR_ARG_U64, sizeof(probe->site.type));
	probe->index = registry_n;
	registry_index[registry_n++] = probe;
	ktr__probe_place(probe);
	registry_link(probe);
	return probe;
}

/* Has somebody registered it, or does a point name it? */
static bool registry_there(const struct ktr_probe *probe)
{
	return probe->id || probe->points;
}

/* Tells the points where to look. */
static void registry_publish(struct ktr_probe *probe)
{
	const uint32_t *on = probe->joined && !registry_off ? probe->word : &registry_zero;

	__atomic_store_n(&probe->on, on, __ATOMIC_RELEASE);
	for (struct ktr__probe_point *point = probe->points; point; point = point->next)
		__atomic_store_n(&point->on, on, __ATOMIC_RELEASE);
}

static void registry_join(struct ktr_probe *probe)
{
	uint32_t fed = (probe->id ? KTR_PROBE_FED_HANDLE : 0) | (probe->points ? KTR_PROBE_FED_POINTS : 0);
	struct ktr_probe_row *row;

	if (!probe->row && registry_shared) {
		probe->row = ktr__probe_row_of(probe->type, probe->name, probe->function);
		ktr__probe_place(probe);
	}
	if (probe->row && probe->word == &probe->own_on) {
		row = ktr__probe_row_at(probe->row);
		probe->word = &row->on;
		if (probe->own_on)
			__atomic_store_n(&row->on, 1, __ATOMIC_RELAXED);
	}
	row = probe->row ? ktr__probe_row_at(probe->row) : NULL;
	if (row && !probe->joined)
		__atomic_fetch_add(&row->users, 1, __ATOMIC_RELAXED);
	if (row && (__atomic_load_n(&row->fed, __ATOMIC_RELAXED) & fed) != fed)
		__atomic_fetch_or(&row->fed, fed, __ATOMIC_RELAXED);
	probe->joined = 1;
}

static void registry_leave(struct ktr_probe *probe)
{
	struct ktr_probe_row *row = probe->row ? ktr__probe_row_at(probe->row) : NULL;

	probe->joined = 0;
	/* What is unloaded may come back; what is removed by all who had it is off. */
	if ((row && __atomic_fetch_sub(&row->users, 1, __ATOMIC_RELAXED) != 1) || !probe->removed)
		return;
	__atomic_store_n(probe->word, 0, __ATOMIC_RELAXED);
	if (row)
		__atomic_store_n(&row->fed, 0, __ATOMIC_RELAXED);
}

/* What has become of a probe is told to the session and to its points. */
static void registry_update(struct ktr_probe *probe)
{
	if (registry_there(probe) && !probe->removed)
		registry_join(probe);
	else if (probe->joined)
		registry_leave(probe);
	registry_publish(probe);
}

/*
 * Is the session still that of the last call? Where it is another one, what was on is on there. Points lead to the
 * rows of the old one until they lead to those of the new one, and the old ones stay mapped.
 */
static bool registry_session(void)
{
	bool changed;

	registry_shared = ktr__probe_share(&changed);
	for (uint32_t i = 1; changed && i < registry_n; i++) {
		struct ktr_probe *probe = registry_index[i];

		probe->own_on = __atomic_load_n(probe->word, __ATOMIC_RELAXED);
		probe->word = &probe->own_on;
		probe->row = 0;
		ktr__probe_place(probe);
		if (probe->joined) {
			probe->joined = 0;
			registry_update(probe);
		}
		if (probe->row && probe->site.id)
			__atomic_store_n(&ktr__probe_row_at(probe->row)->site, probe->site.id, __ATOMIC_RELEASE);
	}
	return changed;
}

/* ---- starting, forking, ending ---- */

static void registry_before_fork(void)
{
	pthread_mutex_lock(&registry_lock);
}

static void registry_after_fork(void)
{
	pthread_mutex_unlock(&registry_lock);
}

/* libktr's handler has run before: the session is that of the child. */
static void registry_after_fork_child(void)
{
	bool same;

	ktr__probe_forked();
	ktr__handlers_forked();
	for (uint32_t i = 1; i < registry_n; i++)
		registry_index[i]->changing = 0;
	same = !registry_session();
	for (uint32_t i = 1; same && i < registry_n; i++)
		if (registry_index[i]->joined && registry_index[i]->row)
			__atomic_fetch_add(&ktr__probe_row_at(registry_index[i]->row)->users, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&registry_lock);
}

/*
 * When the first probe is made, and before the lock is taken: ktr may start here, which loads the writer, and a
 * thread that loads a module with points comes here with the loader's lock. So nobody waits for who is at it; both
 * calls may be made twice.
 *
 * Handlers of fork run in the order that they were given, and those before a fork the other way round; libktr's,
 * which it has given when it started, take its locks after ours, as enabling a probe does.
 */
static void registry_begin(void)
{
	bool not_yet = false;

	if (__atomic_load_n(&registry_begun, __ATOMIC_ACQUIRE))
		return;
	ktr__module_attach(&ktr__module_entry); /* the gate that we look at */
	ktr__class_attach(&ktr_class_probe);
	if (__atomic_compare_exchange_n(&registry_begun, &not_yet, true, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		pthread_atfork(registry_before_fork, registry_after_fork, registry_after_fork_child);
}

/*
 * Whoever comes later finds them switched as they are; who looks from outside sees that they have gone. exit(3) may
 * have been called by a handler of a signal that came upon us.
 */
__attribute__((destructor(101))) static void registry_end(void)
{
	if (pthread_mutex_trylock(&registry_lock))
		return;
	for (uint32_t i = 1; i < registry_n; i++) {
		struct ktr_probe *probe = registry_index[i];

		if (probe->joined && probe->row)
			__atomic_fetch_sub(&ktr__probe_row_at(probe->row)->users, 1, __ATOMIC_RELAXED);
		probe->joined = 0; /* modules linked before us are detached after this */
	}
	pthread_mutex_unlock(&registry_lock);
}

/* What any call that changes something begins with. */
static void registry_enter(void)
{
	registry_begin();
	pthread_mutex_lock(&registry_lock);
	registry_session();
}

/* The call site of fires by handle: a row of the session's table, made when it is first needed, by whomever. */
static int registry_site(struct ktr_probe *probe)
{
	struct ktr_probe_row *row = probe->row ? ktr__probe_row_at(probe->row) : NULL;
	char format[KTR__PROBE_SITE_FORMAT];
	uint32_t none = 0;
	int code;

	if (probe->site.id || ktr__probe_row_site(probe->row))
		return 0;
	ktr__probe_site_format(probe->name, format);
	probe->site.format = format;
	code = ktr__site_make(&probe->site);
	probe->site.format = "";
	if (!code && row)
		__atomic_compare_exchange_n(&row->site, &none, probe->site.id, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
	return code;
}

/* Once: enabling a probe is for recording it. Whoever takes the class out of the mask later meant to. */
static int registry_mask(void)
{
	uint64_t mask;

	if (registry_masked || ktr_mask_get(&mask))
		return 0;
	ktr__class_attach(&ktr_class_probe);
	registry_masked = true;
	return ktr_mask_change(ktr_class_probe.mask, 0, NULL);
}

/* Without a session there are handlers all the same. */
static int registry_enable(struct ktr_probe *probe)
{
	int code = registry_mask();

	if (!code && probe->id)
		code = registry_site(probe);
	if (code && code != -ENXIO)
		return code;
	probe->removed = 0;
	registry_update(probe);
	__atomic_store_n(probe->word, 1, __ATOMIC_RELEASE);
	return 0;
}

/* One that has just been made is on if the settings say so. */
static void registry_asked(struct ktr_probe *probe)
{
	const char *type = ktr_probe_type_name(probe->type);
	char full[KTR_PROBE_NAME_MAX + 256];

	snprintf(full, sizeof(full), "probe:%s:%.*s:%s", type, KTR_PROBE_ROW_FUNCTION - 1, probe->function, probe->name);
	if (ktr__probe_asked(type, probe->name) || ktr__probe_asked("", full))
		registry_enable(probe);
}

/* ---- making and removing ---- */

int ktr_probe_register(enum ktr_probe_type type, const char *name, const char *function, ktr_probe_fn *handler,
		       struct ktr_probe **out)
{
	struct ktr_probe *probe;
	int code = -ENOMEM;
	bool made;

	if (out)
		*out = NULL;
	if (type <= KTR_PROBE_NONE || type >= KTR_PROBE_TYPES_END || !name || !*name ||
	    strlen(name) > KTR_PROBE_NAME_MAX)
		return -EINVAL;
	registry_enter();
	probe = registry_find(type, name);
	if (probe && (probe->id || probe->changing)) {
		pthread_mutex_unlock(&registry_lock);
		return -EEXIST;
	}
	made = !probe;
	if (made)
		probe = registry_make(type, name, function);
	if (probe && registry_grow(&registry_id, &registry_id_room, registry_n_ids)) {
		probe->id = registry_n_ids;
		registry_id[registry_n_ids++] = probe;
		probe->context = NULL;
		probe->removed = 0;
		rcu_xchg_pointer(&probe->handler, handler);
		registry_update(probe);
		/* In other processes of the session it may be on. */
		if (__atomic_load_n(probe->word, __ATOMIC_RELAXED))
			registry_site(probe);
		if (made)
			registry_asked(probe);
		code = 0;
		if (out)
			*out = probe;
	}
	pthread_mutex_unlock(&registry_lock);
	return code;
}

/* Waits until nobody else does so with this probe; the lock is free in between. */
static void registry_turn(const struct ktr_probe *probe)
{
	for (uint32_t ns = 0; probe->changing;) {
		pthread_mutex_unlock(&registry_lock);
		ktr__handler_pause(&ns);
		pthread_mutex_lock(&registry_lock);
	}
}

/* Takes the handler away and waits for those who are in it; the lock is free in between. */
static void registry_quiet(struct ktr_probe *probe)
{
	probe->changing = 1;
	__atomic_store_n(&probe->handler, NULL, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&registry_lock);
	ktr__handler_wait(probe);
	pthread_mutex_lock(&registry_lock);
	probe->changing = 0;
}

int ktr_probe_remove(struct ktr_probe *probe)
{
	int code = -ENOENT;

	if (ktr__handler_inside(__builtin_frame_address(0)))
		return -EDEADLK;
	pthread_mutex_lock(&registry_lock);
	if (probe->id)
		registry_turn(probe);
	if (probe->id) {
		registry_id[probe->id] = NULL;
		probe->id = 0;
		probe->removed = 1;
		registry_update(probe);
		registry_quiet(probe);
		code = 0;
	}
	pthread_mutex_unlock(&registry_lock);
	return code;
}

int ktr_probe_handler(struct ktr_probe *probe, ktr_probe_fn *handler, void *context)
{
	int code = -ENOENT;

	if (ktr__handler_inside(__builtin_frame_address(0)))
		return -EDEADLK;
	pthread_mutex_lock(&registry_lock);
	if (registry_there(probe))
		registry_turn(probe);
	/* The old handler must not meet the new context. */
	if (registry_there(probe))
		registry_quiet(probe);
	if (registry_there(probe)) {
		__atomic_store_n(&probe->context, context, __ATOMIC_RELAXED);
		rcu_xchg_pointer(&probe->handler, handler);
		code = 0;
	}
	pthread_mutex_unlock(&registry_lock);
	return code;
}

/* ---- switching ---- */

int ktr_probe_enable(struct ktr_probe *probe)
{
	int code = -ENOENT;

	registry_enter();
	if (registry_there(probe))
		code = registry_enable(probe);
	pthread_mutex_unlock(&registry_lock);
	return code;
}

int ktr_probe_disable(struct ktr_probe *probe)
{
	int code = -ENOENT;

	registry_enter();
	if (registry_there(probe)) {
		if (probe->joined)
			__atomic_store_n(probe->word, 0, __ATOMIC_RELAXED);
		code = 0;
	}
	pthread_mutex_unlock(&registry_lock);
	return code;
}

int ktr_probe_enabled(const struct ktr_probe *probe)
{
	const uint32_t *word = __atomic_load_n(&probe->word, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&probe->joined, __ATOMIC_RELAXED) && __atomic_load_n(word, __ATOMIC_RELAXED) != 0;
}

static void registry_all(uint32_t off)
{
	pthread_mutex_lock(&registry_lock);
	__atomic_store_n(&registry_off, off, __ATOMIC_RELAXED);
	for (uint32_t i = 1; i < registry_n; i++)
		registry_publish(registry_index[i]);
	pthread_mutex_unlock(&registry_lock);
}

void ktr_probes_enable(void)
{
	registry_all(0);
}

void ktr_probes_disable(void)
{
	registry_all(1);
}

int ktr_probes_enabled(void)
{
	return !__atomic_load_n(&registry_off, __ATOMIC_RELAXED);
}

/* ---- looking ---- */

struct ktr_probe *ktr_probe_by_id(uint32_t id)
{
	struct ktr_probe *probe;

	pthread_mutex_lock(&registry_lock);
	probe = id < registry_n_ids && id ? registry_id[id] : NULL;
	pthread_mutex_unlock(&registry_lock);
	return probe;
}

struct ktr_probe *ktr_probe_find(enum ktr_probe_type type, const char *name)
{
	struct ktr_probe *probe;

	pthread_mutex_lock(&registry_lock);
	probe = registry_find(type, name);
	if (probe && !registry_there(probe))
		probe = NULL;
	pthread_mutex_unlock(&registry_lock);
	return probe;
}

uint64_t ktr_probe_fires(const struct ktr_probe *probe)
{
	return ktr__probe_count(probe);
}

int ktr_probe_walk(int (*found)(void *context, struct ktr_probe *probe), void *context)
{
	int code = 0;

	for (uint32_t i = 1; !code; i++) {
		struct ktr_probe *probe = NULL;
		bool there = false;

		pthread_mutex_lock(&registry_lock);
		if (i < registry_n) {
			probe = registry_index[i];
			there = registry_there(probe);
		}
		pthread_mutex_unlock(&registry_lock);
		if (!probe)
			break;
		if (there)
			code = found(context, probe);
	}
	return code;
}

void ktr__probe_totals(uint64_t *n_probes, uint64_t *n_enabled, uint64_t *n_fired, uint64_t *overhead_ns)
{
	*n_probes = *n_enabled = *n_fired = 0;
	pthread_mutex_lock(&registry_lock);
	for (uint32_t i = 1; i < registry_n; i++) {
		*n_probes += registry_there(registry_index[i]);
		*n_enabled += ktr_probe_enabled(registry_index[i]) != 0;
		*n_fired += ktr__probe_count(registry_index[i]);
	}
	if (!registry_overhead_ns)
		registry_overhead_ns = ktr__probe_calibrate();
	*overhead_ns = registry_overhead_ns;
	pthread_mutex_unlock(&registry_lock);
}

static bool registry_has_site(const struct ktr_probe *probe, uint32_t site)
{
	if (probe->site.id == site)
		return true;
	for (const struct ktr__probe_point *point = probe->points; point; point = point->next)
		if (point->site->id == site)
			return true;
	return false;
}

uint32_t ktr__probe_of_site(uint32_t site)
{
	uint32_t index = 0;

	pthread_mutex_lock(&registry_lock);
	for (uint32_t i = 1; i < registry_n && !index; i++)
		if (registry_has_site(registry_index[i], site))
			index = registry_index[i]->index;
	pthread_mutex_unlock(&registry_lock);
	return index;
}

uint32_t ktr__probe_id(uint32_t index)
{
	uint32_t id;

	pthread_mutex_lock(&registry_lock);
	id = index < registry_n ? registry_index[index]->id : 0;
	pthread_mutex_unlock(&registry_lock);
	return id;
}

/* ---- points ---- */

int ktr__probe_attach(struct ktr__probe_module *module)
{
	int code = 0;

	if (!module->begin || module->begin == module->end)
		return 0;
	registry_enter();
	if (module->attached) {
		pthread_mutex_unlock(&registry_lock);
		return 0;
	}
	module->attached = 1;
	for (struct ktr__probe_point **at = module->begin; at != module->end; at++) {
		struct ktr__probe_point *point = *at;
		struct ktr_probe *probe;
		bool made;

		/* A function inlined twice lists its points twice. */
		if (!point || point->probe || !ktr_probe_type_name(point->type)[0])
			continue;
		probe = registry_find(point->type, point->name);
		made = !probe;
		if (made)
			probe = registry_make(point->type, point->name, point->function);
		if (!probe) {
			code = -ENOMEM;
			continue;
		}
		point->probe = probe;
		point->next = probe->points;
		probe->points = point;
		registry_update(probe);
		if (made)
			registry_asked(probe);
	}
	pthread_mutex_unlock(&registry_lock);
	return code;
}

/* The module's text goes away: nobody runs in it any more. */
void ktr__probe_detach(struct ktr__probe_module *module)
{
	pthread_mutex_lock(&registry_lock);
	for (struct ktr__probe_point **at = module->begin; module->attached && at != module->end; at++) {
		struct ktr_probe *probe = *at ? (*at)->probe : NULL;

		for (struct ktr__probe_point **link = probe ? &probe->points : NULL; link && *link;
		     link = &(*link)->next)
			if (*link == *at) {
				*link = (*at)->next;
				break;
			}
		if (!probe)
			continue;
		(*at)->probe = NULL;
		__atomic_store_n(&(*at)->on, &(*at)->zero, __ATOMIC_RELAXED);
		registry_update(probe);
	}
	module->attached = 0;
	pthread_mutex_unlock(&registry_lock);
}
