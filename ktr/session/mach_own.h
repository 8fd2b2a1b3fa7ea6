/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes that the framework of ktr/dtrace.h has of its own, which dtrace_init() registers: what fires them, and
 * what reads their events.
 */
#ifndef KTR_MACH_OWN_H
#define KTR_MACH_OWN_H

#include "ktr/session/kernel_event.h"

#include <ktr/probe_type.h>
#include <ktr/session.h>

#include <stdint.h>
#include <string.h>

/*
 * X(TYPE, name, function, as debug.ktr.kernel calls what the kernel tells of it, class of that, its bit), in the
 * order of their ids, from 1. "": the kernel has nothing to tell.
 */
#define KTR__MACH_OWN(X)                                                                         \
	X(THREAD_SWITCH, "thread_switch", "thread_invoke", "switch", KTR_KERNEL_SWITCH_CLASS,     \
	  KTR_KERNEL_SWITCH)                                                                      \
	X(IPC_SEND, "ipc_send", "mach_msg_trap", "", "", 0)                                       \
	X(VM_FAULT, "vm_fault", "vm_fault", "fault", KTR_KERNEL_FAULT_CLASS, KTR_KERNEL_FAULT)

enum ktr__mach_own_id {
	KTR__MACH_OWN_NONE,
#define KTR__MACH_OWN_ENUM(TYPE, ...) KTR__MACH_OWN_##TYPE,
	KTR__MACH_OWN(KTR__MACH_OWN_ENUM)
#undef KTR__MACH_OWN_ENUM
	KTR__MACH_OWN_END
};

static const struct ktr__mach_own {
	uint32_t type;
	char name[16], function[16];
	char told[8], class_name[8];
	uint64_t bit;
} ktr__mach_own[KTR__MACH_OWN_END] = {
	{ 0, "", "", "", "", 0 },
#define KTR__MACH_OWN_ROW(TYPE, ...) { KTR_PROBE_##TYPE, __VA_ARGS__ },
	KTR__MACH_OWN(KTR__MACH_OWN_ROW)
#undef KTR__MACH_OWN_ROW
};

/* The id of a type and name; KTR__MACH_OWN_NONE: it is none of them. */
static inline uint32_t ktr__mach_own_id(uint32_t type, const char *name)
{
	uint32_t id = KTR__MACH_OWN_END;

	while (--id && (ktr__mach_own[id].type != type || strcmp(ktr__mach_own[id].name, name) != 0))
		;
	return id;
}

#endif
