/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The DTrace-like framework of a Mach kernel (kern/dtrace.h there), in user space: code that was written for it
 * compiles and works. ktr_dtrace(3). Link with libktr-dtrace, libktr-provider and libktr, in this order, or by
 * pkg-config --cflags --libs ktr-dtrace.
 *
 *	dtrace_init();
 *	id = dtrace_probe_register(DTRACE_PROBE_CUSTOM, "depth", "work", my_handler);
 *	dtrace_probe_enable(id);
 *	...
 *	DTRACE_CUSTOM("depth", shard, n);	three loads, a test and a branch while it is off
 *
 *	ktr probe enable 'mach:custom::depth'	the same from outside, while the program runs
 *
 * A macro is a point of the probe that has its type and name. All of them are probes of the provider "mach",
 * mach:TYPE:FUNCTION:NAME, from the program's start on, whether they are registered or not: a point is recorded
 * when its probe is enabled, by whomever. It is an event of class "mach" then, with its place, and each argument
 * in its own type. Whether a probe is enabled is a word of the session, for all its processes (ktr/provider.h);
 * ids and handlers are each process's own affair.
 *
 * dtrace_init() registers and enables the kernel's own probes, 1 thread_switch, 2 ipc_send and 3 vm_fault. The
 * first and the third are fired by what the kernel tells of the program's threads, too (debug.ktr.kernel); where it
 * tells nothing, a line on stderr says why.
 *
 * dtrace_probe_remove() returns when no thread is in the probe's handler any more. A handler may not call it: it
 * answers FALSE then, with errno EDEADLK. What else handlers may do says ktr/probe.h, whose are of the same kind.
 *
 *	operation x operation	fire	enable	register   remove   read, metrics
 *	any			safe	safe	safe	   safe	    safe
 *
 * Firing may be done in handlers of signals, if the probe's handler may run there; no other call may.
 */
#ifndef KTR_DTRACE_H
#define KTR_DTRACE_H

#include <ktr/probe_type.h>
#include <ktr/trace.h>

#include <stddef.h>
#include <stdint.h>

/* 0: the macros leave nothing, and do not evaluate their arguments; what is called is as ever. */
#ifndef MACH_DTRACE
#define MACH_DTRACE 1
#endif

