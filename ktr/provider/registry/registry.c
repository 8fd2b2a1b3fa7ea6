/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Providers and their probes.
 *
 * One mutex guards everything but what firing reads. It is recursive, for a provider's operations call back; they
 * are called under it, so a fork waits for them, and none of them runs in a child's other half.
 *
 * Whether a probe is wanted is the word of its row in the session (rows.c); where there is no session, or no room
 * in it, a word of its own. look() compares the words with what has been done, and has the providers do the rest. A
 * probe leads who fires it to that word when its provider has enabled it, and to one that stays 0 otherwise.
 */
#include "ktr/provider/registry/registry.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/registry/agent.h"
#include "ktr/provider/registry/describe.h"
#include "ktr/provider/registry/names.h"
#include "ktr/provider/registry/rows.h"
#include "ktr/record/own.h"
#include "ktr/start/attach.h"

#include <ktr/ctl.h>

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [bytes] of the operations before look() was one. */
#define REGISTRY_OPS_FIRST offsetof(struct ktr_provider_ops, look)

static const uint32_t registry_zero; /* what is tested where a probe is off */
static pthread_mutex_t registry_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct ktr_provider *registry_providers;
static uint32_t registry_suspended; /* times that all of them are */
static uint32_t registry_n_on; /* probes that are enabled; written under the lock */
static __thread uint32_t registry_in_op; /* operations of providers that this thread is in */
static bool registry_shared; /* rows of the session can be had */
static uint32_t registry_n_refused; /* probes that were wanted as they were offered, and could not be enabled */
static struct ktr_error registry_first_refused; /* what was said of the first of them */

void ktr__registry_lock(void)
{
	pthread_mutex_lock(&registry_mutex);
}

bool ktr__registry_trylock(void)
{
	return !pthread_mutex_trylock(&registry_mutex);
}

void ktr__registry_unlock(void)
{
	pthread_mutex_unlock(&registry_mutex);
}

bool ktr__registry_any(void)
{
	return registry_providers != NULL;
}

bool ktr__registry_any_on(void)
{
	return __atomic_load_n(&registry_n_on, __ATOMIC_RELAXED);
}

struct ktr_provider *ktr__registry_providers(void)
{
	return registry_providers;
}

bool ktr__registry_inside(void)
{
	return registry_in_op;
}

uint32_t ktr__registry_refused(const struct ktr_error **first)
{
	*first = &registry_first_refused;
	return registry_n_refused;
}

/* ---- enabling ---- */

static struct ktr_offer_row *registry_row(const struct ktr__offered *offered)
{
	return offered->row ? ktr__rows_at(offered->row) : NULL;
}

static void registry_publish(struct ktr__offered *offered)
{
	bool fires = offered->enabled && !offered->probe.provider->suspended && !registry_suspended;

	__atomic_store_n(&offered->probe.on, fires ? offered->word : &registry_zero, __ATOMIC_RELEASE);
}

static void registry_call(void (*op)(struct ktr_provider_probe *), struct ktr__offered *offered)
{
	registry_in_op++;
	if (op)
		op(&offered->probe);
	registry_in_op--;
}

/* With the first one the thread begins to look at what they take. */
static void registry_on(int32_t more)
{
	bool is_first = !registry_n_on;

	__atomic_store_n(&registry_n_on, registry_n_on + (uint32_t)more, __ATOMIC_RELAXED);
	if (is_first)
		ktr__rows_wake();
}

/* What recording it needs. */
static int registry_site(struct ktr__offered *offered, struct ktr_error *why)
{
	struct ktr_provider *provider = offered->probe.provider;
	char format[KTR__DESCRIBE_FORMAT];
	int code;

	ktr__class_attach(&provider->cls);
	if (offered->probe.site.id)
		return 0;
	ktr__describe_format(&offered->probe, format);
	offered->probe.site.format = format;
	code = ktr__site_make(&offered->probe.site);
	offered->probe.site.format = "";
	return code ? ktr_error_set(why, -code, code == -ENXIO ? "there is no session" :
					"the session has no room for another call site") : 0;
}

static int registry_enable(struct ktr__offered *offered, struct ktr_error *err)
{
	struct ktr_provider *provider = offered->probe.provider;
	struct ktr_error why = KTR_ERROR_NONE;
	int code = registry_site(offered, &why);

	registry_in_op++;
	if (!code && provider->ops->enable)
		code = provider->ops->enable(&offered->probe, &why);
	registry_in_op--;
	offered->failed = code != 0;
	if (code) {
		if (!why.text[0])
			ktr_error_set(&why, -code, "%s", strerror(-code));
		if (offered->row)
			ktr__rows_failed(offered->row, &why, -code);
		return ktr_error_set(err, -code, "%s:%s:%s:%s: %s", provider->name, offered->probe.module,
				     offered->probe.function, offered->probe.name, why.text);
	}
	offered->enabled = true;
	registry_on(1);
	if (provider->suspended || registry_suspended)
		registry_call(provider->ops->suspend, offered);
	registry_publish(offered);
	return 0;
}

