/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What asks for the kernel's events in a session, and takes that back: its rings and classes are made, its
 * mask and its knob changed as `ktr sysctl` would. The events themselves come from ktr/provider/kernel.
 */
#include "tools/record/record_kernel.h"

#include "ktr/control/kernel_ring.h"
#include "ktr/control/mask.h"
#include "ktr/control/session_join.h"
#include "ktr/session/kernel_event.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"
#include "tools/options.h"

#include <string.h>

int record_kernel_open(struct record_kernel *k, const char *command, const char *path,
		       void (*say)(void *context, const char *line), void *context)
{
	struct ktr_error err = KTR_ERROR_NONE;
	struct ktr__session_rw *session = &k->session;
	uint64_t classes;

	memset(k, 0, sizeof(*k));
	session->fd = -1;
	if (ktr__session_join(path, session, &err) || ktr__kernel_open(session, &err))
		goto failed;
	classes = ktr__session_class(session, KTR_KERNEL_SWITCH_CLASS, KTR_KERNEL_SWITCH_HELP) |
		  ktr__session_class(session, KTR_KERNEL_FAULT_CLASS, KTR_KERNEL_FAULT_HELP);
	k->added = classes & ~__atomic_load_n(&session->control->asked, __ATOMIC_RELAXED);
	if (k->added && ktr__session_mask_change(session, k->added, 0, &err))
		goto failed;
	k->kernel = session->control->kernel;
	__atomic_store_n(&session->control->kernel, KTR_KERNEL_SWITCH | KTR_KERNEL_FAULT, __ATOMIC_RELEASE);
	k->kernel_events = ktr__kernel_events_new(session, true, say, context);
	return 0;
failed:
	ktr__session_detach(session);
	return fail(command, "-k: %s", err.text);
}

void record_kernel_close(struct record_kernel *k)
{
	struct ktr__session_rw *session = &k->session;

	ktr__kernel_events_free(k->kernel_events);
	__atomic_store_n(&session->control->kernel, k->kernel, __ATOMIC_RELEASE);
	if (k->added)
		ktr__session_mask_change(session, 0, k->added, NULL);
	ktr__session_detach(session);
}
