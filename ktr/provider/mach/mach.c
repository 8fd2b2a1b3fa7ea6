/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes of a DTrace-like kernel framework, offered by the provider "mach": mach:TYPE:FUNCTION:NAME.
 *
 * One mutex guards what is registered. Who holds it may take the registry's (of libktr-provider), by calling it,
 * and never the other way round: the operations here, which the registry calls under its own, take no lock. It is
 * not held while a handler runs or is waited for; who waits has said so in the probe (changing).
 *
 * A probe is offered as long as it is registered, and for good once it has had points; ids are given in the order
 * of registration, 1 to 3 being kept for the framework's own (mach_kernel.c).
 */
#include "ktr/provider/mach/mach.h"

#include "ktr/provider/handler/handler.h"
#include "ktr/provider/mach/mach_ids.h"
#include "ktr/provider/mach/mach_kernel.h"
#include "ktr/provider/mach/mach_read.h"
#include "ktr/session/clock.h"
#include "ktr/session/mach_own.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MACH_BUCKETS 1024u /* chains: a program has some hundred probes */
#define MACH_SPACE   64u   /* indexes of the first block of the table; each further one has twice as many */
#define MACH_BLOCKS  20

struct ktr_class ktr_class_mach = { .name = "mach", .help = "probes of ktr/dtrace.h" };

static pthread_mutex_t mach_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ktr_provider *mach_provider;
static struct ktr__mach_probe *mach_bucket[MACH_BUCKETS]; /* release, acquire */
static struct ktr__mach_probe **mach_block[MACH_BLOCKS]; /* by index; release, acquire */
static uint32_t mach_n = 1; /* the next index. Atomic */
static uint32_t mach_next_id = KTR__MACH_OWN_END;
static bool mach_forks;	   /* handlers of fork have been given */
static bool mach_disabled; /* all are off. Atomic */

/* ---- what the registry asks ---- */

static int mach_op_enable(struct ktr_provider_probe *offered, struct ktr_error *why)
{
	(void)why;
	ktr__mach_feed(offered->context);
	return 0;
}

static void mach_op_disable(struct ktr_provider_probe *offered)
{
	ktr__mach_unfeed(offered->context);
}

static void mach_op_resume(struct ktr_provider_probe *offered)
{
	ktr__mach_feed(offered->context);
}

/* Those of its first point; one that is only fired by name has six words. */
static int mach_op_arg(struct ktr_provider_probe *offered, unsigned number, struct ktr_provider_arg *arg)
{
	static __thread char name[128]; /* until the next call */
	const struct ktr__mach_probe *probe = offered->context;
	const struct ktr_site *site = probe->points ? probe->points->site : NULL;
	const char *at = site ? site->names : "arg0,arg1,arg2,arg3,arg4,arg5";
	size_t n;

	if (number >= (site ? site->n_args : KTR_ARGS_MAX))
		return -ENOENT;
	for (unsigned i = 0; i < number; i++)
		at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',');
	n = strcspn(at, ",");
	n = n < sizeof(name) ? n : sizeof(name) - 1;
	memcpy(name, at, n);
	name[n] = '\0';
	*arg = (struct ktr_provider_arg){ name, "", KTR_ARG_U64 };
	return 0;
}

static const struct ktr_provider_ops mach_ops = {
	.size = sizeof(mach_ops), .enable = mach_op_enable, .disable = mach_op_disable, .suspend = mach_op_disable,
	.resume = mach_op_resume, .arg_desc = mach_op_arg,
};

/* ---- the lock ---- */

static void mach_before_fork(void)
{
	ktr__mach_read_hold();
	pthread_mutex_lock(&mach_lock);
}

static void mach_after_fork(void)
{
	pthread_mutex_unlock(&mach_lock);
	ktr__mach_read_release();
}

/* What the parent counted is its own. A handler that was waited for there is gone, and nobody waits here. */
static void mach_after_fork_child(void)
{
	for (uint32_t i = 1; i < mach_n; i++) {
		struct ktr__mach_probe *probe = ktr__mach_at(i);

		memset(probe->count, 0, sizeof(probe->count));
		probe->changing = false;
	}
	ktr__handlers_forked();
	mach_after_fork();
}

