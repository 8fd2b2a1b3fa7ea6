/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the DTrace-like framework of a Mach kernel, for code that was written for it: what it instruments
 * and registers compiles and works, in user space, over ktr/probe.h. Link with libktr-probe, then libktr.
 *
 * A macro is a point of the probe that has its type and name: DTRACE_CUSTOM("depth", n) is fired by
 * dtrace_probe_enable(dtrace_probe_register(DTRACE_PROBE_CUSTOM, "depth", ...)). Disabled, it costs a load, a test
 * and a branch. The framework's limits of 1024 events and 512 probes do not exist here, nor do the probes that the
 * kernel makes at boot for itself (thread_switch, ipc_send, vm_fault): who wants them registers them.
 */
#ifndef KTR_DTRACE_H
#define KTR_DTRACE_H

#include <ktr/probe.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* 0: the macros leave nothing, and do not evaluate their arguments; what is registered by calls is as ever. */
#ifndef MACH_DTRACE
#define MACH_DTRACE 1
#endif

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

/* Numbers are printed by %llu, which is not uint64_t's conversion everywhere. */
typedef struct dtrace_event {
	uint32_t probe_id;
	unsigned long long timestamp; /* [ns] of CLOCK_MONOTONIC */
	uint32_t cpu_id;
	uint32_t thread_id;
	uint32_t task_id;
	unsigned long long args[6];
} dtrace_event_t;

typedef struct dtrace_probe {
	uint32_t id;
	dtrace_probe_type_t type;
	const char *name;
	const char *function;
	boolean_t enabled;
	unsigned long long fire_count;
	unsigned long long total_time; /* [ns] by samples */
	uint32_t arg_count;
	void *handler;
} dtrace_probe_t;

typedef struct dtrace_metrics {
	unsigned long long total_probes_fired;
	unsigned long long total_events_captured;
	unsigned long long buffer_overruns;
	unsigned long long probe_overhead_ns;
	unsigned long long events_filtered;
} dtrace_metrics_t;

typedef void (*dtrace_handler_t)(dtrace_probe_t *probe, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3,
				 uint64_t arg4, uint64_t arg5);

void dtrace_init(void);
void dtrace_enable(void);
void dtrace_disable(void);
boolean_t dtrace_is_enabled(void);

/* The probe's id, or 0 with errno set: EINVAL, EEXIST, ENOMEM. handler may be NULL. */
uint32_t dtrace_probe_register(dtrace_probe_type_t type, const char *name, const char *function,
			       dtrace_handler_t handler);

/* 0 or -errno, as of ktr/probe.h. */
int dtrace_probe_enable(uint32_t probe_id);
int dtrace_probe_disable(uint32_t probe_id);
int dtrace_probe_remove(uint32_t probe_id);

/* What is known of a probe now. 0 or -ENOENT. */
int dtrace_probe_get(uint32_t probe_id, dtrace_probe_t *probe);

/* Takes at most n events out of the rings, the oldest first: how many there were. */
uint32_t dtrace_buffer_read(dtrace_event_t *events, uint32_t n);
void dtrace_get_metrics(dtrace_metrics_t *metrics);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#if MACH_DTRACE
#define DTRACE_FUNCTION_ENTRY(func) KTR_PROBE_POINT0(KTR_PROBE_FUNCTION_ENTRY, func)
#define DTRACE_FUNCTION_EXIT(func) KTR_PROBE_POINT0(KTR_PROBE_FUNCTION_EXIT, func)
#define DTRACE_SYSCALL_ENTRY(call, arg) KTR_PROBE_POINT1(KTR_PROBE_SYSCALL_ENTRY, call, arg)
#define DTRACE_SYSCALL_EXIT(call, result) KTR_PROBE_POINT1(KTR_PROBE_SYSCALL_EXIT, call, result)
#define DTRACE_IPC_SEND(port, size) KTR_PROBE_POINT2(KTR_PROBE_IPC_SEND, "ipc_send", port, size)
#define DTRACE_IPC_RECEIVE(port, size) KTR_PROBE_POINT2(KTR_PROBE_IPC_RECEIVE, "ipc_receive", port, size)
#define DTRACE_VM_FAULT(address, kind) KTR_PROBE_POINT2(KTR_PROBE_VM_FAULT, "vm_fault", address, kind)
#define DTRACE_THREAD_SWITCH(from, to) KTR_PROBE_POINT2(KTR_PROBE_THREAD_SWITCH, "thread_switch", from, to)
#define DTRACE_TIMER_TICK(tick) KTR_PROBE_POINT1(KTR_PROBE_TIMER_TICK, "timer_tick", tick)

/* DTRACE_CUSTOM(name), or with one to six arguments. */
#define KTR__DTRACE_PICK(name, a, b, c, d, e, f, macro, ...) macro
#define DTRACE_CUSTOM(...)                                                                       \
	KTR__DTRACE_PICK(__VA_ARGS__, KTR_PROBE_POINT6, KTR_PROBE_POINT5, KTR_PROBE_POINT4, KTR_PROBE_POINT3, \
			 KTR_PROBE_POINT2, KTR_PROBE_POINT1, KTR_PROBE_POINT0, 0)                \
	(KTR_PROBE_CUSTOM, __VA_ARGS__)
#else
static inline void ktr__dtrace_none(const char *name, ...)
{
	(void)name;
}
#define KTR__DTRACE_NONE(...)                                                                    \
	do {                                                                                     \
		if (0)                                                                           \
			ktr__dtrace_none(__VA_ARGS__);                                           \
	} while (0)
#define DTRACE_FUNCTION_ENTRY(func) KTR__DTRACE_NONE(func)
#define DTRACE_FUNCTION_EXIT(func) KTR__DTRACE_NONE(func)
#define DTRACE_SYSCALL_ENTRY(call, arg) KTR__DTRACE_NONE(call, arg)
#define DTRACE_SYSCALL_EXIT(call, result) KTR__DTRACE_NONE(call, result)
#define DTRACE_IPC_SEND(port, size) KTR__DTRACE_NONE("", port, size)
#define DTRACE_IPC_RECEIVE(port, size) KTR__DTRACE_NONE("", port, size)
#define DTRACE_VM_FAULT(address, kind) KTR__DTRACE_NONE("", address, kind)
#define DTRACE_THREAD_SWITCH(from, to) KTR__DTRACE_NONE("", from, to)
#define DTRACE_TIMER_TICK(tick) KTR__DTRACE_NONE("", tick)
#define DTRACE_CUSTOM(...) KTR__DTRACE_NONE(__VA_ARGS__)
#endif

#endif