static void registry_disable(struct ktr__offered *offered)
{
	if (!offered->enabled)
		return;
	offered->enabled = false;
	registry_on(-1);
	registry_publish(offered);
	registry_call(offered->probe.provider->ops->disable, offered);
}

static int registry_look_one(struct ktr__offered *offered, struct ktr_error *err)
{
	const struct ktr_offer_row *row = registry_row(offered);
	bool wanted = __atomic_load_n(offered->word, __ATOMIC_ACQUIRE) != 0 && !offered->excluded;

	if (!wanted) {
		offered->failed = false;
		registry_disable(offered);
		return 0;
	}
	if (row && !__atomic_load_n(&row->failed, __ATOMIC_ACQUIRE))
		offered->failed = false;
	return offered->enabled || offered->failed ? 0 : registry_enable(offered, err);
}

int ktr__registry_look_at(struct ktr__offered *offered, struct ktr_error *err)
{
	/* What an operation switches is done by who is at it already, or by the agent. */
	return registry_in_op ? 0 : registry_look_one(offered, err);
}

/* A provider's other settings come first, for they say what an enabled probe does. */
static void registry_settings(struct ktr_provider *provider)
{
	if (provider->ops->size <= REGISTRY_OPS_FIRST || !provider->ops->look)
		return;
	registry_in_op++;
	provider->ops->look(provider);
	registry_in_op--;
}

void ktr__registry_settings(void)
{
	for (struct ktr_provider *at = registry_in_op ? NULL : registry_providers; at; at = at->next)
		registry_settings(at);
}

int ktr__registry_look(struct ktr_error *err)
{
	int code = 0;

	/* What an operation switches is done by who is at it already, or by the agent. */
	for (struct ktr_provider *provider = registry_in_op ? NULL : registry_providers; provider;
	     provider = provider->next)
		for (struct ktr__offered *at = provider->probes; at; at = at->next) {
			int rc = registry_look_one(at, err);

			code = code ? code : rc;
		}
	return code;
}

/* It is no probe at all: nothing is said of its having failed. */
static void registry_not_refused(struct ktr__offered *offered)
{
	if (!offered->refused)
		return;
	offered->refused = false;
	if (!--registry_n_refused)
		registry_first_refused = (struct ktr_error)KTR_ERROR_NONE;
}

/* ---- the session ---- */

static void registry_join(struct ktr__offered *offered)
{
	struct ktr_offer_row *row;

	if (registry_shared)
		offered->row = ktr__rows_of(offered->probe.provider->name, &offered->probe, offered->arguments);
	row = registry_row(offered);
	offered->word = row ? &row->on : &offered->own_on;
	if (!row)
		return;
	__atomic_fetch_add(&row->users, 1, __ATOMIC_RELAXED);
	if (offered->own_on)
		__atomic_store_n(&row->on, 1, __ATOMIC_RELAXED);
	if (offered->excluded)
		ktr__rows_excluded(offered->row, offered->excluded);
}

static void registry_leave(struct ktr__offered *offered)
{
	struct ktr_offer_row *row = registry_row(offered);

	if (row)
		__atomic_fetch_sub(&row->users, 1, __ATOMIC_RELAXED);
	offered->row = 0;
}

/* Where it is another session than before, what was on is on there. */
bool ktr__registry_session(void)
{
	bool changed;

	registry_shared = ktr__rows_follow(&changed);
	for (struct ktr_provider *provider = registry_providers; provider && changed; provider = provider->next)
		for (struct ktr__offered *at = provider->probes; at; at = at->next) {
			at->own_on = __atomic_load_n(at->word, __ATOMIC_RELAXED);
			at->row = 0;
			registry_join(at);
			registry_publish(at);
		}
	return changed;
}