#ifdef __cplusplus
extern "C" {
#endif
struct KTR__SITE_HIDDEN ktr__dtrace_point;
struct KTR__SITE_HIDDEN ktr__dtrace_module;
#pragma GCC visibility push(default)

#ifndef KERN_SUCCESS
#define KERN_SUCCESS 0
#define KERN_FAILURE 5
typedef int kern_return_t;
typedef int boolean_t;
#endif
#ifndef TRUE
#define TRUE 1
#define FALSE 0
#endif

typedef enum dtrace_probe_type {
#define KTR__DTRACE_ENUM(NAME, name) DTRACE_PROBE_##NAME = KTR_PROBE_##NAME,
	KTR_PROBE_TYPES(KTR__DTRACE_ENUM)
#undef KTR__DTRACE_ENUM
} dtrace_probe_type_t;

/*
 * Of thread_switch as the kernel tells it, arguments are the tid that left the CPU, or 0, the one that got it, or
 * 0, and why: 0 it runs, 1 it waits, 2 it could have gone on, 3 it has ended. Of vm_fault: address, kind (1 minor,
 * 2 major), address of the instruction. Numbers are printed by %llu, which is not uint64_t's conversion everywhere.
 */
typedef struct dtrace_event {
	uint32_t probe_id; /* 0: not registered, but enabled by somebody */
	unsigned long long timestamp; /* [ns] of CLOCK_MONOTONIC */
	uint32_t cpu_id;
	uint32_t thread_id;
	uint32_t task_id; /* the process */
	unsigned long long args[6]; /* bits of a double; the address of a string */
} dtrace_event_t;

typedef struct dtrace_probe {
	uint32_t id;
	dtrace_probe_type_t type;
	const char *name;
	const char *function;
	boolean_t enabled;
	unsigned long long fire_count; /* while it was enabled, here; what the kernel told once it has been read */
	unsigned long long total_time; /* [ns] spent in the probe and its handler, by samples */
	uint32_t arg_count;	       /* the most it was fired with */
	void *handler;
} dtrace_probe_t;

typedef struct dtrace_metrics {
	unsigned long long total_probes_fired;
	unsigned long long total_events_captured; /* given to the recorder */
	unsigned long long buffer_overruns; /* events overwritten before dtrace_buffer_read() came to them */
	unsigned long long probe_overhead_ns; /* spent in all probes, by samples */
	uint32_t active_probes; /* registered and enabled */
	uint32_t max_probes;	/* UINT32_MAX: as many as memory holds */
	unsigned long long events_filtered; /* fired and not recorded, since class mach is off */
} dtrace_metrics_t;

typedef void (*dtrace_handler_t)(dtrace_probe_t *probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
				 uint64_t arg4, uint64_t arg5);

/* Once is enough, more do no harm. shutdown() removes all probes that are registered. */
void dtrace_init(void);
void dtrace_shutdown(void);

/* All probes of the process at once: nothing fires while they are off. They are on at first. */
void dtrace_enable(void);
void dtrace_disable(void);
boolean_t dtrace_is_enabled(void);

/*
 * The probe's id, or 0 with errno set: EINVAL (no such type; no name, or one of more than 1,023 bytes, or with a
 * control character), EEXIST (type and name are registered), ENOMEM. Strings are copied. handler may be NULL.
 */
uint32_t dtrace_probe_register(dtrace_probe_type_t type, const char *name, const char *function,
			       dtrace_handler_t handler);

/* TRUE, or FALSE with errno set: ENOENT (no probe has this id), EDEADLK; of enabling, why it could not be. */
boolean_t dtrace_probe_enable(uint32_t probe_id);
boolean_t dtrace_probe_disable(uint32_t probe_id);
boolean_t dtrace_probe_remove(uint32_t probe_id);

/* Fires a probe that is registered, by type and name; without a macro. */
void dtrace_probe_fire(dtrace_probe_type_t type, const char *name, uint64_t arg0, uint64_t arg1, uint64_t arg2,
		       uint64_t arg3, uint64_t arg4, uint64_t arg5);

/* How many are registered; one of them, from index 0 on, in the order of ids; one by its id. TRUE, or FALSE. */
uint32_t dtrace_get_probe_count(void);
boolean_t dtrace_get_probe_info(uint32_t index, dtrace_probe_t *probe);
boolean_t dtrace_probe_get(uint32_t probe_id, dtrace_probe_t *probe);

/*
 * Takes at most n events out of the rings, the oldest first: how many there were. What the kernel tells comes some
 * milliseconds later than the rest. clear() takes all there are and drops them.
 */
uint32_t dtrace_buffer_read(dtrace_event_t *events, uint32_t n);
void dtrace_buffer_clear(void);
void dtrace_get_metrics(dtrace_metrics_t *metrics);

/* [ns] of CLOCK_MONOTONIC */
uint64_t dtrace_gethrtime(void);

/* A point of the program's text. */
struct KTR__SITE_HIDDEN ktr__dtrace_point {
	const uint32_t *const *on; /* where its probe says which word is to be tested. Atomic, both */
	uint32_t type;
	const char *name;
	struct ktr_site *site;
	void *probe; /* set when its module has been attached. Atomic */
	struct ktr__dtrace_point *next;
};

struct KTR__SITE_HIDDEN ktr__dtrace_module {
	struct ktr__dtrace_point **begin, **end;
	uint32_t attached;
	uint32_t zero;
	const uint32_t *off; /* what points test until it is */
};

extern struct ktr_class ktr_class_mach;

/* Behind the test. */
void ktr__dtrace_fire(struct ktr__dtrace_point *point, uint32_t n_args, uint64_t a0, uint64_t a1, uint64_t a2,
		      uint64_t a3, uint64_t a4, uint64_t a5);
void ktr__dtrace_attach(struct ktr__dtrace_module *module);
void ktr__dtrace_detach(struct ktr__dtrace_module *module);

#pragma GCC visibility pop

#ifndef KTR_OFF
extern struct ktr__dtrace_point *__start_ktr_mach[] __attribute__((weak, visibility("hidden")));
extern struct ktr__dtrace_point *__stop_ktr_mach[] __attribute__((weak, visibility("hidden")));

extern struct ktr__dtrace_module ktr__dtrace_module __attribute__((weak, visibility("hidden")));
__attribute__((weak, visibility("hidden"))) struct ktr__dtrace_module ktr__dtrace_module = {
	__start_ktr_mach, __stop_ktr_mach, 0, 0, &ktr__dtrace_module.zero
};

#ifndef KTR__LIBRARY
/* As in trace.h: a file without probes must not need the library. */
static void ktr__dtrace_attach_if(struct ktr__dtrace_module *module) __attribute__((weakref("ktr__dtrace_attach")));
static void ktr__dtrace_detach_if(struct ktr__dtrace_module *module) __attribute__((weakref("ktr__dtrace_detach")));

/* Where a program starts ktr by itself, its points are there when it calls dtrace_init(). */
#ifdef KTR_NO_AUTOSTART
#define dtrace_init() (ktr_start(), ktr__dtrace_start(), dtrace_init())
#else
__attribute__((constructor(103)))
#endif
static inline void ktr__dtrace_start(void)
{
	if (ktr__dtrace_attach_if)
		ktr__dtrace_attach_if(&ktr__dtrace_module);
}

__attribute__((destructor(101))) static void ktr__dtrace_stop(void)
{
	if (ktr__dtrace_detach_if)
		ktr__dtrace_detach_if(&ktr__dtrace_module);
}
#endif
#endif

#ifdef __cplusplus
}
#endif