int ktr__mach_enter(void)
{
	int code = 0;

	pthread_mutex_lock(&mach_lock);
	/* The registry's handlers of fork are given first, and so come within ours. */
	if (!mach_provider) {
		ktr__module_attach(&ktr__module_entry); /* the gate that we look at */
		code = ktr_provider_register("mach", &mach_ops, NULL, &mach_provider);
		ktr__class_attach(&ktr_class_mach); /* a program's sites may have a copy */
	}
	if (!code && !mach_forks)
		mach_forks = pthread_atfork(mach_before_fork, mach_after_fork, mach_after_fork_child) == 0;
	return code;
}

void ktr__mach_unlock(void)
{
	pthread_mutex_unlock(&mach_lock);
}

/* ---- the table ---- */

static uint32_t mach_hash(uint32_t type, const char *name)
{
	uint32_t hash = 0x811c9dc5u ^ type; /* FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x01000193u;
	return (hash ^ hash >> 15) & (MACH_BUCKETS - 1);
}

struct ktr__mach_probe *ktr__mach_find(uint32_t type, const char *name)
{
	struct ktr__mach_probe *at = __atomic_load_n(&mach_bucket[mach_hash(type, name)], __ATOMIC_ACQUIRE);

	while (at && (at->type != type || strcmp(at->name, name) != 0))
		at = at->chain;
	return at;
}

/* Where an index lies: block b begins at MACH_SPACE * (2^b - 1). */
static unsigned mach_place(uint32_t index, uint32_t *at)
{
	unsigned block = 31 - (unsigned)__builtin_clz(index / MACH_SPACE + 1);

	*at = index - MACH_SPACE * ((1u << block) - 1);
	return block;
}

uint32_t ktr__mach_n(void)
{
	return __atomic_load_n(&mach_n, __ATOMIC_ACQUIRE);
}

struct ktr__mach_probe *ktr__mach_at(uint32_t index)
{
	uint32_t at;
	unsigned block = mach_place(index, &at);

	return index && index < ktr__mach_n() ? mach_block[block][at] : NULL;
}

/* One that nobody has offered yet. NULL: no memory. */
static struct ktr__mach_probe *mach_new(uint32_t type, const char *name)
{
	struct ktr__mach_probe **bucket = &mach_bucket[mach_hash(type, name)];
	struct ktr__mach_probe *probe = aligned_alloc(64, sizeof(*probe));
	uint32_t at;
	unsigned block = mach_place(mach_n, &at);
	char *copy = strdup(name);

	if (block < MACH_BLOCKS && !mach_block[block])
		mach_block[block] = calloc((size_t)MACH_SPACE << block, sizeof(struct ktr__mach_probe *));
	if (!probe || !copy || block >= MACH_BLOCKS || !mach_block[block]) {
		free(probe);
		free(copy);
		return NULL;
	}
	memset(probe, 0, sizeof(*probe));
	probe->type = type;
	probe->name = copy;
	probe->function = "";
	probe->index = mach_n;
	probe->chain = *bucket;
	mach_block[block][at] = probe;
	__atomic_store_n(&mach_n, mach_n + 1, __ATOMIC_RELEASE);
	__atomic_store_n(bucket, probe, __ATOMIC_RELEASE);
	return probe;
}

static const char *mach_type(uint32_t type)
{
	static const char names[][16] = { "",
#define MACH_TYPE(NAME, name) name,
					  KTR_PROBE_TYPES(MACH_TYPE)
#undef MACH_TYPE
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "";
}

int ktr__mach_make(uint32_t type, const char *name, const char *function, struct ktr__dtrace_point *point,
		   struct ktr__mach_probe **out)
{
	struct ktr_provider_probe *offered = NULL;
	struct ktr__mach_probe *probe;
	int code = 0;

	*out = NULL;
	if (!mach_type(type)[0] || !name || !*name)
		return -EINVAL;
	probe = ktr__mach_find(type, name);
	if (!probe)
		probe = mach_new(type, name);
	if (!probe)
		return -ENOMEM;
	if (point) {
		point->next = probe->points;
		probe->points = point;
		probe->had_points = true;
	}
	if (!probe->offered)
		code = ktr_provider_offer(mach_provider, mach_type(type), function, name, probe, &offered);
	if (code && point)
		probe->points = point->next;
	if (!code && offered)
		__atomic_store_n(&probe->offered, offered, __ATOMIC_SEQ_CST);
	if (!code)
		*out = probe;
	return code;
}

static void mach_unoffer(struct ktr__mach_probe *probe)
{
	struct ktr_provider_probe *offered = probe->offered;

	__atomic_store_n(&probe->offered, NULL, __ATOMIC_SEQ_CST);
	if (offered)
		ktr_provider_remove(offered);
}

/* The probe that has an id, under the lock; NULL with errno set: none. */
static struct ktr__mach_probe *mach_by_id(uint32_t id)
{
	struct ktr__mach_probe *probe = ktr__mach_ids_find(id);

	if (!probe)
		errno = ENOENT;
	return probe;
}

/* ---- registering ---- */

static uint32_t mach_id(uint32_t type, const char *name)
{
	uint32_t id = ktr__mach_own_id(type, name);

	return id && !ktr__mach_ids_find(id) ? id : mach_next_id++;
}

/* NULL: no memory. */
static const char *mach_function(struct ktr__mach_probe *probe, const char *text)
{
	struct ktr__mach_function *at = probe->functions;

	while (at && strcmp(at->text, text) != 0)
		at = at->next;
	if (at)
		return at->text;
	at = malloc(sizeof(*at) + strlen(text) + 1);
	if (!at)
		return NULL;
	strcpy(at->text, text);
	at->next = probe->functions;
	probe->functions = at;
	return at->text;
}

static int mach_register(uint32_t type, const char *name, const char *function, dtrace_handler_t handler,
			 uint32_t *id)
{
	struct ktr__mach_probe *probe = name ? ktr__mach_find(type, name) : NULL;
	const char *copy;
	int code;

	if (probe && (probe->id || probe->changing))
		return -EEXIST;
	function = function ? function : "";
	code = ktr__mach_make(type, name, function, NULL, &probe);
	if (code)
		return code;
	copy = mach_function(probe, function);
	*id = mach_id(type, name);
	if (!copy || !ktr__mach_ids_add(probe, *id)) {
		if (!probe->had_points)
			mach_unoffer(probe);
		*id = 0;
		return -ENOMEM;
	}
	__atomic_store_n(&probe->function, copy, __ATOMIC_RELEASE);
	__atomic_store_n(&probe->handler, handler, __ATOMIC_SEQ_CST);
	__atomic_store_n(&probe->id, *id, __ATOMIC_RELEASE);
	return 0;
}

uint32_t dtrace_probe_register(dtrace_probe_type_t type, const char *name, const char *function,
			       dtrace_handler_t handler)
{
	uint32_t id = 0;
	int code = ktr__mach_enter();

	if (!code)
		code = mach_register(type, name, function, handler, &id);
	ktr__mach_unlock();
	if (code)
		errno = -code;
	return id;
}

static boolean_t mach_switch(uint32_t id, bool on)
{
	struct ktr__mach_probe *probe;
	int code = ktr__mach_enter();

	probe = code ? NULL : mach_by_id(id);
	if (!code)
		code = probe ? ktr_provider_switch(probe->offered, on, NULL) : -ENOENT;
	/* It may have been on before it was registered. */
	if (!code && on)
		ktr__mach_feed(probe);
	ktr__mach_unlock();
	if (code)
		errno = -code;
	return !code;
}

boolean_t dtrace_probe_enable(uint32_t id)
{
	return mach_switch(id, true);
}

boolean_t dtrace_probe_disable(uint32_t id)
{
	return mach_switch(id, false);
}

/* Takes it away as far as nobody needs to be waited for. NULL with errno set: it is not there. */
static struct ktr__mach_probe *mach_take(uint32_t id)
{
	struct ktr__mach_probe *probe;

	if (ktr__mach_enter()) {
		ktr__mach_unlock();
		errno = ENOENT;
		return NULL;
	}
	probe = mach_by_id(id);
	if (probe) {
		ktr_provider_switch(probe->offered, 0, NULL);
		ktr__mach_unfeed(probe);
		ktr__mach_ids_drop(probe);
		__atomic_store_n(&probe->id, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&probe->handler, NULL, __ATOMIC_SEQ_CST);
		probe->changing = true;
	}
	ktr__mach_unlock();
	return probe;
}

boolean_t dtrace_probe_remove(uint32_t id)
{
	struct ktr__mach_probe *probe;

	if (ktr__handler_inside(__builtin_frame_address(0))) {
		errno = EDEADLK;
		return FALSE;
	}
	probe = mach_take(id);
	if (!probe)
		return FALSE;
	ktr__handler_wait(probe);
	ktr__mach_enter();
	probe->changing = false;
	if (!probe->had_points)
		mach_unoffer(probe);
	ktr__mach_unlock();
	return TRUE;
}

/* ---- the framework ---- */

void (dtrace_init)(void)
{
	int saved = errno;

	for (uint32_t i = 1; i < KTR__MACH_OWN_END; i++) {
		const struct ktr__mach_own *own = &ktr__mach_own[i];
		uint32_t id = dtrace_probe_register((dtrace_probe_type_t)own->type, own->name, own->function, NULL);

		if (id)
			dtrace_probe_enable(id);
	}
	errno = saved;
}

/* From the last one on, for those after one that goes are moved. */
void dtrace_shutdown(void)
{
	const struct ktr__mach_probe *probe;
	uint32_t id;

	do {
		pthread_mutex_lock(&mach_lock);
		probe = ktr__mach_ids_at(ktr__mach_ids_n() - 1);
		id = probe ? probe->id : 0;
		pthread_mutex_unlock(&mach_lock);
	} while (id && (dtrace_probe_remove(id) || errno == ENOENT));
}

static void mach_all(bool disabled)
{
	if (!ktr__mach_enter() && __atomic_exchange_n(&mach_disabled, disabled, __ATOMIC_ACQ_REL) != disabled) {
		if (disabled)
			ktr_provider_suspend(mach_provider);
		else
			ktr_provider_resume(mach_provider);
	}
	ktr__mach_unlock();
}

void dtrace_enable(void)
{
	mach_all(false);
}

void dtrace_disable(void)
{
	mach_all(true);
}

boolean_t dtrace_is_enabled(void)
{
	return !__atomic_load_n(&mach_disabled, __ATOMIC_ACQUIRE);
}

/* ---- what is known ---- */

bool ktr__mach_enabled(const struct ktr__mach_probe *probe)
{
	const struct ktr_provider_probe *offered = __atomic_load_n(&probe->offered, __ATOMIC_ACQUIRE);

	return offered && ktr_provider_enabled(offered);
}

void ktr__mach_view(const struct ktr__mach_probe *probe, dtrace_probe_t *view)
{
	dtrace_handler_t handler = __atomic_load_n(&probe->handler, __ATOMIC_ACQUIRE);

	memset(view, 0, sizeof(*view));
	view->id = __atomic_load_n(&probe->id, __ATOMIC_ACQUIRE);
	view->type = (dtrace_probe_type_t)probe->type;
	view->name = probe->name;
	view->function = __atomic_load_n(&probe->function, __ATOMIC_ACQUIRE);
	view->enabled = ktr__mach_enabled(probe);
	for (int i = 0; i < KTR__MACH_COUNTS; i++) {
		view->fire_count += __atomic_load_n(&probe->count[i].fires, __ATOMIC_RELAXED);
		view->total_time += __atomic_load_n(&probe->count[i].ns, __ATOMIC_RELAXED);
	}
	view->arg_count = __atomic_load_n(&probe->n_args, __ATOMIC_RELAXED);
	memcpy(&view->handler, &handler, sizeof(view->handler));
}

uint32_t dtrace_get_probe_count(void)
{
	uint32_t n;

	pthread_mutex_lock(&mach_lock);
	n = ktr__mach_ids_n();
	pthread_mutex_unlock(&mach_lock);
	return n;
}

boolean_t dtrace_probe_get(uint32_t id, dtrace_probe_t *view)
{
	const struct ktr__mach_probe *probe;

	pthread_mutex_lock(&mach_lock);
	probe = mach_by_id(id);
	if (probe)
		ktr__mach_view(probe, view);
	pthread_mutex_unlock(&mach_lock);
	return probe != NULL;
}

boolean_t dtrace_get_probe_info(uint32_t index, dtrace_probe_t *view)
{
	const struct ktr__mach_probe *probe;

	pthread_mutex_lock(&mach_lock);
	probe = ktr__mach_ids_at(index);
	if (probe)
		ktr__mach_view(probe, view);
	pthread_mutex_unlock(&mach_lock);
	if (!probe)
		errno = ENOENT;
	return probe != NULL;
}

uint64_t dtrace_gethrtime(void)
{
	return ktr__clock_now(KTR_CLOCK_MONOTONIC);
}