void ktr__registry_forked(void)
{
	pthread_mutexattr_t attr;
	bool changed;

	/* The owner of a recursive mutex is known by the number of its thread, which is another one in a child. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&registry_mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	changed = ktr__registry_session();
	for (struct ktr_provider *provider = registry_providers; provider && !changed; provider = provider->next)
		for (struct ktr__offered *at = provider->probes; at; at = at->next)
			if (at->row)
				__atomic_fetch_add(&ktr__rows_at(at->row)->users, 1, __ATOMIC_RELAXED);
}

void ktr__registry_gone(void)
{
	if (!ktr__registry_trylock())
		return;
	for (struct ktr_provider *provider = registry_providers; provider; provider = provider->next)
		for (struct ktr__offered *at = provider->probes; at; at = at->next)
			registry_leave(at);
	ktr__rows_leave();
	ktr__registry_unlock();
}

/* ---- providers ---- */

static bool registry_name_ok(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > KTR_PROVIDER_NAME_MAX)
		return false;
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-')
			return false;
	return true;
}

static bool registry_taken(const char *name)
{
	static const char everywhere[][8] = { "ktr", "probe", "sched", "vminfo" };

	for (unsigned i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++)
		if (strcmp(name, everywhere[i]) == 0)
			return true;
	for (struct ktr_provider *at = registry_providers; at; at = at->next)
		if (strcmp(name, at->name) == 0)
			return true;
	return false;
}

int ktr_provider_register(const char *name, const struct ktr_provider_ops *ops, void *context,
			  struct ktr_provider **out)
{
	struct ktr_provider *provider;
	int code = -EEXIST;

	*out = NULL;
	if (!registry_name_ok(name) || (ops->size != sizeof(*ops) && ops->size != REGISTRY_OPS_FIRST) ||
	    !ops->suspend != !ops->resume)
		return -EINVAL;
	provider = calloc(1, sizeof(*provider));
	if (!provider)
		return -ENOMEM;
	ktr__agent_begin();
	ktr__registry_lock();
	if (!registry_taken(name)) {
		strcpy(provider->name, name);
		provider->ops = ops;
		provider->context = context;
		provider->cls.name = provider->name;
		provider->cls.help = "";
		provider->next = registry_providers;
		registry_providers = *out = provider;
		ktr__registry_session();
		if (registry_shared)
			ktr__agent_start();
		registry_settings(provider);
		registry_in_op++;
		if (ops->provide)
			ops->provide(provider, NULL);
		registry_in_op--;
		code = 0;
	}
	ktr__registry_unlock();
	if (code)
		free(provider);
	return code;
}

int ktr_provider_unregister(struct ktr_provider *provider)
{
	struct ktr_provider **at = &registry_providers;

	if (ktr__registry_inside())
		return -EBUSY;
	ktr__registry_lock();
	while (provider->probes)
		ktr_provider_remove(&provider->probes->probe);
	while (*at != provider)
		at = &(*at)->next;
	*at = provider->next;
	ktr__rows_wake();
	ktr__registry_unlock();
	free(provider);
	return 0;
}

void *ktr_provider_context(const struct ktr_provider *provider)
{
	return provider->context;
}

const char *ktr_provider_name(const struct ktr_provider *provider)
{
	return provider->name;
}

static void registry_suspend(struct ktr_provider *provider, bool resume)
{
	for (struct ktr__offered *at = provider->probes; at; at = at->next) {
		registry_publish(at);
		if (at->enabled)
			registry_call(resume ? provider->ops->resume : provider->ops->suspend, at);
	}
}

void ktr_provider_suspend(struct ktr_provider *provider)
{
	uint32_t *times = provider ? &provider->suspended : &registry_suspended;

	ktr__registry_lock();
	if ((*times)++ == 0)
		for (struct ktr_provider *at = registry_providers; at; at = at->next)
			if ((!provider || at == provider) && at->suspended + registry_suspended == 1)
				registry_suspend(at, false);
	ktr__registry_unlock();
}

void ktr_provider_resume(struct ktr_provider *provider)
{
	uint32_t *times = provider ? &provider->suspended : &registry_suspended;

	ktr__registry_lock();
	if (*times && --*times == 0)
		for (struct ktr_provider *at = registry_providers; at; at = at->next)
			if ((!provider || at == provider) && at->suspended + registry_suspended == 0)
				registry_suspend(at, true);
	ktr__registry_unlock();
}

void ktr_provider_module_loaded(const struct ktr_provider_module *module)
{
	ktr__registry_lock();
	registry_in_op++;
	for (struct ktr_provider *at = registry_providers; at; at = at->next)
		if (at->ops->provide_module)
			at->ops->provide_module(at, module);
	registry_in_op--;
	ktr__registry_unlock();
}

void ktr__registry_provide(const char *spec)
{
	registry_in_op++;
	for (struct ktr_provider *at = registry_providers; at; at = at->next)
		if (at->ops->provide)
			at->ops->provide(at, spec);
	registry_in_op--;
}

