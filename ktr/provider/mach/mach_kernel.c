/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_switch and vm_fault are fed by debug.ktr.kernel, as sched:kernel::switch and vminfo:kernel::fault are: the
 * process's writer thread, which is started for it, reads what the kernel tells. If it tells nothing, that thread
 * says so; if there can be no such thread, we do. The probes stay as they are for what macros fire.
 *
 * Called by the provider's operations, under the registry's lock, and at the end of dtrace_init().
 */
#include "ktr/provider/mach/mach_kernel.h"

#include "ktr/record/own.h"
#include "ktr/session/kernel_event.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct mach_kernel_default {
	uint32_t type;
	char name[16];
	char told[8]; /* as debug.ktr.kernel calls it; "": the kernel has nothing to tell */
	char class_name[8];
	uint64_t bit;
} mach_kernel_defaults[KTR__MACH_DEFAULTS] = {
	{ KTR_PROBE_THREAD_SWITCH, "thread_switch", "switch", KTR_KERNEL_SWITCH_CLASS, KTR_KERNEL_SWITCH },
	{ KTR_PROBE_IPC_SEND, "ipc_send", "", "", 0 },
	{ KTR_PROBE_VM_FAULT, "vm_fault", "fault", KTR_KERNEL_FAULT_CLASS, KTR_KERNEL_FAULT },
};

/* Atomic, both: the kernel tells since we asked for it; that it does not has been said. */
static bool mach_kernel_fed[KTR__MACH_DEFAULTS], mach_kernel_said[KTR__MACH_DEFAULTS];

uint32_t ktr__mach_default(uint32_t type, const char *name)
{
	for (uint32_t i = 0; i < KTR__MACH_DEFAULTS; i++)
		if (mach_kernel_defaults[i].type == type && strcmp(mach_kernel_defaults[i].name, name) == 0)
			return i + 1;
	return 0;
}

/* Setting the first makes the class; and once more it has the thread look at once at what is wanted now. */
static int mach_kernel_set(const struct mach_kernel_default *what, char sign, struct ktr_error *why)
{
	char told[16], class_name[16];
	int code;

	snprintf(told, sizeof(told), "%c%s", sign, what->told);
	snprintf(class_name, sizeof(class_name), "%c%s", sign, what->class_name);
	code = ktr_set("debug.ktr.kernel", told, why);
	if (!code)
		code = ktr_set("debug.ktr.mask", class_name, why);
	return code ? code : ktr_set("debug.ktr.kernel", told, why);
}

/* Of one that is registered, for points of that name alone are the program's own. */
void ktr__mach_feed(const struct ktr__mach_probe *probe)
{
	const struct ktr__session_rw *own = ktr__own_session();
	uint32_t which = ktr__mach_default(probe->type, probe->name);
	const struct mach_kernel_default *what = which ? &mach_kernel_defaults[which - 1] : NULL;
	struct ktr_error why = KTR_ERROR_NONE;
	int saved = errno;

	if (!what || !what->bit || !__atomic_load_n(&probe->id, __ATOMIC_ACQUIRE))
		return;
	/* What somebody else has asked for stays when the probe is disabled. */
	if (!own->map || __atomic_load_n(&own->control->kernel, __ATOMIC_ACQUIRE) & what->bit)
		return;
	if (mach_kernel_set(what, '+', &why) == 0)
		__atomic_store_n(&mach_kernel_fed[which - 1], true, __ATOMIC_RELEASE);
	else if (!__atomic_exchange_n(&mach_kernel_said[which - 1], true, __ATOMIC_ACQ_REL) && !own->sealed)
		dprintf(STDERR_FILENO, "ktr: dtrace: %s is not told by the kernel: %s\n", probe->name, why.text);
	errno = saved;
}

void ktr__mach_unfeed(const struct ktr__mach_probe *probe)
{
	uint32_t which = ktr__mach_default(probe->type, probe->name);

	if (which && __atomic_exchange_n(&mach_kernel_fed[which - 1], false, __ATOMIC_ACQ_REL))
		mach_kernel_set(&mach_kernel_defaults[which - 1], '-', NULL);
}
