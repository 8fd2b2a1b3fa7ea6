/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Providers: code that offers probes, provider:module:function:name, which are switched by these names from outside
 * (ktr-probe(1)), at start (debug.ktr.probes) and from C. Link with libktr-provider, then libktr.
 *
 *	static int clock_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
 *	{
 *		... whatever makes the probe fire; -errno and why, if that cannot be
 *	}
 *
 *	static const struct ktr_provider_ops clock_ops = {
 *		.size = sizeof(clock_ops), .enable = clock_enable, .disable = clock_disable,
 *	};
 *
 *	ktr_provider_register("clock", &clock_ops, NULL, &clock);
 *	ktr_provider_offer(clock, "", "", "tick", NULL, &tick);
 *	...
 *	ktr_provider_fire1(tick, n);	two loads, a test and a branch while it is off
 *
 * A fired probe is an event of the class that has the provider's name, recorded as a CTR point is.
 *
 * Whether a probe is wanted is a word of the session, one for each name, for all processes that offer it. It stays
 * as it was set for those that come later. Where the word changes, a thread of the library, which is there as long
 * as the process has providers, has the provider do what there is to do. Taking the word back ends events at once,
 * whatever the provider still has to undo.
 *
 * The library calls a provider's operations with its own lock held and no other, never from a probe, in a handler
 * of a signal, or two at a time; arg_value is called by who fires, with no lock. An operation may call what is
 * here, but for ktr_provider_unregister(); one on a probe removes none, and what it switches is done after it. A
 * forked child has the providers of its parent, and their probes as they were; where something has to be done in a
 * child, pthread_atfork(3) is the provider's own affair. When the process ends nothing is disabled.
 *
 * Calls return 0 or -errno. They may block on the library's lock, so none but the firing ones is for handlers of
 * signals.
 *
 *	operation x operation	fire	offer	remove	enable	register, unregister	walk
 *	any			safe	safe	safe (*)	safe	safe (*)		safe
 *	(*) but nobody may fire a probe whose removal has begun: its provider sees to that
 */
#ifndef KTR_PROVIDER_H
#define KTR_PROVIDER_H

#include <ktr/error.h>
#include <ktr/trace.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define KTR_PROVIDER_NAME_MAX 31   /* bytes; also that of a class */
#define KTR_PROVIDER_PART_MAX 1023 /* bytes of a module, function or name */

struct ktr_provider;

/* Read by whoever likes; written by the library alone. */
struct ktr_provider_probe {
	const uint32_t *on; /* the word that firing tests: the session's, or one that stays 0. Atomic, both */
	struct ktr_provider *provider;
	const char *module; /* "" where there is none; so function */
	const char *function;
	const char *name;
	void *context; /* the provider's own */
	struct ktr_site site; /* its events are of this */
};

/* An argument, as its provider knows it. Strings are copied. */
struct ktr_provider_arg {
	const char *name;	/* "fd" */
	const char *type;	/* "int", or "" */
	enum ktr_arg_type kind; /*
				 * How it is recorded; KTR_ARG_STR: a pointer that is read when it is fired.
				 * KTR_ARG_STACK is for ktr's own providers.
				 */
};

/* An object that has been loaded. */
struct ktr_provider_module {
	const char *path;
	uintptr_t base; /* added to the object's own addresses */
	const void *context; /* what whoever tells of it has to say */
};

/*
 * What a provider does; any may be NULL. Those that return int return 0 or -errno.
 */
struct ktr_provider_ops {
	size_t size; /* sizeof(struct ktr_provider_ops), so that later versions can add some */

	/*
	 * Offers what it has: as soon as it is registered (spec NULL), and when somebody asks for a SPEC, of which
	 * it need not offer more than what fits. What it has offered already is there still: -EEXIST.
	 */
	void (*provide)(struct ktr_provider *provider, const char *spec);
	/* Offers what it has in a module that was loaded: ktr_provider_module_loaded(). */
	void (*provide_module)(struct ktr_provider *provider, const struct ktr_provider_module *module);

	/* From not wanted to wanted. May fail, and says why: `ktr probe` prints it, and the probe is off. */
	int (*enable)(struct ktr_provider_probe *probe, struct ktr_error *why);
	/* And back. It may still be fired, without effect. */
	void (*disable)(struct ktr_provider_probe *probe);
	/* Stops one that is enabled for a while, and lets it go on. Both or none. */
	void (*suspend)(struct ktr_provider_probe *probe);
	void (*resume)(struct ktr_provider_probe *probe);

	/* The argument of a number, from 0 on; -ENOENT after the last. Asked once, when the probe is offered. */
	int (*arg_desc)(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg);
	/*
	 * The value of one that firing does not give. By who fires: async-signal-safe, as the provider's probes
	 * are.
	 */
	uint64_t (*arg_value)(struct ktr_provider_probe *probe, unsigned number);

	/* It is gone, and was disabled before. */
	void (*destroy)(struct ktr_provider_probe *probe);

