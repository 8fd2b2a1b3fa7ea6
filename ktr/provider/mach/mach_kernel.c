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
#include "ktr/session/mach_own.h"

#include <ktr/ctl.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Atomic, both: the kernel tells since we asked for it; that it does not has been said. */
static bool mach_kernel_fed[KTR__MACH_OWN_END], mach_kernel_said[KTR__MACH_OWN_END];

/* Setting the first makes the class; and once more it has the thread look at once at what is wanted now. */
static int mach_kernel_set(const struct ktr__mach_own *what, char sign, struct ktr_error *why)
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
	uint32_t which = ktr__mach_own_id(probe->type, probe->name);
	const struct ktr__mach_own *what = &ktr__mach_own[which];
	struct ktr_error why = KTR_ERROR_NONE;
	int saved = errno;

	if (!what->bit || !__atomic_load_n(&probe->id, __ATOMIC_ACQUIRE))
		return;
	/* What somebody else has asked for stays when the probe is disabled. */
	if (!own->map || __atomic_load_n(&own->control->kernel, __ATOMIC_ACQUIRE) & what->bit)
		return;
	if (mach_kernel_set(what, '+', &why) == 0)
		__atomic_store_n(&mach_kernel_fed[which], true, __ATOMIC_RELEASE);
	else if (!__atomic_exchange_n(&mach_kernel_said[which], true, __ATOMIC_ACQ_REL) && !own->sealed)
		dprintf(STDERR_FILENO, "ktr: dtrace: %s is not told by the kernel: %s\n", probe->name, why.text);
	errno = saved;
}

void ktr__mach_unfeed(const struct ktr__mach_probe *probe)
{
	uint32_t which = ktr__mach_own_id(probe->type, probe->name);

	if (which && __atomic_exchange_n(&mach_kernel_fed[which], false, __ATOMIC_ACQ_REL))
		mach_kernel_set(&ktr__mach_own[which], '-', NULL);
}
