/* SPDX-License-Identifier: BSD-2-Clause */
/* ktr record -k: feeds what the kernel tells of a session's threads into it, from outside. */
#ifndef TOOLS_RECORD_KERNEL_H
#define TOOLS_RECORD_KERNEL_H

#include "ktr/provider/kernel/kernel_events.h"
#include "ktr/session/session_rw.h"

struct record_kernel {
	struct ktr__session_rw session;
	struct ktr__kernel_events *kernel_events; /* NULL: somebody else feeds it, or it cannot be */
	uint64_t kernel;	/* debug.ktr.kernel as it was */
	uint64_t added;		/* classes that were not recorded before */
};

/* Switches it on. 0, or an exit status after a complaint; record_kernel_close() is due after 0. */
int record_kernel_open(struct record_kernel *k, const char *command, const char *session,
		       void (*say)(void *context, const char *line), void *context);

/* Switches off again what was switched on. */
void record_kernel_close(struct record_kernel *k);

#endif