/* ---- probes ---- */

static bool registry_part_ok(const char *part, bool is_name)
{
	if (strlen(part) > KTR_PROVIDER_PART_MAX || (is_name && !*part))
		return false;
	for (; *part; part++)
		if (iscntrl((unsigned char)*part) || (!is_name && *part == ':'))
			return false;
	return true;
}

static const char *registry_copy(char **to, const char *text)
{
	char *at = *to;

	*to = stpcpy(at, text) + 1;
	return at;
}

static struct ktr__offered *registry_make(struct ktr_provider *provider, const char *module, const char *function,
					  const char *name, void *context)
{
	size_t n = strlen(module) + strlen(function) + strlen(name) + 3;
	struct ktr__offered *offered = calloc(1, sizeof(*offered) + n);
	char *to;

	if (!offered)
		return NULL;
	to = offered->text;
	offered->probe.provider = provider;
	offered->probe.module = registry_copy(&to, module);
	offered->probe.function = registry_copy(&to, function);
	offered->probe.name = registry_copy(&to, name);
	offered->probe.context = context;
	offered->probe.on = &registry_zero;
	offered->word = &offered->own_on;
	ktr__describe_site(offered);
	offered->next = provider->probes;
	if (offered->next)
		offered->next->link = &offered->next;
	offered->link = &provider->probes;
	provider->probes = offered;
	ktr__names_add(offered);
	return offered;
}

/* Once: enabling a probe is for recording it. Whoever takes the class out of the mask later meant to. */
static void registry_mask(struct ktr_provider *provider)
{
	ktr__class_attach(&provider->cls);
	if (!provider->masked && provider->cls.mask)
		provider->masked = ktr_mask_change(provider->cls.mask, 0, NULL) == 0;
}

static bool registry_asked(const struct ktr_provider_probe *probe)
{
	char full[4096];

	snprintf(full, sizeof(full), "%s:%s:%s:%s", probe->provider->name, probe->module, probe->function, probe->name);
	return ktr__probe_asked("", full);
}

int ktr_provider_offer(struct ktr_provider *provider, const char *module, const char *function, const char *name,
		       void *context, struct ktr_provider_probe **out)
{
	struct ktr__offered *offered = NULL;
	int code = 0;

	module = module ? module : "";
	function = function ? function : "";
	name = name ? name : "";
	if (out)
		*out = NULL;
	if (!registry_part_ok(module, false) || !registry_part_ok(function, false) || !registry_part_ok(name, true))
		return -EINVAL;
	ktr__registry_lock();
	ktr__registry_session();
	if (ktr__names_find(provider, module, function, name))
		code = -EEXIST;
	else if (!(offered = registry_make(provider, module, function, name, context)))
		code = -ENOMEM;
	if (offered) {
		registry_join(offered);
		if (out)
			*out = &offered->probe;
		/* What took too much in a process before this one stays off, until somebody wants it back. */
		if (registry_asked(&offered->probe) && !(offered->row && ktr__rows_is_spent(offered->row))) {
			registry_mask(provider);
			__atomic_store_n(offered->word, 1, __ATOMIC_RELEASE);
		}
		if (*offered->word &&
		    registry_look_one(offered, registry_n_refused ? NULL : &registry_first_refused)) {
			offered->refused = true;
			registry_n_refused++;
		}
	}
	ktr__registry_unlock();
	return code;
}

int ktr_provider_exclude(struct ktr_provider_probe *probe, const char *why)
{
	struct ktr__offered *offered = (struct ktr__offered *)(void *)probe;
	char *text = strdup(why);

	if (!text)
		return -ENOMEM;
	ktr__registry_lock();
	free(offered->excluded);
	offered->excluded = text;
	registry_not_refused(offered);
	__atomic_store_n(&offered->own_on, 0, __ATOMIC_RELAXED);
	if (offered->row)
		ktr__rows_excluded(offered->row, text);
	registry_look_one(offered, NULL);
	ktr__registry_unlock();
	return 0;
}

void ktr_provider_remove(struct ktr_provider_probe *probe)
{
	struct ktr__offered *offered = (struct ktr__offered *)(void *)probe;

	ktr__registry_lock();
	registry_disable(offered);
	registry_call(probe->provider->ops->destroy, offered);
	registry_leave(offered);
	ktr__names_remove(offered);
	*offered->link = offered->next;
	if (offered->next)
		offered->next->link = offered->link;
	ktr__registry_unlock();
	free(offered->arguments);
	free(offered->excluded);
	free(offered);
}
