/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes by type and name, and what is switched on.
 *
 * One mutex, registry_mutex, guards everything but what firing reads: on words and handlers (atomic). It is never
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
#include "ktr/provider/probe/table.h"
#include "ktr/start/attach.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t registry_off;	    /* 1: all are off */
static bool registry_shared; /* rows of the session can be had */
static bool registry_begun; /* atomic */
static bool registry_masked; /* the class has been put into the mask, once */

void ktr__probe_lock(void)
{
	pthread_mutex_lock(&registry_mutex);
}

void ktr__probe_unlock(void)
{
	pthread_mutex_unlock(&registry_mutex);
}

bool ktr__probe_there(const struct ktr_probe *probe)
{
	return probe->id || probe->points;
}

/* Tells the points where to look. */
static void registry_publish(struct ktr_probe *probe)
{
	const uint32_t *on = probe->joined && !registry_off ? probe->word : &ktr__probe_zero;

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

void ktr__probe_update(struct ktr_probe *probe)
{
	if (ktr__probe_there(probe) && !probe->removed)
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
	for (struct ktr_probe *probe = NULL; changed && (probe = ktr__probe_table_next(probe));) {
		probe->own_on = __atomic_load_n(probe->word, __ATOMIC_RELAXED);
		probe->word = &probe->own_on;
		probe->row = 0;
		ktr__probe_place(probe);
		if (probe->joined) {
			probe->joined = 0;
			ktr__probe_update(probe);
		}
		if (probe->row && probe->site.id)
			__atomic_store_n(&ktr__probe_row_at(probe->row)->site, probe->site.id, __ATOMIC_RELEASE);
	}
	return changed;
}

/* ---- starting, forking, ending ---- */

static void registry_before_fork(void)
{
	ktr__probe_lock();
}

static void registry_after_fork(void)
{
	ktr__probe_unlock();
}

/* libktr's handler has run before: the session is that of the child. */
static void registry_after_fork_child(void)
{
	struct ktr_probe *probe = NULL;
	bool same;

	ktr__probe_forked();
	ktr__handlers_forked();
	while ((probe = ktr__probe_table_next(probe)))
		probe->changing = 0;
	same = !registry_session();
	while (same && (probe = ktr__probe_table_next(probe)))
		if (probe->joined && probe->row)
			__atomic_fetch_add(&ktr__probe_row_at(probe->row)->users, 1, __ATOMIC_RELAXED);
	ktr__probe_unlock();
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
	struct ktr_probe *probe = NULL;

	if (pthread_mutex_trylock(&registry_mutex))
		return;
	while ((probe = ktr__probe_table_next(probe))) {
		if (probe->joined && probe->row)
			__atomic_fetch_sub(&ktr__probe_row_at(probe->row)->users, 1, __ATOMIC_RELAXED);
		probe->joined = 0; /* modules linked before us are detached after this */
	}
	ktr__probe_unlock();
}

void ktr__probe_enter(void)
{
	registry_begin();
	ktr__probe_lock();
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
	ktr__probe_update(probe);
	__atomic_store_n(probe->word, 1, __ATOMIC_RELEASE);
	return 0;
}

void ktr__probe_made(struct ktr_probe *probe)
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
	ktr__probe_enter();
	probe = ktr__probe_table_find(type, name);
	if (probe && (probe->id || probe->changing)) {
		ktr__probe_unlock();
		return -EEXIST;
	}
	made = !probe;
	if (made)
		probe = ktr__probe_table_make(type, name, function);
	if (probe && ktr__probe_table_give_id(probe)) {
		probe->context = NULL;
		probe->removed = 0;
		rcu_xchg_pointer(&probe->handler, handler);
		ktr__probe_update(probe);
		/* In other processes of the session it may be on. */
		if (__atomic_load_n(probe->word, __ATOMIC_RELAXED))
			registry_site(probe);
		if (made)
			ktr__probe_made(probe);
		code = 0;
		if (out)
			*out = probe;
	}
	ktr__probe_unlock();
	return code;
}

/* Waits until nobody else does so with this probe; the lock is free in between. */
static void registry_turn(const struct ktr_probe *probe)
{
	for (uint32_t ns = 0; probe->changing;) {
		ktr__probe_unlock();
		ktr__handler_pause(&ns);
		ktr__probe_lock();
	}
}

/* Takes the handler away and waits for those who are in it; the lock is free in between. */
static void registry_quiet(struct ktr_probe *probe)
{
	probe->changing = 1;
	__atomic_store_n(&probe->handler, NULL, __ATOMIC_SEQ_CST);
	ktr__probe_unlock();
	ktr__handler_wait(probe);
	ktr__probe_lock();
	probe->changing = 0;
}

int ktr_probe_remove(struct ktr_probe *probe)
{
	int code = -ENOENT;

	if (ktr__handler_inside(__builtin_frame_address(0)))
		return -EDEADLK;
	ktr__probe_lock();
	if (probe->id)
		registry_turn(probe);
	if (probe->id) {
		ktr__probe_table_take_id(probe);
		probe->removed = 1;
		ktr__probe_update(probe);
		registry_quiet(probe);
		code = 0;
	}
	ktr__probe_unlock();
	return code;
}

int ktr_probe_handler(struct ktr_probe *probe, ktr_probe_fn *handler, void *context)
{
	int code = -ENOENT;

	if (ktr__handler_inside(__builtin_frame_address(0)))
		return -EDEADLK;
	ktr__probe_lock();
	if (ktr__probe_there(probe))
		registry_turn(probe);
	/* The old handler must not meet the new context. */
	if (ktr__probe_there(probe))
		registry_quiet(probe);
	if (ktr__probe_there(probe)) {
		__atomic_store_n(&probe->context, context, __ATOMIC_RELAXED);
		rcu_xchg_pointer(&probe->handler, handler);
		code = 0;
	}
	ktr__probe_unlock();
	return code;
}

/* ---- switching ---- */

int ktr_probe_enable(struct ktr_probe *probe)
{
	int code = -ENOENT;

	ktr__probe_enter();
	if (ktr__probe_there(probe))
		code = registry_enable(probe);
	ktr__probe_unlock();
	return code;
}

int ktr_probe_disable(struct ktr_probe *probe)
{
	int code = -ENOENT;

	ktr__probe_enter();
	if (ktr__probe_there(probe)) {
		if (probe->joined)
			__atomic_store_n(probe->word, 0, __ATOMIC_RELAXED);
		code = 0;
	}
	ktr__probe_unlock();
	return code;
}

int ktr_probe_enabled(const struct ktr_probe *probe)
{
	const uint32_t *word = __atomic_load_n(&probe->word, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&probe->joined, __ATOMIC_RELAXED) && __atomic_load_n(word, __ATOMIC_RELAXED) != 0;
}

static void registry_all(uint32_t off)
{
	struct ktr_probe *probe = NULL;

	ktr__probe_lock();
	__atomic_store_n(&registry_off, off, __ATOMIC_RELAXED);
	while ((probe = ktr__probe_table_next(probe)))
		registry_publish(probe);
	ktr__probe_unlock();
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