#if MACH_DTRACE && !defined(KTR_OFF)
static inline __attribute__((always_inline)) int ktr__dtrace_on(const struct ktr__dtrace_point *point)
{
	const uint32_t *const *on = __atomic_load_n(&point->on, __ATOMIC_RELAXED);

	return __atomic_load_n(__atomic_load_n(on, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED) != 0;
}

#if !defined(__clang__)
#define KTR__DTRACE_LIST(point)                                                                  \
	__asm__ volatile(".pushsection ktr_mach,\"aw?" KTR__RETAIN_AS "\",@progbits\n\t"         \
			 ".balign 8\n\t.quad %c0\n\t.popsection"                                 \
			 :                                                                       \
			 : KTR__ADDRESS(&point))
#else
#define KTR__DTRACE_LIST(point)                                                                  \
	static struct ktr__dtrace_point *ktr__point_listed                                       \
		__attribute__((section("ktr_mach"), used KTR__RETAIN)) = &point
#endif

/* Type and name are constants. The site is a static of its own in each expansion, as that of CTR. */
#define KTR__DTRACE(ptype, pname, text, names, n, types, ...)                                    \
	do {                                                                                     \
		KTR__CONSTANT static struct ktr_site ktr__here = { 0, 0, 0, n, 0, 0, 0, __LINE__,        \
								   &ktr_class_mach, text, __FILE__, __func__,  \
								   names, { KTR__OPEN types }, { 0 }, { 0 }, \
								   { 0 }, { NULL } };            \
		static struct ktr__dtrace_point ktr__point = { &ktr__dtrace_module.off, ptype, pname,    \
							       &ktr__here, NULL, NULL };         \
		KTR__LIST(ktr__here);                                                            \
		KTR__DTRACE_LIST(ktr__point);                                                    \
		if (__builtin_expect(ktr__dtrace_on(&ktr__point), 0))                            \
			ktr__dtrace_fire(&ktr__point, n, __VA_ARGS__);                           \
	} while (0)

#define KTR__DTRACE0(type, of, name) KTR__DTRACE(type, name, of ":" name, "", 0, (KTR_ARG_NONE), 0, 0, 0, 0, 0, 0)
#define KTR__DTRACE_FUNCTION(type, of, name)                                                     \
	KTR__DTRACE(type, name, of ":" name " %p", "caller", 1, (KTR_ARG_PTR),                   \
		    KTR__BITS(__builtin_return_address(0)), 0, 0, 0, 0, 0)
#define KTR__DTRACE1(type, of, name, a)                                                          \
	KTR__DTRACE(type, name, of ":" name " %#llx", #a, 1, (KTR__TYPE(a)), KTR__BITS(a), 0, 0, 0, 0, 0)
#define KTR__DTRACE2(type, of, name, a, b)                                                       \
	KTR__DTRACE(type, name, of ":" name " %#llx %#llx", #a "," #b, 2, (KTR__TYPE(a), KTR__TYPE(b)), \
		    KTR__BITS(a), KTR__BITS(b), 0, 0, 0, 0)
#define KTR__DTRACE3(type, of, name, a, b, c)                                                    \
	KTR__DTRACE(type, name, of ":" name " %#llx %#llx %#llx", #a "," #b "," #c, 3,           \
		    (KTR__TYPE(a), KTR__TYPE(b), KTR__TYPE(c)), KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), 0, 0, 0)
#define KTR__DTRACE4(type, of, name, a, b, c, d)                                                 \
	KTR__DTRACE(type, name, of ":" name " %#llx %#llx %#llx %#llx", #a "," #b "," #c "," #d, 4, \
		    (KTR__TYPE(a), KTR__TYPE(b), KTR__TYPE(c), KTR__TYPE(d)), KTR__BITS(a), KTR__BITS(b), \
		    KTR__BITS(c), KTR__BITS(d), 0, 0)
#define KTR__DTRACE5(type, of, name, a, b, c, d, e)                                              \
	KTR__DTRACE(type, name, of ":" name " %#llx %#llx %#llx %#llx %#llx", #a "," #b "," #c "," #d "," #e, 5, \
		    (KTR__TYPE(a), KTR__TYPE(b), KTR__TYPE(c), KTR__TYPE(d), KTR__TYPE(e)), KTR__BITS(a), \
		    KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), 0)
