/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes that are made, switched and removed while the program runs. Link with libktr-probe, then libktr.
 *
 *	static struct ktr_probe *depth;
 *
 *	ktr_probe_register(KTR_PROBE_CUSTOM, "depth", __func__, NULL, &depth);
 *	...
 *	KTR_PROBE2(depth, shard, n);	a load, a test and a branch, until
 *	ktr_probe_enable(depth);	it is enabled: then it is recorded like a CTR point
 *
 *	ktr probe enable 'custom.*'	the same from outside, while the program runs
 *
 * KTR_PROBE_POINT2(KTR_PROBE_CUSTOM, "depth", shard, n) needs no registration: the probe of that type and name
 * is there from the program's start on, or from that of the shared object, and many points may have one name.
 * It records each argument in its own type, with file and line.
 *
 * A fired probe is an event of class "probe" whose format is the probe's, recorded as long as the class is in
 * debug.ktr.mask (enabling the first probe puts it there), and read by every tool. A handler is called besides,
 * in the thread that fired, with up to six arguments; those that are missing are 0.
 *
 * A probe is known by type and name. Its struct lives as long as the process, also when it has been removed:
 * firing it is then without effect, and registering the same type and name again gives it back with another id.
 *
 * What points test is a word of the session, one for each type and name: whoever enables or disables a probe, here,
 * in another process of the session that has it, or from outside by ktr-probe(1), does so for all of them, at their
 * next fire. It stays as it was set while the session lives, for processes that come later too, until the last
 * process that has the probe removes it. Handlers, and all probes being off at once, are each process's own affair.
 *
 * ktr_probe_remove() and ktr_probe_handler() return when no thread is in the old handler any more, and it is not
 * called again. Therefore a handler may not call these two: they answer -EDEADLK; and whoever calls them must not
 * hold what the handler waits for, be it the loader's lock, as constructors and destructors of modules do. Nothing
 * else waits for a handler: not other probes, not fork(2), dlclose(3) or exit(3). It may trace, fire probes (whose
 * handlers are called, up to 64 within each other, but not its own again), block, fork, load libraries, end its
 * thread or the process.
 *
 * Left by longjmp(3) or an exception it counts as running in its thread until that one ends, or calls the next
 * handler, or one of these two, from a frame that is not below the one that was left. A handler that has switched
 * to another stack (swapcontext(3)) counts as left then, too.
 *
 * The child of a fork has the handlers that its parent had, but for those that were being changed: none. The thread
 * that has forked in a handler is in it there, too.
 *
 *	operation x operation	fire	enable	register   remove   handler   list, metrics
 *	any			safe	safe	safe	   safe	    safe      safe
 *
 * Firing may be done in signal handlers, if the handler of the probe may run there; all other calls may not. They
 * block on a mutex, and remove and handler on running handlers.
 */
#ifndef KTR_PROBE_H
#define KTR_PROBE_H

#include <ktr/probe_type.h>
#include <ktr/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
struct KTR__SITE_HIDDEN ktr__probe_point;
struct KTR__SITE_HIDDEN ktr__probe_module;
#pragma GCC visibility push(default)

struct ktr_probe;

typedef void ktr_probe_fn(struct ktr_probe *probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
			  uint64_t arg4, uint64_t arg5);

/* Read by whoever likes; written by the library alone. */
struct ktr_probe {
	const uint32_t *on; /* the word that points test: the session's, or one that stays 0. Atomic, both */
	uint32_t id; /* from 1; 0: removed, or a point's that nobody has registered */
	uint32_t type;
	const char *name;
	const char *function; /* "" where it is not known */
	ktr_probe_fn *handler; /* atomic */
	void *context;	       /* the program's own, for its handler */
	uint64_t total_ns;     /* spent in the probe and its handler, by samples */
	uint32_t n_args;       /* the most it was fired with */
	uint32_t index;	       /* among all of the process; never another probe's */
	uint32_t *word;	       /* its own word: where on leads when the probe is there */
	uint32_t row;	       /* in the session's table; 0: none */
	uint32_t own_on;       /* the word where there is none */
	uint32_t removed;      /* 1: off, whatever the word says */
	uint32_t joined;       /* 1: this process is counted among the row's users */
	uint32_t place;	       /* of its count, in each thread's. Atomic */
	uint32_t changing;     /* 1: somebody waits for those who are in its handler */
	struct ktr__probe_point *points;
	struct ktr_probe *chain; /* of its bucket */
	struct ktr_site site;	 /* of fires without a point */
};

/* A point of the program's text. */
struct KTR__SITE_HIDDEN ktr__probe_point {
	const uint32_t *on; /* as of its probe; at zero until its module is attached */
	uint32_t zero;
	uint32_t type;
	const char *name;
	const char *function;
	struct ktr_site *site;
	struct ktr_probe *probe; /* set when its module has been attached */
	struct ktr__probe_point *next;
};