	/*
	 * Looks at what else it goes by: the settings of the session. As soon as it is registered, when somebody
	 * outside has changed something and says so, as `ktr sysctl` and `ktr probe` do, and once a second.
	 */
	void (*look)(struct ktr_provider *provider);
};

/*
 * name: letters, digits, _ and -; it names the class of the provider's events. ops is borrowed, for as long as the
 * provider is there. -EINVAL, -EEXIST (also: ktr, probe, sched and vminfo, which every session has), -ENOMEM.
 */
int ktr_provider_register(const char *name, const struct ktr_provider_ops *ops, void *context,
			  struct ktr_provider **out);

/* Disables and removes all its probes; it is freed. -EBUSY: called by one of its operations. */
int ktr_provider_unregister(struct ktr_provider *provider);

void *ktr_provider_context(const struct ktr_provider *provider);
const char *ktr_provider_name(const struct ktr_provider *provider);

/*
 * Offers a probe, which is enabled at once if the session has it on, or debug.ktr.probes names it. Strings are
 * copied; NULL: "". No part has a colon or a control character, but for the name's colons. -EINVAL, -EEXIST,
 * -ENOMEM.
 */
int ktr_provider_offer(struct ktr_provider *provider, const char *module, const char *function, const char *name,
		       void *context, struct ktr_provider_probe **out);

/*
 * It is never to be on, and why: `ktr probe list -v` prints that, and who enables it by a glob passes it by.
 * Copies. -ENOMEM.
 */
int ktr_provider_exclude(struct ktr_provider_probe *probe, const char *why);

/* Disables it and takes it away; it is freed. */
void ktr_provider_remove(struct ktr_provider_probe *probe);

/* Tells all providers of a module: their provide_module. */
void ktr_provider_module_loaded(const struct ktr_provider_module *module);

/*
 * Suspends all probes of a provider that are enabled, and those that are enabled meanwhile; NULL: of all providers.
 */
void ktr_provider_suspend(struct ktr_provider *provider);
void ktr_provider_resume(struct ktr_provider *provider);

/*
 * Switches all probes that fit a SPEC, in all processes of the session: those of providers, call sites (ktr:),
 * run-time probes (probe:) and what the kernel tells (sched:, vminfo:). -ENOENT: none fits. What this process has
 * to do is done when this returns: err says what of it could not be.
 */
int ktr_provider_enable(const char *spec, struct ktr_error *err);
int ktr_provider_disable(const char *spec, struct ktr_error *err);

/* The same for one probe, which this process offers. */
int ktr_provider_switch(struct ktr_provider_probe *probe, int on, struct ktr_error *err);

/* Is one switched on? It may be suspended, or could not be enabled. Async-signal-safe. */
int ktr_provider_enabled(const struct ktr_provider_probe *probe);

/* Calls back for each probe that fits (NULL: all), of any kind; a nonzero answer ends it and is returned. */
int ktr_provider_walk(const char *spec, int (*found)(void *context, const char *name, int on), void *context);

/* Behind the test. */
void ktr__provider_fire(struct ktr_provider_probe *probe, uint32_t n_args, uint64_t a0, uint64_t a1, uint64_t a2,
			uint64_t a3, uint64_t a4, uint64_t a5);

#pragma GCC visibility pop

/* Is it on? */
static inline int ktr__provider_on(const struct ktr_provider_probe *probe)
{
	return __atomic_load_n(__atomic_load_n(&probe->on, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED) != 0;
}

#ifdef __cplusplus
}
#endif

/* Fires a probe; of its arguments those that are not given are its provider's arg_value. */
#define KTR__PROVIDER_FIRE(probe, n, ...)                                                        \
	do {                                                                                     \
		struct ktr_provider_probe *ktr__p = (probe);                                     \
		if (__builtin_expect(ktr__provider_on(ktr__p), 0))                                \
			ktr__provider_fire(ktr__p, n, __VA_ARGS__);                              \
	} while (0)
#define ktr_provider_fire0(probe)    KTR__PROVIDER_FIRE(probe, 0, 0, 0, 0, 0, 0, 0)
#define ktr_provider_fire1(probe, a) KTR__PROVIDER_FIRE(probe, 1, KTR__BITS(a), 0, 0, 0, 0, 0)
#define ktr_provider_fire2(probe, a, b) KTR__PROVIDER_FIRE(probe, 2, KTR__BITS(a), KTR__BITS(b), 0, 0, 0, 0)
#define ktr_provider_fire3(probe, a, b, c)                                                       \
	KTR__PROVIDER_FIRE(probe, 3, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), 0, 0, 0)
#define ktr_provider_fire4(probe, a, b, c, d)                                                    \
	KTR__PROVIDER_FIRE(probe, 4, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), 0, 0)
#define ktr_provider_fire5(probe, a, b, c, d, e)                                                 \
	KTR__PROVIDER_FIRE(probe, 5, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), 0)
#define ktr_provider_fire6(probe, a, b, c, d, e, f)                                              \
	KTR__PROVIDER_FIRE(probe, 6, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), \
			   KTR__BITS(f))

#endif