#define KTR__DTRACE6(type, of, name, a, b, c, d, e, f)                                           \
	KTR__DTRACE(type, name, of ":" name " %#llx %#llx %#llx %#llx %#llx %#llx",              \
		    #a "," #b "," #c "," #d "," #e "," #f, 6,                                    \
		    (KTR__TYPE(a), KTR__TYPE(b), KTR__TYPE(c), KTR__TYPE(d), KTR__TYPE(e), KTR__TYPE(f)), \
		    KTR__BITS(a), KTR__BITS(b), KTR__BITS(c), KTR__BITS(d), KTR__BITS(e), KTR__BITS(f))
#else
static inline void ktr__dtrace_none(const char *name, ...)
{
	(void)name;
}
#define KTR__DTRACE0(type, of, ...)                                                              \
	do {                                                                                     \
		if (0)                                                                           \
			ktr__dtrace_none(__VA_ARGS__);                                           \
	} while (0)
#define KTR__DTRACE_FUNCTION KTR__DTRACE0
#define KTR__DTRACE1 KTR__DTRACE0
#define KTR__DTRACE2 KTR__DTRACE0
#define KTR__DTRACE3 KTR__DTRACE0
#define KTR__DTRACE4 KTR__DTRACE0
#define KTR__DTRACE5 KTR__DTRACE0
#define KTR__DTRACE6 KTR__DTRACE0
#endif

/* Of a function, where it was called from is recorded. */
#define DTRACE_FUNCTION_ENTRY(func) KTR__DTRACE_FUNCTION(KTR_PROBE_FUNCTION_ENTRY, "function_entry", func)
#define DTRACE_FUNCTION_EXIT(func) KTR__DTRACE_FUNCTION(KTR_PROBE_FUNCTION_EXIT, "function_exit", func)
#define DTRACE_SYSCALL_ENTRY(call, arg) KTR__DTRACE1(KTR_PROBE_SYSCALL_ENTRY, "syscall_entry", call, arg)
#define DTRACE_SYSCALL_EXIT(call, result) KTR__DTRACE1(KTR_PROBE_SYSCALL_EXIT, "syscall_exit", call, result)
#define DTRACE_IPC_SEND(port, size) KTR__DTRACE2(KTR_PROBE_IPC_SEND, "ipc_send", "ipc_send", port, size)
#define DTRACE_IPC_RECEIVE(port, size) KTR__DTRACE2(KTR_PROBE_IPC_RECEIVE, "ipc_receive", "ipc_receive", port, size)
#define DTRACE_VM_FAULT(address, kind) KTR__DTRACE2(KTR_PROBE_VM_FAULT, "vm_fault", "vm_fault", address, kind)
#define DTRACE_THREAD_SWITCH(from, to)                                                           \
	KTR__DTRACE2(KTR_PROBE_THREAD_SWITCH, "thread_switch", "thread_switch", from, to)
#define DTRACE_TIMER_TICK(tick) KTR__DTRACE1(KTR_PROBE_TIMER_TICK, "timer_tick", "timer_tick", tick)

/* DTRACE_CUSTOM(name), or with one to six arguments. */
#define KTR__DTRACE_PICK(name, a, b, c, d, e, f, macro, ...) macro
#define DTRACE_CUSTOM(...)                                                                       \
	KTR__DTRACE_PICK(__VA_ARGS__, KTR__DTRACE6, KTR__DTRACE5, KTR__DTRACE4, KTR__DTRACE3, KTR__DTRACE2, \
			 KTR__DTRACE1, KTR__DTRACE0, 0)                                          \
	(KTR_PROBE_CUSTOM, "custom", __VA_ARGS__)

#endif