struct KTR__SITE_HIDDEN ktr__probe_module {
	struct ktr__probe_point **begin, **end;
	uint64_t attached;
};

/*
 * Makes a probe, disabled. Name and function are copied. handler may be NULL. 0 with *out (may be NULL) set, or
 * -EINVAL (no such type; no name, or one of more than KTR_PROBE_NAME_MAX bytes), -EEXIST (type and name are
 * registered already, or a handler is being removed or changed that still runs), -ENOMEM.
 */
#define KTR_PROBE_NAME_MAX 63
int ktr_probe_register(enum ktr_probe_type type, const char *name, const char *function, ktr_probe_fn *handler,
		       struct ktr_probe **out);

/*
 * For all processes of the session. 0, or -ENOENT for one that is removed. Enabling: also -errno if its events
 * cannot be recorded.
 */
int ktr_probe_enable(struct ktr_probe *probe);
int ktr_probe_disable(struct ktr_probe *probe);

/* -ENOENT: removed already; -EDEADLK: called by a handler. */
int ktr_probe_remove(struct ktr_probe *probe);

/* Another handler, or none: NULL. The old one does not run any more when this returns. As above. */
int ktr_probe_handler(struct ktr_probe *probe, ktr_probe_fn *handler, void *context);

/* Is it enabled? All probes may be off all the same. */
int ktr_probe_enabled(const struct ktr_probe *probe);

/* The probe that has this id; NULL: none has. */
struct ktr_probe *ktr_probe_by_id(uint32_t id);
struct ktr_probe *ktr_probe_find(enum ktr_probe_type type, const char *name); /* also one of points alone */

/* All probes at once: nothing fires while they are off. They are on at first. */
void ktr_probes_enable(void);
void ktr_probes_disable(void);
int ktr_probes_enabled(void);

/* How often it was fired in this process while it was enabled. */
uint64_t ktr_probe_fires(const struct ktr_probe *probe);

/* Calls back for each probe there is, those of points included; a nonzero answer ends it and is returned. */
int ktr_probe_walk(int (*found)(void *context, struct ktr_probe *probe), void *context);

struct ktr_probe_metrics {
	size_t size; /* sizeof(struct ktr_probe_metrics), set by the caller */
	uint64_t n_probes;   /* registered */
	uint64_t n_enabled;
	uint64_t n_fired;
	uint64_t n_captured; /* given to the recorder, which may leave out single sites and CPUs, or count */
	uint64_t n_filtered; /* not: the class is off */
	uint64_t n_overruns; /* overwritten before ktr_probe_read() came to them */
	uint64_t overhead_ns; /* of one fire without handler: measured once */
	uint64_t sampled_ns;  /* of one fire, handlers included: the mean of some, one of 65536 in the end */
	uint64_t n_sampled;
};

/* A function may have the name of its structure, as stat(2) has; g++'s -Wshadow is against it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
int ktr_probe_metrics(struct ktr_probe_metrics *metrics);
#pragma GCC diagnostic pop

struct ktr_probe_event {
	uint32_t probe; /* id; 0: a probe that has been removed */
	uint32_t cpu;
	uint32_t tid;
	uint32_t pid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t arg[KTR_ARGS_MAX];
};

/*
 * Takes the next events of probes out of the rings, in order of time, at most n: how many there were. What one
 * call has given none gives again. Strings are given as the number of their bytes.
 */
size_t ktr_probe_read(struct ktr_probe_event *events, size_t n);

/* "custom"; "" for no type. */
const char *ktr_probe_type_name(enum ktr_probe_type type);

/* Behind the test: by handle, with site NULL, and at points. The arguments are where the recorder takes them. */
void ktr__probe_fire(struct ktr_probe *probe, struct ktr_site *site, uint32_t n_args, uint64_t a0, uint64_t a1,
		     uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5);
void ktr__probe_fire0(struct ktr_site *site, struct ktr_probe *probe);
void ktr__probe_fire1(struct ktr_site *site, uint64_t a0, struct ktr_probe *probe);
void ktr__probe_fire2(struct ktr_site *site, uint64_t a0, uint64_t a1, struct ktr_probe *probe);
void ktr__probe_fire3(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, struct ktr_probe *probe);
void ktr__probe_fire4(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
		      struct ktr_probe *probe);
void ktr__probe_fire5(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		      struct ktr_probe *probe);
void ktr__probe_fire6(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		      uint64_t a5, struct ktr_probe *probe);
int ktr__probe_attach(struct ktr__probe_module *module);
void ktr__probe_detach(struct ktr__probe_module *module);

