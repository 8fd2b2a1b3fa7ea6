/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of probes (ktr/probe.h), for those who read about them and record nothing. */
#ifndef KTR_PROBE_TYPE_H
#define KTR_PROBE_TYPE_H

/* X(NAME, name): in this order from 1 on. */
#define KTR_PROBE_TYPES(X)                                                                       \
	X(FUNCTION_ENTRY, "function_entry")                                                      \
	X(FUNCTION_EXIT, "function_exit")                                                        \
	X(SYSCALL_ENTRY, "syscall_entry")                                                        \
	X(SYSCALL_EXIT, "syscall_exit")                                                          \
	X(IPC_SEND, "ipc_send")                                                                  \
	X(IPC_RECEIVE, "ipc_receive")                                                            \
	X(VM_FAULT, "vm_fault")                                                                  \
	X(THREAD_SWITCH, "thread_switch")                                                        \
	X(TIMER_TICK, "timer_tick")                                                              \
	X(CUSTOM, "custom")

enum ktr_probe_type {
	KTR_PROBE_NONE,
#define KTR__PROBE_ENUM(NAME, name) KTR_PROBE_##NAME,
	KTR_PROBE_TYPES(KTR__PROBE_ENUM)
#undef KTR__PROBE_ENUM
	KTR_PROBE_TYPES_END
};

#endif