#pragma GCC visibility pop

#ifndef KTR_OFF
extern struct ktr__probe_point *__start_ktr_points[] __attribute__((weak, visibility("hidden")));
extern struct ktr__probe_point *__stop_ktr_points[] __attribute__((weak, visibility("hidden")));

extern struct ktr__probe_module ktr__probe_module __attribute__((weak, visibility("hidden")));
__attribute__((weak, visibility("hidden"))) struct ktr__probe_module ktr__probe_module = {
	__start_ktr_points, __stop_ktr_points, 0
};

#ifndef KTR__LIBRARY
/* As in trace.h: a file without probes must not need the library. */
static void ktr__probe_detach_if(struct ktr__probe_module *module) __attribute__((weakref("ktr__probe_detach")));

#ifdef KTR_NO_AUTOSTART
/* Where a program starts ktr by itself, its points are there when it does. */
#undef ktr_start
#define ktr_start() (ktr__module_attach(&ktr__module_entry), (void)ktr__probe_attach(&ktr__probe_module))
#else
static int ktr__probe_attach_if(struct ktr__probe_module *module) __attribute__((weakref("ktr__probe_attach")));

__attribute__((constructor(103))) static void ktr__probe_start(void)
{
	if (ktr__probe_attach_if)
		ktr__probe_attach_if(&ktr__probe_module);
}
#endif

__attribute__((destructor(101))) static void ktr__probe_stop(void)
{
	if (ktr__probe_detach_if)
		ktr__probe_detach_if(&ktr__probe_module);
}
#endif
#endif

#ifdef __cplusplus
}
#endif

/* One instruction tests the word in memory, for which compilers take two where it is atomic. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
static inline __attribute__((always_inline)) int ktr__probe_on(const uint32_t *word)
{
	__asm__ goto("cmpl $0, %0\n\tjne %l[on]" : : "m"(*word) : "cc" : on);
	return 0;
on:
	return 1;
}
#else
static inline int ktr__probe_on(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED) != 0;
}
#endif
#define KTR__PROBE_ON(what) __builtin_expect(ktr__probe_on(__atomic_load_n(&(what).on, __ATOMIC_RELAXED)), 0)

/* Fires a probe by its handle. */
#ifdef KTR_OFF
#define KTR__PROBE_CALL(probe, n, ...) ((void)(probe))
#else
#define KTR__PROBE_CALL(handle, n, ...)                                                          \
	do {                                                                                     \
		struct ktr_probe *ktr__p = (handle);                                             \
		if (KTR__PROBE_ON(*ktr__p))                                                      \
			ktr__probe_fire(ktr__p, NULL, n, __VA_ARGS__);                           \
	} while (0)
#endif
#define KTR_PROBE0(probe) KTR__PROBE_CALL(probe, 0, 0, 0, 0, 0, 0, 0)
#define KTR_PROBE1(probe, a) KTR__PROBE_CALL(probe, 1, KTR__BITS(a), 0, 0, 0, 0, 0)
#define KTR_PROBE2(probe, a, b) KTR__PROBE_CALL(probe, 2, KTR__BITS(a), KTR__BITS(b), 0, 0, 0, 0)
#define KTR_PROBE3(probe, a, b, c) KTR__PROBE_CALL(probe, 3, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), 0, 0, 0)
#define KTR_PROBE4(probe, a, b, c, d)                                                            \
	KTR__PROBE_CALL(probe, 4, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), 0, 0)
#define KTR_PROBE5(probe, a, b, c, d, e)                                                         \
	KTR__PROBE_CALL(probe, 5, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), 0)
#define KTR_PROBE6(probe, a, b, c, d, e, f)                                                      \
	KTR__PROBE_CALL(probe, 6, KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), \
			KTR__BITS(f))

/*
 * A point of a probe by type and name, both constants. The site is a static of its own in each expansion, as
 * that of CTR, and is listed where those are.
 */
#ifdef KTR_OFF
#define KTR__PROBE_POINT(ptype, pname, fmt, names, n, types, ...)                                \
	do {                                                                                     \
		if (0)                                                                           \
			ktr__probe_fire(NULL, NULL, n, __VA_ARGS__);                             \
	} while (0)
#else
#if !defined(__clang__)
#define KTR__PROBE_LIST(point)                                                                   \
	__asm__ volatile(".pushsection ktr_points,\"aw?" KTR__RETAIN_AS "\",@progbits\n\t"       \
			 ".balign 8\n\t.quad %c0\n\t.popsection"                                 \
			 :                                                                       \
			 : KTR__ADDRESS(&point))
#else
#define KTR__PROBE_LIST(point)                                                                   \
	static struct ktr__probe_point *ktr__point_listed                                        \
		__attribute__((section("ktr_points"), used KTR__RETAIN)) = &point
#endif
#define KTR__PROBE_FIRE0(site, probe, ...) ktr__probe_fire0(site, probe)
#define KTR__PROBE_FIRE1(site, probe, a, ...) ktr__probe_fire1(site, a, probe)
#define KTR__PROBE_FIRE2(site, probe, a, b, ...) ktr__probe_fire2(site, a, b, probe)
#define KTR__PROBE_FIRE3(site, probe, a, b, c, ...) ktr__probe_fire3(site, a, b, c, probe)
#define KTR__PROBE_FIRE4(site, probe, a, b, c, d, ...) ktr__probe_fire4(site, a, b, c, d, probe)
#define KTR__PROBE_FIRE5(site, probe, a, b, c, d, e, ...) ktr__probe_fire5(site, a, b, c, d, e, probe)
#define KTR__PROBE_FIRE6(site, probe, a, b, c, d, e, f) ktr__probe_fire6(site, a, b, c, d, e, f, probe)
#define KTR__PROBE_POINT(ptype, pname, fmt, names, n, types, ...)                                \
	do {                                                                                     \
		KTR__CONSTANT static struct ktr_site ktr__here = { 0, 0, 0, n, 0, 0, 0, __LINE__,        \
								   &ktr_class_probe, fmt, __FILE__, __func__, \
								   names, { KTR__OPEN types }, { 0 }, { 0 }, \
								   { 0 }, { NULL } };            \
		static struct ktr__probe_point ktr__point = { &ktr__point.zero, 0, ptype, pname, __func__,      \
							      &ktr__here, NULL, NULL };          \
		KTR__LIST(ktr__here);                                                            \
		KTR__PROBE_LIST(ktr__point);                                                     \
		if (KTR__PROBE_ON(ktr__point))                                                   \
			KTR__PROBE_FIRE##n(&ktr__here, ktr__point.probe, __VA_ARGS__);           \
	} while (0)
#endif

#ifdef __cplusplus
extern "C" {
#endif
extern struct ktr_class ktr_class_probe;
#ifdef __cplusplus
}
#endif

#define KTR_PROBE_POINT0(type, name) KTR__PROBE_POINT(type, name, name, "", 0, (KTR_ARG_NONE), 0, 0, 0, 0, 0, 0)
#define KTR_PROBE_POINT1(type, name, a)                                                          \
	KTR__PROBE_POINT(type, name, name " %#llx", #a, 1, (KTR__TYPE(a)), KTR__BITS(a), 0, 0, 0, 0, 0)
#define KTR_PROBE_POINT2(type, name, a, b)                                                       \
	KTR__PROBE_POINT(type, name, name " %#llx %#llx", #a "," #b, 2, (KTR__TYPE(a), KTR__TYPE(b)), KTR__BITS(a), \
			 KTR__BITS(b), 0, 0, 0, 0)
#define KTR_PROBE_POINT3(type, name, a, b, c)                                                    \
	KTR__PROBE_POINT(type, name, name " %#llx %#llx %#llx", #a "," #b "," #c, 3,             \
			 (KTR__TYPE(a), KTR__TYPE(b), KTR__TYPE(c)), KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), \
			 0, 0, 0)
#define KTR_PROBE_POINT4(type, name, a, b, c, d)                                                 \
	KTR__PROBE_POINT(type, name, name " %#llx %#llx %#llx %#llx", #a "," #b "," #c "," #d, 4, \
			 (KTR__TYPE(a), KTR__TYPE(b), KTR__TYPE(c), KTR__TYPE(d)), KTR__BITS(a), KTR__BITS(b), \
			 KTR__BITS(c), KTR__BITS(d), 0, 0)
#define KTR_PROBE_POINT5(type, name, a, b, c, d, e)                                              \
	KTR__PROBE_POINT(type, name, name " %#llx %#llx %#llx %#llx %#llx", #a "," #b "," #c "," #d "," #e, 5, \
			 (KTR__TYPE(a), KTR__TYPE(b), KTR__TYPE(c), KTR__TYPE(d), KTR__TYPE(e)), KTR__BITS(a), \
			 KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), 0)
#define KTR_PROBE_POINT6(type, name, a, b, c, d, e, f)                                           \
	KTR__PROBE_POINT(type, name, name " %#llx %#llx %#llx %#llx %#llx %#llx",                \
			 #a "," #b "," #c "," #d "," #e "," #f, 6,                               \
			 (KTR__TYPE(a), KTR__TYPE(b), KTR__TYPE(c), KTR__TYPE(d), KTR__TYPE(e), KTR__TYPE(f)), \
			 KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), KTR__BITS(f))

#endif
